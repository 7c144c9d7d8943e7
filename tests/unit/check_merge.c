/* SPDX-License-Identifier: Apache-2.0 */
/* The order of events: within a slot, across handlers, across slots. */
#include "tools/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "unit.h"

static struct maker m;
static struct reader r;
static struct merge merge;
static unsigned expected;

static void
expect(void *who, const struct log_event *events, unsigned n)
{
	ck_assert_ptr_eq(who, &expected);
	ck_assert_ptr_nonnull(events);
	expected += n;
}

static void
open_made(void)
{
	char *path = maker_save(&m);

	ck_assert_pstr_eq(reader_open(&r, path), NULL);
	unlink(path);
	free(path);
	maker_end(&m);
}

/* Addresses of what comes, over 16, in words: "1 2 -1 3", with "-" for a
 * free and "t7" for the introduction of thread 7. */
static const char *
order(const struct stream_place *cuts)
{
	static char said[4096];
	const struct log_event *e;
	size_t n = 0;

	expected = 0;
	said[0] = '\0';
	merge_open(&merge, &r, cuts, expect, &expected);
	while ((e = merge_next(&merge))) {
		if (e->kind == LOG_X_THREAD)
			n += (size_t)snprintf(said + n, sizeof said - n,
			    "t%d ", (int)e->tid);
		else
			n += (size_t)snprintf(said + n, sizeof said - n,
			    "%s%u ", e->call == LOG_CALL_FREE ? "-" : "",
			    (unsigned)(e->address >> 4));
		ck_assert(n < sizeof said);
		merge_taken(&merge, 0, 0);
	}
	merge_close(&merge);
	return said;
}

static void
expect_loss(const char *part)
{
	ck_assert(r.problems.loss);
	for (unsigned i = 0; i < r.problems.kept; i++)
		if (strstr(r.problems.lines[i], part))
			return;
	ck_abort_msg("no problem says \"%s\"", part);
}

START_TEST(a_slot_is_read_chunk_by_chunk)
{
	unsigned slot;

	maker_begin(&m);
	slot = maker_slot(&m, 7, "main", 0);
	maker_malloc(&m, slot, 16, 1, 0);
	maker_next_chunk(&m, slot);
	maker_malloc(&m, slot, 32, 1, 0);
	maker_thread(&m, slot, 8, "other");
	maker_free(&m, slot, 16, 5);
	open_made();
	ck_assert_str_eq(order(NULL), "t7 1 t7 2 t8 -1 ");
	ck_assert_uint_eq(expected, 6);
	ck_assert_uint_eq(r.problems.kept, 0);
	reader_close(&r);
}
END_TEST

START_TEST(slots_are_merged_by_time_and_on_a_tie_one_goes_on)
{
	unsigned a, b;

	maker_begin(&m);
	a = maker_slot(&m, 1, "a", 0);
	b = maker_slot(&m, 2, "b", 0);
	maker_malloc(&m, a, 16 * 1, 1, 10);
	maker_malloc(&m, a, 16 * 2, 1, 10);
	maker_malloc(&m, b, 16 * 3, 1, 5);
	maker_malloc(&m, b, 16 * 4, 1, 10);
	maker_malloc(&m, b, 16 * 5, 1, 5);
	open_made();
	ck_assert_str_eq(order(NULL), "t1 t2 3 1 4 5 2 ");
	reader_close(&r);
}
END_TEST

START_TEST(more_events_than_a_window_holds_come_in_order)
{
	enum { EVENTS = 200000 };
	const struct log_event *e;
	uint64_t n = 0;

	maker_begin(&m);
	for (unsigned i = 0; i < 3; i++)
		maker_slot(&m, (int)i, "t", 0);
	for (uint64_t i = 1; i <= EVENTS; i++)
		maker_malloc(&m, i % 3, i << 4, i % 251, 3);
	open_made();
	merge_open(&merge, &r, NULL, expect, &expected);
	while ((e = merge_next(&merge))) {
		if (e->kind == LOG_MALLOC)
			ck_assert_uint_eq(e->size, (e->address >> 4) % 251);
		n += e->kind == LOG_MALLOC;
		merge_taken(&merge, 0, 0);
	}
	merge_close(&merge);
	ck_assert_uint_eq(n, EVENTS);
	ck_assert_uint_eq(r.problems.kept, 0);
	reader_close(&r);
}
END_TEST

