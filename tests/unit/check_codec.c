/* SPDX-License-Identifier: Apache-2.0 */
/* What is written is read; what is cut or mad is refused. */
#include <stdlib.h>

#include "log/decode.h"
#include "unit.h"

enum { ROOM = 4096 };

/* A block of exactly BYTES, so that a sanitizer sees a read beyond it. */
static unsigned char *
exact_copy(const unsigned char *bytes, size_t n)
{
	unsigned char *copy = malloc(n ? n : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, n);
	return copy;
}

static struct log_reader
reader_of(const unsigned char *bytes, size_t n)
{
	return (struct log_reader){
		.at = bytes, .end = bytes + n, .usable_rule = LOG_USABLE_GLIBC,
		.sizes = log_size_bits(LOG_VERSION),
	};
}

/* The event alone is read whole; each part of it is none. */
static void
try_all_cuts(const unsigned char *bytes, size_t n, struct log_event *e)
{
	for (size_t cut = 0; cut <= n; cut++) {
		unsigned char *part = exact_copy(bytes, cut);
		struct log_reader r = reader_of(part, cut);
		int got = log_get(&r, e);

		ck_assert_int_eq(got, cut == n ? 1 : cut ? -1 : 0);
		ck_assert_ptr_eq(r.at, got > 0 ? r.end : part);
		free(part);
	}
}

START_TEST(short_forms_are_read_as_written)
{
	static const uint64_t sizes[] = { 0, 1, 255, 256, 32767, 32768, 65535,
	    0x1000000, UINT32_MAX };
	static const uint64_t addresses[] = { 16, 0x1000, 0x7fffffffe000,
	    0x5555555592a0, UINT64_C(0x7fffffffffff0), 0x12340 };
	static const uint64_t steps[] = { 0, 1, 127, 128, 0x7fff };
	static const enum log_kind kinds[] = { LOG_MALLOC, LOG_FREE,
	    LOG_CALLOC };
	unsigned shorts = 0;

	for (unsigned i = 0; i < 9 * 6 * 5 * 3; i++) {
		unsigned char bytes[ROOM];
		struct log_writer w = { .at = bytes, .last = 0x1234 };
		enum log_kind kind = kinds[i % 3];
		uint64_t size = kind == LOG_FREE ? 0 : sizes[i / 3 % 9];
		uint64_t address = addresses[i / 27 % 6];
		uint64_t dt = steps[i / 162];
		struct log_event e;
		struct log_reader r;

		if (!log_is_short(&w, address, size, dt))
			continue;
		shorts++;
		memset(bytes, 0xff, sizeof bytes);	/* of an older chunk */
		log_put_short(&w, kind, address, size, dt != 0, dt);
		ck_assert_int_le(w.at - bytes, LOG_EVENT_ROOM);
		r = reader_of(bytes, ROOM);
		r.last = 0x1234;
		ck_assert_int_eq(log_get(&r, &e), 1);
		ck_assert_int_eq(e.kind, kind);
		ck_assert_uint_eq(e.address, address);
		ck_assert_uint_eq(e.size, size);
		ck_assert_uint_eq(e.ticks, dt);
		ck_assert_ptr_eq(r.at, w.at);
		ck_assert_int_eq(log_get(&r, &e), 0);
		try_all_cuts(bytes, (size_t)(w.at - bytes), &e);
	}
	ck_assert_uint_gt(shorts, 100);
}
END_TEST

START_TEST(what_is_spare_goes_with_the_size)
{
	static const uint64_t sizes[] = { 0, 1, 1000, 1000, 1000, 32767 };
	static const uint64_t spares[] = { 0, 16, 16, 16, 0, 16 };
	unsigned char bytes[ROOM] = { 0 };
	struct log_writer w = { .at = bytes };
	struct log_reader r = reader_of(bytes, ROOM);
	struct log_event e;

	for (unsigned i = 0; i < 6; i++) {
		ck_assert(log_is_spare(spares[i]));
		log_put_short(&w, LOG_MALLOC, 0x5000,
		    log_short_size(sizes[i], spares[i]), false, 0);
		ck_assert_int_eq(log_get(&r, &e), 1);
		ck_assert_uint_eq(e.size, sizes[i]);
		ck_assert_uint_eq(e.usable, spares[i]
		    + log_usable_expected(LOG_USABLE_GLIBC, sizes[i]));
		log_put_short(&w, LOG_FREE, 0x5000, 0, false, 0);
		ck_assert_int_eq(log_get(&r, &e), 1);
	}
	/* As 40,000, which has the same bits, in a log of version 1. */
	log_put_short(&w, LOG_MALLOC, 0x6000, log_short_size(40000 - 32768,
	    16), false, 0);
	r.sizes = log_size_bits(LOG_VERSION_UNSPARED);
	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_uint_eq(e.size, 40000);
	ck_assert_uint_eq(e.usable,
	    log_usable_expected(LOG_USABLE_GLIBC, 40000));
	ck_assert(!log_is_spare(8));
	ck_assert(!log_is_spare(32));
	ck_assert(!log_is_spare((uint64_t)-16));
}
END_TEST

