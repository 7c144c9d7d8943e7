/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are logs, which chunks they hold, and what is said about the
 * rest. */
#include "tools/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "unit.h"

static struct maker m;
static struct reader r;

/* One thread, three chunks in its slot. */
static void
make_log(void)
{
	unsigned slot;

	maker_begin(&m);
	slot = maker_slot(&m, 1, "main", 0);
	maker_malloc(&m, slot, 0x1000, 100, 0);
	maker_next_chunk(&m, slot);
	maker_malloc(&m, slot, 0x2000, 100, 0);
	maker_next_chunk(&m, slot);
	maker_free(&m, slot, 0x1000, 0);
}

static const char *
open_bytes(const void *bytes, size_t n)
{
	char *path = maker_store(bytes, n);
	const char *why = reader_open(&r, path);

	unlink(path);
	free(path);
	return why;
}

static const char *
open_made(void)
{
	char *path = maker_save(&m);
	const char *why = reader_open(&r, path);

	unlink(path);
	free(path);
	maker_end(&m);
	return why;
}

static void
expect_problem(const char *part)
{
	for (unsigned i = 0; i < r.problems.kept; i++)
		if (strstr(r.problems.lines[i], part))
			return;
	ck_abort_msg("no problem says \"%s\"", part);
}

START_TEST(a_good_log_has_no_problems)
{
	make_log();
	ck_assert_pstr_eq(open_made(), NULL);
	ck_assert_int_eq(r.state, READER_EXITED);
	ck_assert_uint_eq(r.problems.kept, 0);
	ck_assert_uint_eq(r.slot_count, 1);
	ck_assert_uint_eq(r.chunk_count, 3);
	for (size_t i = 0; i < 3; i++) {
		struct log_chunk head;

		ck_assert_uint_eq(r.chunks[i].seq, i + 1);
		ck_assert_int_eq(r.chunks[i].whole, i < 2);
		ck_assert(reader_check(&r, r.chunks + i, &head));
		ck_assert_int_eq(head.tid, 1);
	}
	reader_close(&r);
}
END_TEST

START_TEST(what_is_no_log_is_refused_with_a_reason)
{
	static const char text[] = "malloc 100\nfree 3\n";
	struct log_head head;

	ck_assert_str_eq(reader_open(&r, "/does/not/exist"),
	    "No such file or directory");
	ck_assert(strstr(reader_open(&r, "/"), "directory"));
	ck_assert(strstr(reader_open(&r, "/dev/null"), "not a regular file"));
	ck_assert(strstr(open_bytes("", 0), "empty"));
	ck_assert(strstr(open_bytes(text, sizeof text), "not a heaphook log"));
	ck_assert(strstr(open_bytes("h", 1), "cut within its header"));
	ck_assert(strstr(open_bytes("heaphook", 8), "cut within its header"));

	make_log();
	head = m.head;
	maker_end(&m);
	head.h.version = LOG_VERSION + 1;
	ck_assert(strstr(open_bytes(&head, sizeof head), "another version"));
	head.h.version = 0;
	ck_assert(strstr(open_bytes(&head, sizeof head), "another version"));
	head.h.version = LOG_VERSION;
	head.h.magic = LOG_MAGIC_SWAPPED;
	ck_assert(strstr(open_bytes(&head, sizeof head), "byte order"));
	head.h.magic = LOG_MAGIC;
	head.h.mode = 3;
	ck_assert(strstr(open_bytes(&head, sizeof head), "mode"));
}
END_TEST

START_TEST(a_log_cut_anywhere_is_used_or_refused)
{
	size_t n;
	unsigned char *all;

	make_log();
	all = maker_bytes(&m, &n);
	maker_end(&m);
	for (size_t cut = 0; cut < n; cut += cut < 1200 ? 1 : 3001) {
		const char *why = open_bytes(all, cut);

		ck_assert_int_eq(!why, cut >= sizeof(struct log_header));
		if (why)
			continue;
		ck_assert(r.problems.loss || cut > LOG_HEADER_BYTES);
		reader_close(&r);
	}
	free(all);
}
END_TEST