/* Thread 1 makes 1 and 2; between them, while 2 is being stored, a handler
 * makes 11 and 12; in the middle of 12 another makes 21. */
static struct stream_place after_1, after_11;

static void
make_nested(void)
{
	unsigned host, one, two;

	maker_begin(&m);
	host = maker_slot(&m, 1, "main", 0);
	one = maker_slot(&m, 99, "?", LOG_CHUNK_NESTED);
	two = maker_slot(&m, 98, "?", LOG_CHUNK_NESTED);
	maker_malloc(&m, host, 16 * 1, 1, 1);
	after_1 = (struct stream_place){ 1, maker_offset(&m, host) };
	maker_place(&m, one, LOG_X_NESTED, host, 1, after_1.offset);
	maker_malloc(&m, one, 16 * 11, 1, 2);
	after_11 = (struct stream_place){ 1, maker_offset(&m, one) };
	maker_place(&m, two, LOG_X_NESTED, one, 1, after_11.offset);
	maker_malloc(&m, two, 16 * 21, 1, 1);
	maker_malloc(&m, one, 16 * 12, 1, 2);
	maker_malloc(&m, host, 16 * 2, 1, 1);
}

START_TEST(handlers_come_before_what_they_interrupt)
{
	make_nested();
	open_made();
	ck_assert_str_eq(order(NULL), "t1 1 t1 11 t1 21 12 2 ");
	reader_close(&r);
}
END_TEST

START_TEST(handlers_of_one_slot_go_to_where_each_belongs)
{
	unsigned a, b, nested;
	uint32_t offset;

	maker_begin(&m);
	a = maker_slot(&m, 1, "a", 0);
	b = maker_slot(&m, 2, "b", 0);
	nested = maker_slot(&m, 9, "?", LOG_CHUNK_NESTED);
	/* First in the slot, but the later one in time. */
	maker_malloc(&m, b, 16 * 3, 1, 50);
	maker_place(&m, nested, LOG_X_NESTED, b, 1, maker_offset(&m, b));
	maker_malloc(&m, nested, 16 * 11, 1, 0);
	maker_malloc(&m, b, 16 * 4, 1, 50);
	maker_malloc(&m, a, 16 * 1, 1, 10);
	offset = maker_offset(&m, a);
	maker_next_chunk(&m, a);
	/* The event found no room: it went to the next chunk. */
	maker_place(&m, nested, LOG_X_NESTED, a, 1, offset);
	maker_malloc(&m, nested, 16 * 12, 1, 0);
	maker_malloc(&m, a, 16 * 2, 1, 10);
	open_made();
	ck_assert_str_eq(order(NULL), "t1 t2 1 t1 12 t1 2 3 t2 11 4 ");
	reader_close(&r);
}
END_TEST

START_TEST(a_handler_at_the_end_and_over_two_chunks_is_not_lost)
{
	unsigned host, nested;

	maker_begin(&m);
	host = maker_slot(&m, 1, "main", 0);
	nested = maker_slot(&m, 9, "?", LOG_CHUNK_NESTED);
	maker_malloc(&m, host, 16 * 1, 1, 1);
	maker_place(&m, nested, LOG_X_NESTED, host, 1, maker_offset(&m, host));
	maker_malloc(&m, nested, 16 * 11, 1, 1);
	maker_next_chunk(&m, nested);
	maker_malloc(&m, nested, 16 * 12, 1, 1);
	open_made();
	ck_assert_str_eq(order(NULL), "t1 1 t1 11 12 ");
	reader_close(&r);
}
END_TEST