START_TEST(what_comes_again_at_once_is_one_byte)
{
	static const uint64_t sizes[] = { 64, 64, 64, 65, 64, 64 };
	static const size_t bytes_of[] = { 5, 3, 1, 3, 3, 1 };
	unsigned char bytes[ROOM] = { 0 };
	struct log_writer w = { .at = bytes };
	struct log_reader r = reader_of(bytes, ROOM);
	struct log_event e;

	for (unsigned i = 0; i < 6; i++) {
		unsigned char *before = w.at;

		log_put_short(&w, LOG_MALLOC, 0x5000, sizes[i], false, 0);
		ck_assert_uint_eq((size_t)(w.at - before), bytes_of[i]);
		log_put_short(&w, LOG_FREE, 0x5000, 0, false, 0);
		ck_assert_uint_eq((size_t)(w.at - before), bytes_of[i] + 1);
		ck_assert_int_eq(log_get(&r, &e), 1);
		ck_assert_int_eq(e.kind, LOG_MALLOC);
		ck_assert_uint_eq(e.size, sizes[i]);
		ck_assert_uint_eq(e.address, 0x5000);
		ck_assert_int_eq(log_get(&r, &e), 1);
		ck_assert_int_eq(e.kind, LOG_FREE);
		ck_assert_uint_eq(e.address, 0x5000);
	}
}
END_TEST

START_TEST(no_free_has_a_size_that_it_could_have_again)
{
	const unsigned char bytes[ROOM] = { LOG_FREE | LOG_AGAIN << 2 };
	struct log_reader r = reader_of(bytes, ROOM);
	struct log_event e;

	ck_assert_int_eq(log_get(&r, &e), -1);
	ck_assert_ptr_eq(r.at, bytes);
}
END_TEST

START_TEST(a_stack_takes_up_to_three_bytes)
{
	static const uint32_t stacks[] = { 0, 1, 255, 256, 65535, 65536,
	    LOG_FRAMES_MOST };
	static const uint64_t addresses[] = { 0x12340, 0x12350,
	    UINT64_C(0x7fffffffffff0) };

	for (unsigned i = 0; i < 7 * 3; i++) {
		unsigned char bytes[ROOM];
		struct log_writer w = { .at = bytes, .last = 0x1234 };
		uint64_t address = addresses[i / 7];
		struct log_event e;
		struct log_reader r;

		memset(bytes, 0xff, sizeof bytes);
		log_put_stacked(&w, LOG_CALLOC, address, 0x2bcd, 0x1234,
		    stacks[i % 7]);
		ck_assert_int_le(w.at - bytes, LOG_EVENT_ROOM - 1);
		try_all_cuts(bytes, (size_t)(w.at - bytes), &e);
		r = reader_of(bytes, ROOM);
		r.last = 0x1234;
		ck_assert_int_eq(log_get(&r, &e), 1);
		ck_assert_int_eq(e.kind, LOG_CALLOC);
		ck_assert_uint_eq(e.address, address);
		ck_assert_uint_eq(e.size, 0x2bcd);
		ck_assert_uint_eq(e.ticks, 0x1234);
		ck_assert_uint_eq(e.stack, stacks[i % 7]);
		ck_assert_int_eq(log_get(&r, &e), 0);
	}
}
END_TEST