START_TEST(a_missing_slot_is_noticed)
{
	make_log();
	m.head.h.slots++;
	ck_assert_pstr_eq(open_made(), NULL);
	ck_assert(r.problems.loss);
	expect_problem("1 of its 2 slots are missing");
	reader_close(&r);
}
END_TEST

START_TEST(a_wrong_sum_is_noticed)
{
	struct log_chunk head;

	make_log();
	m.full[1]->events[3] ^= 4;
	ck_assert_pstr_eq(open_made(), NULL);
	ck_assert(reader_check(&r, r.chunks, &head));
	ck_assert(!reader_check(&r, r.chunks + 1, &head));
	reader_close(&r);
}
END_TEST

START_TEST(of_equal_chunks_the_whole_comes_first)
{
	size_t n;
	unsigned char *all, *copy;

	make_log();
	all = maker_bytes(&m, &n);
	maker_end(&m);
	/* The slot, made like the last full chunk but without a trailer. */
	copy = all + n - LOG_FIRST_SLOT_BYTES;
	memcpy(all + LOG_HEADER_BYTES, copy, LOG_FIRST_SLOT_BYTES - 8);
	ck_assert_pstr_eq(open_bytes(all, n), NULL);
	ck_assert_uint_eq(r.chunk_count, 3);
	ck_assert_uint_eq(r.chunks[1].seq, 2);
	ck_assert_uint_eq(r.chunks[2].seq, 2);
	ck_assert(r.chunks[1].whole);
	ck_assert(!r.chunks[2].whole);
	ck_assert_uint_eq(r.chunks[2].at, LOG_HEADER_BYTES);
	reader_close(&r);
	free(all);
}
END_TEST

START_TEST(chunks_behind_a_hole_and_in_a_torn_copy_are_found)
{
	size_t n, gap = 5 * LOG_PAGE, torn = 2 * LOG_PAGE;
	unsigned char *all, *more;

	make_log();
	all = maker_bytes(&m, &n);
	maker_end(&m);
	more = calloc(1, n + gap);
	ck_assert_ptr_nonnull(more);
	/* Header and slot, the first pages of chunk 1, a hole, the rest. */
	memcpy(more, all, LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES);
	memcpy(more + LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES,
	    all + LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES, torn);
	memcpy(more + LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES + gap,
	    all + LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES,
	    2 * LOG_FIRST_SLOT_BYTES);
	ck_assert_pstr_eq(open_bytes(more, n + gap), NULL);
	ck_assert_uint_eq(r.chunk_count, 4);
	ck_assert(r.chunks[0].whole && !r.chunks[1].whole);
	ck_assert_uint_eq(r.chunks[1].seq, 1);
	ck_assert(r.chunks[2].whole);
	ck_assert(!r.problems.loss);
	reader_close(&r);
	free(more);
	free(all);
}
END_TEST

START_TEST(pages_of_no_chunk_are_counted)
{
	static const char *const says[] = { NULL,
	    "damaged: 1 page of 4096 bytes is no part of a chunk",
	    "damaged: 2 pages of 4096 bytes are no part of a chunk" };
	size_t n;
	unsigned char *all, *more;

	make_log();
	all = maker_bytes(&m, &n);
	maker_end(&m);
	more = calloc(1, n + 2 * LOG_PAGE);
	ck_assert_ptr_nonnull(more);
	memcpy(more, all, n);
	memset(more + n, 7, 2 * LOG_PAGE);
	for (unsigned pages = 0; pages <= 2; pages++) {
		ck_assert_pstr_eq(open_bytes(more, n + pages * LOG_PAGE),
		    NULL);
		ck_assert_uint_eq(r.problems.kept, pages > 0);
		if (pages)
			ck_assert_str_eq(r.problems.lines[0], says[pages]);
		reader_close(&r);
	}
	free(more);
	free(all);
}
END_TEST