START_TEST(handlers_that_interrupt_themselves_end)
{
	unsigned host, nested;

	maker_begin(&m);
	host = maker_slot(&m, 1, "main", 0);
	nested = maker_slot(&m, 9, "?", LOG_CHUNK_NESTED);
	maker_place(&m, nested, LOG_X_NESTED, nested, 1, 300);
	for (unsigned i = 0; i < 50; i++)
		maker_malloc(&m, nested, 16 * 11, 1, 1);
	maker_place(&m, nested, LOG_X_NESTED, host, 1, 0);
	maker_malloc(&m, nested, 16 * 12, 1, 1);
	maker_place(&m, nested, LOG_X_NESTED, 77, 1, 0);
	maker_malloc(&m, nested, 16 * 13, 1, 1);
	maker_malloc(&m, host, 16 * 1, 1, 1);
	open_made();
	ck_assert_str_eq(order(NULL), "t1 t1 12 1 ");
	expect_loss("slot 77, which signal handlers interrupted, is missing");
	reader_close(&r);
}
END_TEST

START_TEST(a_cut_ends_each_slot_where_it_says)
{
	struct stream_place cuts[3] = { { 0 }, { 1, UINT32_MAX }, { 0 } };

	make_nested();
	open_made();
	cuts[0] = after_1;
	ck_assert_str_eq(order(cuts), "t1 1 t1 11 12 ");
	/* The child was forked by the handler, before it made 12. */
	cuts[1] = after_11;
	ck_assert_str_eq(order(cuts), "t1 1 t1 11 ");
	cuts[0].offset = 0;
	ck_assert_str_eq(order(cuts), "t1 ");
	reader_close(&r);
}
END_TEST

START_TEST(gaps_and_bad_chunks_are_left_out_and_named)
{
	unsigned slot;

	maker_begin(&m);
	slot = maker_slot(&m, 1, "main", 0);
	for (uint64_t i = 1; i <= 6; i++) {
		maker_malloc(&m, slot, i << 4, 1, 0);
		if (i < 6)
			maker_next_chunk(&m, slot);
	}
	m.full[0]->events[40] = 1;		/* chunk 1: its sum is wrong */
	m.full[2]->magic = 0;			/* chunks 3 and 4: gone */
	m.full[3]->magic = 0;
	*m.slots[slot].w.at = LOG_X_TIME;	/* chunk 6: an empty body */
	open_made();
	ck_assert_str_eq(order(NULL), "t1 2 t1 5 t1 6 ");
	expect_loss("chunk 1 of slot 0 is damaged");
	expect_loss("chunks 3 to 4 of slot 0 are missing");
	expect_loss("chunk 6 of slot 0 cannot be understood to its end");
	reader_close(&r);
}
END_TEST

START_TEST(time_never_goes_back_within_a_slot)
{
	const struct log_event *e;
	uint64_t last = 0;
	unsigned slot;

	maker_begin(&m);
	slot = maker_slot(&m, 1, "main", 0);
	maker_malloc(&m, slot, 16, 1, 1000);
	m.slots[slot].w.ticks = 5;
	maker_next_chunk(&m, slot);
	maker_malloc(&m, slot, 32, 1, 1);
	open_made();
	merge_open(&merge, &r, NULL, expect, &expected);
	while ((e = merge_next(&merge))) {
		ck_assert_uint_ge(e->ticks, last);
		last = e->ticks;
		merge_taken(&merge, 0, 0);
	}
	ck_assert_uint_eq(last, MAKER_START + 1000);
	merge_close(&merge);
	reader_close(&r);
}
END_TEST

/* Two slots: A wants 1, then 2; B makes 3 and 4 STEP ticks later. */
static void
make_two(uint64_t step)
{
	unsigned a, b;

	maker_begin(&m);
	a = maker_slot(&m, 1, "a", 0);
	b = maker_slot(&m, 2, "b", 0);
	maker_malloc(&m, a, 16 * 1, 1, 10);
	maker_malloc(&m, a, 16 * 2, 1, 10);
	maker_malloc(&m, b, 16 * 3, 1, 15);
	maker_malloc(&m, b, 16 * 4, 1, step);
	open_made();
	merge_open(&merge, &r, NULL, expect, &expected);
}

static unsigned
next_address(void)
{
	const struct log_event *e;

	while ((e = merge_next(&merge)) && e->kind == LOG_X_THREAD)
		merge_taken(&merge, 0, 0);
	return e ? (unsigned)(e->address >> 4) : 0;
}