START_TEST(an_object_has_a_build_id_and_a_path_of_any_length)
{
	static const unsigned char id[20] = "0123456789abcdefghi";
	const struct log_object o = { 0x7f0000000000, 0x7f0000001000, 0x2000,
	    id, sizeof id };
	unsigned char bytes[ROOM] = { 0 };
	struct log_writer w = { .at = bytes };
	struct log_reader r;
	struct log_event e;
	struct log_long l;
	char path[300];
	size_t first, rest;

	memset(path, 'p', sizeof path);
	first = log_long_object(&l, &o, path, sizeof path, 5);
	log_put_long(&w, &l, 5);
	rest = log_long_path(&l, path + first, sizeof path - first);
	ck_assert_uint_eq(first + rest, sizeof path);
	log_put_long(&w, &l, 0);
	r = reader_of(bytes, ROOM);
	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_int_eq(e.kind, LOG_X_OBJECT);
	ck_assert_uint_eq(e.old, o.bias);
	ck_assert_uint_eq(e.address, o.address);
	ck_assert_uint_eq(e.size, o.bytes);
	ck_assert_uint_eq(e.build_id_bytes, sizeof id);
	ck_assert_mem_eq(e.build_id, id, sizeof id);
	ck_assert_uint_eq(e.text_bytes, first);
	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_int_eq(e.kind, LOG_X_PATH);
	ck_assert_uint_eq(e.text_bytes, rest);
}
END_TEST

START_TEST(what_has_no_short_form_says_so)
{
	const struct log_writer w = { .last = 0 };

	ck_assert(log_is_short(&w, 0x1000, 1, 1));
	ck_assert(!log_is_short(&w, 0x1008, 1, 1));
	ck_assert(!log_is_short(&w, 0x1000, 1 << 15, 1));
	ck_assert(!log_is_short(&w, 0x1000, UINT64_C(1) << 32, 1));
	ck_assert(!log_is_short(&w, 0x1000, 1, 1 << 20));
	ck_assert(!log_is_short(&w, UINT64_C(1) << 59, 1, 1));
}
END_TEST

START_TEST(long_forms_are_read_as_written)
{
	unsigned char bytes[ROOM] = { 0 };
	struct log_writer w = { .at = bytes };
	struct log_long l;
	struct log_event e;

	log_long_begin(&l, LOG_X_ALLOC, 300);
	log_long_uint(&l, LOG_CALL_POSIX_MEMALIGN);
	log_long_uint(&l, UINT64_C(5) << 32);
	log_long_uint(&l, 12);
	log_long_address(&l, &w, 0x7008);
	log_long_uint(&l, 40);
	log_put_long(&w, &l, 300);
	try_all_cuts(bytes, (size_t)(w.at - bytes), &e);
	ck_assert_int_eq(e.kind, LOG_X_ALLOC);
	ck_assert_int_eq(e.call, LOG_CALL_POSIX_MEMALIGN);
	ck_assert_uint_eq(e.size, UINT64_C(5) << 32);
	ck_assert_uint_eq(e.usable, (UINT64_C(5) << 32) + 40);
	ck_assert_uint_eq(e.align, 4096);
	ck_assert_uint_eq(e.address, 0x7008);
	ck_assert_uint_eq(e.ticks, 300);
	ck_assert_uint_eq(w.ticks, 300);
}
END_TEST

START_TEST(a_realloc_has_two_addresses)
{
	unsigned char bytes[ROOM] = { 0 };
	struct log_writer w = { .at = bytes, .last = 0x500 };
	struct log_long l;
	struct log_reader r;
	struct log_event e;

	log_long_begin(&l, LOG_X_REALLOC, 0);
	log_long_address(&l, &w, 0x123456789abcd8);
	log_long_address(&l, &w, 0x30);
	log_long_uint(&l, 7);
	log_long_uint(&l, 17);
	log_put_long(&w, &l, 0);
	r = reader_of(bytes, ROOM);
	r.last = 0x500;
	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_uint_eq(e.old, 0x123456789abcd8);
	ck_assert_uint_eq(e.address, 0x30);
	ck_assert_uint_eq(e.usable, 24);
	ck_assert_uint_eq(r.last, w.last);
}
END_TEST

START_TEST(a_text_is_cut_to_what_fits)
{
	unsigned char bytes[ROOM] = { 0 };
	struct log_writer w = { .at = bytes };
	struct log_long l;
	struct log_reader r;
	struct log_event e;
	char label[1000];

	memset(label, 'x', sizeof label);
	log_long_begin(&l, LOG_X_MARK, 1);
	log_long_text(&l, label, sizeof label);
	ck_assert_uint_eq(log_long_bytes(&l), LOG_LONG_MAX + 1);
	log_put_long(&w, &l, 1);
	r = reader_of(bytes, ROOM);
	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_int_eq(e.kind, LOG_X_MARK);
	ck_assert_uint_eq(e.text_bytes, 254);
	ck_assert_ptr_eq(r.at, w.at);
}
END_TEST