START_TEST(many_claims_of_large_chunks_take_no_long_time)
{
	enum { PAGES = 3000 };
	size_t n = LOG_HEADER_BYTES + (size_t)PAGES * LOG_PAGE;
	unsigned char *all = calloc(1, n);

	ck_assert_ptr_nonnull(all);
	make_log();
	memcpy(all, &m.head, sizeof m.head);
	maker_end(&m);
	for (uint32_t i = 0; i < PAGES; i++) {
		struct log_chunk c = {
			.magic = LOG_CHUNK_MAGIC, .bytes = LOG_MAX_CHUNK_BYTES,
			.slot = i * 2654435761u, .seq = ~(uint64_t)i,
		};

		memcpy(all + LOG_HEADER_BYTES + (size_t)i * LOG_PAGE, &c,
		    sizeof c);
	}
	ck_assert_pstr_eq(open_bytes(all, n), NULL);
	ck_assert_uint_eq(r.slot_count, PAGES);
	reader_close(&r);
	free(all);
}
END_TEST

START_TEST(texts_end_within_their_area)
{
	make_log();
	memset(m.head.text + LOG_TEXT_BYTES - 8, 'x', 8);
	m.head.h.cwd = LOG_TEXT_BYTES - 4;
	m.head.h.exe = UINT32_MAX;
	ck_assert_pstr_eq(open_made(), NULL);
	ck_assert_str_eq(reader_text(&r, r.head.h.cwd), "xxx");
	ck_assert_pstr_eq(reader_text(&r, r.head.h.exe), NULL);
	ck_assert_pstr_eq(reader_text(&r, 0), NULL);
	reader_close(&r);
}
END_TEST

START_TEST(seconds_follow_two_far_instants_or_the_rough_rate)
{
	make_log();
	m.head.h.clock = LOG_CLOCK_COUNTER;
	m.head.h.ticks_per_s = 1000;
	ck_assert_pstr_eq(open_made(), NULL);
	ck_assert_double_eq(reader_seconds(&r, MAKER_START + 500), 0.5);
	ck_assert_double_eq(reader_seconds(&r, MAKER_START - 1), 0);
	r.head.h.now_index = 1;
	r.head.h.now[1].monotonic_ns = r.head.h.start.monotonic_ns + 1000000;
	r.head.h.now[1].ticks = MAKER_START + 2000;
	ck_assert_double_eq(reader_ticks_per_s(&r), 1000);
	r.head.h.now[1].monotonic_ns = r.head.h.start.monotonic_ns + 500000000;
	ck_assert_double_eq(reader_ticks_per_s(&r), 4000);
	r.head.h.now[1].ticks = 0;
	r.head.h.clock = LOG_CLOCK_MONOTONIC;
	r.head.h.ticks_per_s = 125000000;
	ck_assert_double_eq(reader_ticks_per_s(&r), 125000000);
	r.head.h.ticks_per_s = 0;
	ck_assert(reader_ticks_per_s(&r) > 0);
	reader_close(&r);
}
END_TEST

static void
read_start_time(struct log_header *h)
{
	char line[1024] = "", *at;
	FILE *f = fopen("/proc/self/stat", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
	fclose(f);
	at = strrchr(line, ')');
	for (int i = 0; i < 20; i++)
		at = strchr(at + 1, ' ');
	h->process_start = strtoull(at, NULL, 10);
}

static void
read_boot_id(struct log_header *h)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(h->boot_id, sizeof h->boot_id, f));
	fclose(f);
	h->boot_id[strcspn(h->boot_id, "\n")] = '\0';
}