START_TEST(a_parked_stream_waits_for_its_address)
{
	make_two(10);
	ck_assert_uint_eq(next_address(), 1);
	ck_assert(merge_park(&merge, 0x777, 1000));
	ck_assert_uint_eq(next_address(), 3);
	merge_taken(&merge, 0x778, 0);
	ck_assert_uint_eq(next_address(), 4);
	merge_taken(&merge, 0x777, 0);
	ck_assert_uint_eq(next_address(), 1);
	ck_assert(!merge.forced);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 2);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 0);
	merge_close(&merge);
	reader_close(&r);
}
END_TEST

START_TEST(it_waits_for_as_long_as_it_is_told)
{
	make_two(20000);
	merge.patience = 0;
	for (unsigned i = 0; i < 100; i++)
		ck_assert_uint_eq(next_address(), 1);
	ck_assert(merge_park(&merge, 0x777, 1000));
	merge.ticks_per_us = 1;
	ck_assert_uint_eq(next_address(), 3);
	ck_assert(merge_park(&merge, 0x778, 1000));
	/* Both wait: the older is tried first, and must go. */
	ck_assert_uint_eq(next_address(), 3);
	ck_assert(merge.forced);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 4);
	ck_assert(!merge.forced);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 1);
	ck_assert(merge.forced);
	merge_taken(&merge, 0, 0);
	/* Nobody else is left: no use to wait. */
	ck_assert_uint_eq(next_address(), 2);
	ck_assert(!merge_park(&merge, 0x777, 1000));
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 0);
	merge_close(&merge);
	reader_close(&r);
}
END_TEST

START_TEST(who_waited_is_later_from_then_on)
{
	make_two(100000);
	ck_assert_uint_eq(next_address(), 1);
	ck_assert(merge_park(&merge, 0x777, 1000));
	ck_assert_uint_eq(next_address(), 3);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 4);
	merge_taken(&merge, 0x777, 0);
	ck_assert_uint_eq(next_address(), 1);
	ck_assert_uint_eq(merge_time(&merge), MAKER_START + 100015);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 2);
	ck_assert_uint_eq(merge_time(&merge), MAKER_START + 100025);
	ck_assert_uint_eq(merge.slip, 100005);
	merge_close(&merge);
	reader_close(&r);
}
END_TEST

START_TEST(waiting_in_vain_costs_patience)
{
	uint64_t patience;

	make_two(500000000);
	ck_assert_uint_eq(next_address(), 1);
	patience = merge.patience;
	ck_assert(merge_park(&merge, 0x777, 1));
	ck_assert_uint_eq(next_address(), 3);
	merge_taken(&merge, 0, 0);
	ck_assert_uint_eq(next_address(), 1);
	ck_assert(merge.forced);
	ck_assert_uint_eq(merge.patience, patience / 2);
	merge_close(&merge);
	reader_close(&r);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, a_slot_is_read_chunk_by_chunk);
	tcase_add_test(t, slots_are_merged_by_time_and_on_a_tie_one_goes_on);
	tcase_add_test(t, more_events_than_a_window_holds_come_in_order);
	tcase_add_test(t, handlers_come_before_what_they_interrupt);
	tcase_add_test(t, handlers_of_one_slot_go_to_where_each_belongs);
	tcase_add_test(t,
	    a_handler_at_the_end_and_over_two_chunks_is_not_lost);
	tcase_add_test(t, handlers_that_interrupt_themselves_end);
	tcase_add_test(t, a_cut_ends_each_slot_where_it_says);
	tcase_add_test(t, gaps_and_bad_chunks_are_left_out_and_named);
	tcase_add_test(t, time_never_goes_back_within_a_slot);
	tcase_add_test(t, a_parked_stream_waits_for_its_address);
	tcase_add_test(t, it_waits_for_as_long_as_it_is_told);
	tcase_add_test(t, who_waited_is_later_from_then_on);
	tcase_add_test(t, waiting_in_vain_costs_patience);
}

int
main(void)
{
	return unit_run("merge", add);
}