START_TEST(unknown_kinds_are_stepped_over_with_their_time)
{
	static const unsigned char bytes[] = { 63 << 2, 3, 9, 1, 2,
	    LOG_FREE | 1 << 2, 2 };
	unsigned char *copy = exact_copy(bytes, sizeof bytes);
	struct log_reader r = reader_of(copy, sizeof bytes);
	struct log_event e;

	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_int_eq(log_get(&r, &e), 1);
	ck_assert_int_eq(e.kind, LOG_FREE);
	ck_assert_uint_eq(e.ticks, 9);
	ck_assert_uint_eq(e.address, 16);
	ck_assert_int_eq(log_get(&r, &e), 0);
	free(copy);
}
END_TEST

START_TEST(mad_bodies_are_refused)
{
	static const struct {
		unsigned char bytes[16];
		size_t n;
	} mad[] = {
		{ { LOG_X_TIME, 0 }, 2 },
		{ { LOG_X_FREE, 1, 0 }, 3 },
		{ { LOG_X_FAILED, 3, 0, LOG_CALLS, 1 }, 5 },
		{ { LOG_X_ALLOC, 6, 0, 0, 1, 64, 2, 0 }, 8 },
		{ { LOG_X_FRAME, 4, 0, 1, 0, 255 }, 6 },
		{ { LOG_X_OBJECT, 6, 0, 1, 2, 3, 2, 9 }, 8 },
		{ { LOG_X_TIME, 11, 255, 255, 255, 255, 255, 255, 255, 255,
		    255, 255, 1 }, 13 },
		{ { LOG_X_TIME, 10, 255, 255, 255, 255, 255, 255, 255, 255,
		    255, 2 }, 12 },
		{ { LOG_X_RESIZED, 13, 0, 2, 1, 255, 255, 255, 255, 255, 255,
		    255, 255, 255, 1 }, 15 },
	};

	for (size_t i = 0; i < sizeof mad / sizeof mad[0]; i++) {
		unsigned char *copy = exact_copy(mad[i].bytes, mad[i].n);
		struct log_reader r = reader_of(copy, mad[i].n);
		struct log_event e;

		ck_assert_int_eq(log_get(&r, &e), -1);
		ck_assert_ptr_eq(r.at, copy);
		free(copy);
	}
}
END_TEST

START_TEST(random_bytes_are_read_within_their_bounds)
{
	for (unsigned seed = 1; seed < 3000; seed++) {
		unsigned char bytes[64], *copy;
		size_t n = seed % sizeof bytes;
		uint32_t x = seed * 2654435761u;
		struct log_reader r;
		struct log_event e;

		for (size_t i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			bytes[i] = (unsigned char)(x >> 24);
		}
		copy = exact_copy(bytes, n);
		r = reader_of(copy, n);
		while (log_get(&r, &e) > 0)
			ck_assert(r.at <= r.end);
		free(copy);
	}
}
END_TEST

START_TEST(the_sum_sees_a_changed_and_a_swapped_word)
{
	static uint64_t chunk[512];
	uint64_t sum;

	for (int i = 0; i < 512; i++)
		chunk[i] = (uint64_t)i * 0x9e3779b97f4a7c15;
	sum = log_sum(chunk, sizeof chunk);
	chunk[100] ^= 1;
	ck_assert_uint_ne(log_sum(chunk, sizeof chunk), sum);
	chunk[100] ^= 1;
	ck_assert_uint_eq(log_sum(chunk, sizeof chunk), sum);
	chunk[7] = 8 * UINT64_C(0x9e3779b97f4a7c15);
	chunk[8] = 7 * UINT64_C(0x9e3779b97f4a7c15);
	ck_assert_uint_ne(log_sum(chunk, sizeof chunk), sum);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, short_forms_are_read_as_written);
	tcase_add_test(t, what_is_spare_goes_with_the_size);
	tcase_add_test(t, what_comes_again_at_once_is_one_byte);
	tcase_add_test(t, no_free_has_a_size_that_it_could_have_again);
	tcase_add_test(t, a_stack_takes_up_to_three_bytes);
	tcase_add_test(t, an_object_has_a_build_id_and_a_path_of_any_length);
	tcase_add_test(t, what_has_no_short_form_says_so);
	tcase_add_test(t, long_forms_are_read_as_written);
	tcase_add_test(t, a_realloc_has_two_addresses);
	tcase_add_test(t, a_text_is_cut_to_what_fits);
	tcase_add_test(t, unknown_kinds_are_stepped_over_with_their_time);
	tcase_add_test(t, mad_bodies_are_refused);
	tcase_add_test(t, random_bytes_are_read_within_their_bounds);
	tcase_add_test(t, the_sum_sees_a_changed_and_a_swapped_word);
}

int
main(void)
{
	return unit_run("codec", add);
}