/* The state of a log whose header says "running", changed by CHANGE. */
static enum reader_state
state_when(void (*change)(struct log_header *))
{
	enum reader_state state;

	make_log();
	m.head.h.state = LOG_RUNNING;
	m.head.h.end_ticks = 0;
	m.head.h.pid = getpid();
	read_start_time(&m.head.h);
	read_boot_id(&m.head.h);
	change(&m.head.h);
	ck_assert_pstr_eq(open_made(), NULL);
	state = r.state;
	return state;
}

static void
not_at_all(struct log_header *h)
{
	(void)h;
}

static void
other_pid(struct log_header *h)
{
	h->pid = 0x3fffffff;
}

static void
other_start(struct log_header *h)
{
	h->process_start++;
}

static void
other_host(struct log_header *h)
{
	memcpy(h->boot_id, "x", 2);
	memcpy(h->host, "farawayhost", 12);
}

static void
same_host_earlier(struct log_header *h)
{
	memcpy(h->boot_id, "x", 2);
	gethostname(h->host, sizeof h->host);
}

START_TEST(running_is_who_still_runs)
{
	ck_assert_int_eq(state_when(not_at_all), READER_RUNNING);
	ck_assert_ptr_nonnull(r.chunks[2].kept);
	reader_close(&r);
	ck_assert_int_eq(state_when(other_pid), READER_DIED);
	reader_close(&r);
	ck_assert_int_eq(state_when(other_start), READER_DIED);
	reader_close(&r);
	ck_assert_int_eq(state_when(same_host_earlier), READER_DIED);
	reader_close(&r);
	ck_assert_int_eq(state_when(other_host), READER_RUNNING);
	expect_problem("cannot be told");
	reader_close(&r);
}
END_TEST

START_TEST(a_table_of_counters_is_found)
{
	struct log_chunk table[3] = { 0 };
	unsigned char *all = calloc(1, LOG_HEADER_BYTES
	    + LOG_FIRST_SLOT_BYTES);

	ck_assert_ptr_nonnull(all);
	make_log();
	m.head.h.mode = LOG_SUMMARY;
	m.head.h.slots = 2;
	memcpy(all, &m.head, sizeof m.head);
	maker_end(&m);
	for (uint32_t i = 0; i < 2; i++)
		table[i] = (struct log_chunk){
			.magic = LOG_CHUNK_MAGIC, .bytes = sizeof table[i],
			.slot = i, .seq = 1, .tid = 7,
		};
	memcpy(all + LOG_HEADER_BYTES, table, sizeof table);
	ck_assert_pstr_eq(open_bytes(all, LOG_HEADER_BYTES
	    + LOG_FIRST_SLOT_BYTES), NULL);
	ck_assert_uint_eq(r.slot_count, 2);
	ck_assert(reader_check(&r, r.chunks + 1, table));
	ck_assert_int_eq(table[0].tid, 7);
	ck_assert_uint_eq(r.problems.kept, 0);
	reader_close(&r);
	free(all);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, a_good_log_has_no_problems);
	tcase_add_test(t, what_is_no_log_is_refused_with_a_reason);
	tcase_add_test(t, a_log_cut_anywhere_is_used_or_refused);
	tcase_add_test(t, a_missing_slot_is_noticed);
	tcase_add_test(t, a_wrong_sum_is_noticed);
	tcase_add_test(t, of_equal_chunks_the_whole_comes_first);
	tcase_add_test(t, chunks_behind_a_hole_and_in_a_torn_copy_are_found);
	tcase_add_test(t, pages_of_no_chunk_are_counted);
	tcase_add_test(t, many_claims_of_large_chunks_take_no_long_time);
	tcase_add_test(t, texts_end_within_their_area);
	tcase_add_test(t, seconds_follow_two_far_instants_or_the_rough_rate);
	tcase_add_test(t, running_is_who_still_runs);
	tcase_add_test(t, a_table_of_counters_is_found);
}

int
main(void)
{
	return unit_run("reader", add);
}
