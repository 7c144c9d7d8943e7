/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a log, or of a part of it. */
#include "tools/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "made.h"
#include "tools/timeline.h"
#include "unit.h"

static struct maker m;
static struct profile p;
static struct profile_part part;

static void
begin(void)
{
	part = (struct profile_part){ .to_s = INFINITY };
	maker_begin(&m);
	maker_slot(&m, 1, "main", 0);
	maker_slot(&m, 2, "helper", 0);
}

static void
make(void)
{
	made_once(&p, &part, maker_save(&m));
}

static void
done(void)
{
	profile_free(&p);
	maker_end(&m);
}

static bool
is(struct profile_number n, uint64_t value)
{
	return n.known && n.value == value;
}

static void
expect_problem(const char *said)
{
	for (size_t i = 0; i < p.problems.count; i++)
		if (strstr(p.problems.list[i], said))
			return;
	ck_abort_msg("no problem says \"%s\"", said);
}

/* 100 at 1 ms, 1000 at 2 ms, gone at 3 ms, 50 by the helper at 4 ms. */
static void
make_usual(void)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 100, 1000000);
	maker_malloc(&m, 0, 0x2000, 1000, 1000000);
	maker_free(&m, 0, 0x2000, 1000000);
	maker_bare(&m, 1, LOG_X_TIME, 4000000);
	maker_malloc(&m, 1, 0x3000, 50, 0);
}

START_TEST(identity_is_that_of_the_header)
{
	make_usual();
	m.head.h.rank = 3;
	m.head.h.status = 256 + 7;
	make();
	ck_assert(is(p.pid, 4711) && is(p.ppid, 4710) && is(p.rank, 3));
	ck_assert(!p.ranks.known);
	ck_assert_str_eq(p.exe, "/bin/prog");
	ck_assert_str_eq(p.cwd, "/tmp");
	ck_assert_str_eq(p.host, "box");
	ck_assert_uint_eq(p.argv.count, 2);
	ck_assert_str_eq(p.argv.list[1], "-x");
	ck_assert_str_eq(p.mode, "events");
	ck_assert_str_eq(p.bytes, "requested");
	ck_assert_str_eq(p.state, "exited");
	ck_assert(is(p.status, 7));
	ck_assert(p.complete);
	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert_double_eq(p.start, 1700000000.5);
	ck_assert_double_eq(p.elapsed_s, 2);
	done();
}
END_TEST

START_TEST(totals_are_exact)
{
	make_usual();
	make();
	ck_assert(is(p.allocations, 3) && is(p.frees, 1) && is(p.failed, 0));
	ck_assert(is(p.allocated_bytes, 1150));
	ck_assert(is(p.peak_bytes, 1100));
	ck_assert(is(p.peak_usable_bytes, 104 + 1000));
	ck_assert_double_eq_tol(p.peak_s, 0.002, 1e-9);
	ck_assert(is(p.peak_error_bytes, 0));
	ck_assert(is(p.live_blocks, 2) && is(p.live_bytes, 150));
	ck_assert(is(p.live_usable_bytes, 104 + 56));
	ck_assert(is(p.unknown_frees, 0) && is(p.inherited_blocks, 0));
	done();
}
END_TEST

START_TEST(each_peak_is_its_own)
{
	begin();
	/* Most requested at 1000; most usable with ten blocks of one. */
	maker_malloc(&m, 0, 0x10000, 1000, 1);
	maker_free(&m, 0, 0x10000, 1);
	for (uint64_t i = 1; i <= 100; i++)
		maker_malloc(&m, 0, i << 8, 1, 1);
	make();
	ck_assert(is(p.peak_bytes, 1000));
	ck_assert(is(p.peak_usable_bytes, 2400));
	done();
}
END_TEST

START_TEST(sizes_are_counted_in_powers_of_two)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 0, 0);
	maker_malloc(&m, 0, 0x2000, 1, 0);
	maker_malloc(&m, 0, 0x3000, 8, 0);
	maker_malloc(&m, 0, 0x4000, 15, 0);
	make();
	ck_assert_uint_eq(p.size_count, 3);
	ck_assert_uint_eq(p.sizes[0].to, 0);
	ck_assert_uint_eq(p.sizes[1].from, 1);
	ck_assert_uint_eq(p.sizes[1].to, 1);
	ck_assert_uint_eq(p.sizes[2].from, 8);
	ck_assert_uint_eq(p.sizes[2].to, 15);
	ck_assert_uint_eq(p.sizes[2].allocations, 2);
	done();
}
END_TEST

START_TEST(each_thread_has_its_own_calls)
{
	make_usual();
	maker_free(&m, 1, 0x1000, 0);
	make();
	ck_assert_uint_eq(p.thread_count, 2);
	ck_assert_int_eq(p.threads[0].tid, 1);
	ck_assert_str_eq(p.threads[0].name, "main");
	ck_assert_uint_eq(p.threads[0].allocations, 2);
	ck_assert_uint_eq(p.threads[0].allocated_bytes, 1100);
	ck_assert_uint_eq(p.threads[1].allocations, 1);
	ck_assert_uint_eq(p.threads[1].frees, 1);
	done();
}
END_TEST

START_TEST(the_timeline_keeps_its_spike_and_its_end)
{
	uint64_t most = 0;

	make_usual();
	make();
	ck_assert_uint_gt(p.point_count, 100);
	ck_assert_uint_le(p.point_count, PROFILE_POINTS);
	for (size_t i = 0; i < p.point_count; i++)
		if (p.timeline[i].peak_bytes > most)
			most = p.timeline[i].peak_bytes;
	ck_assert_uint_eq(most, 1100);
	ck_assert_double_eq(p.timeline[0].s, 0);
	ck_assert_uint_eq(p.timeline[p.point_count - 1].live_bytes, 150);
	ck_assert_double_le(p.timeline[p.point_count - 1].s, 2);
	ck_assert_double_gt(p.timeline[p.point_count - 1].s, 1.9);
	done();
}
END_TEST

START_TEST(a_timeline_is_bounded_for_any_time)
{
	struct timeline t;

	timeline_begin(&t, 5, 0, 0);
	timeline_add(&t, 6, 10, 0);
	timeline_add(&t, 7, 1, 0);
	for (uint64_t ticks = 8; ticks && ticks < UINT64_MAX / 2; ticks *= 2)
		timeline_add(&t, ticks, 2, 0);
	timeline_add(&t, UINT64_MAX, 3, 0);
	ck_assert_uint_lt(t.at, TIMELINE_POINTS);
	ck_assert_uint_eq(t.points[0].peak, 10);
	ck_assert_uint_eq(t.points[1].peak, 2);
	ck_assert_uint_eq(t.points[t.at].live, 3);
}
END_TEST

START_TEST(a_part_in_time_begins_with_what_is_live)
{
	make_usual();
	part.from_s = 0.0025;
	part.to_s = 0.0045;
	make();
	ck_assert(is(p.allocations, 1) && is(p.frees, 1));
	ck_assert(is(p.peak_bytes, 1100));
	ck_assert_double_eq_tol(p.peak_s, 0.0025, 1e-9);
	ck_assert(is(p.live_bytes, 150));
	ck_assert_double_eq_tol(p.timeline[0].s, 0.0025, 1e-9);
	done();
	make_usual();
	part.to_s = 0.002;
	make();
	ck_assert(is(p.allocations, 1) && is(p.live_bytes, 100));
	done();
	make_usual();
	part.from_s = 50;
	make();
	ck_assert(is(p.allocations, 0) && is(p.live_bytes, 150));
	ck_assert(is(p.peak_bytes, 150));
	done();
}
END_TEST

START_TEST(a_part_by_thread_is_what_it_allocated)
{
	make_usual();
	maker_free(&m, 0, 0x3000, 5000000);
	maker_free(&m, 0, 0x7000, 0);
	part.thread = "help*";
	make();
	ck_assert(is(p.allocations, 1) && is(p.frees, 1));
	ck_assert(is(p.peak_bytes, 50) && is(p.live_bytes, 0));
	ck_assert(is(p.unknown_frees, 0));
	ck_assert_uint_eq(p.thread_count, 1);
	ck_assert_str_eq(p.threads[0].name, "helper");
	done();
	make_usual();
	part.thread = "1";
	make();
	ck_assert(is(p.allocations, 2) && is(p.live_bytes, 100));
	done();
}
END_TEST

START_TEST(marks_failures_and_mappings_are_counted_apart)
{
	make_usual();
	m.head.h.flags |= LOG_FLAG_MMAP | LOG_FLAG_PAUSED;
	maker_mark(&m, 0, "solve", 1000000);
	maker_failed(&m, 0, LOG_CALL_MALLOC, UINT64_MAX);
	maker_map(&m, 0, LOG_CALL_MMAP, 0x700000, 4096);
	maker_map(&m, 0, LOG_CALL_MUNMAP, 0x700000, 4096);
	maker_free(&m, 0, 0x9990, 0);
	make();
	ck_assert_uint_eq(p.mark_count, 1);
	ck_assert_str_eq(p.marks[0].label, "solve");
	ck_assert_double_eq_tol(p.marks[0].s, 0.004, 1e-9);
	ck_assert(is(p.failed, 1) && is(p.peak_bytes, 1100));
	ck_assert(p.has_mappings && is(p.mappings, 1));
	ck_assert(is(p.mapped_bytes, 4096));
	ck_assert(is(p.frees, 2) && is(p.unknown_frees, 1));
	ck_assert(p.paused && p.complete);
	done();
}
END_TEST

START_TEST(what_was_asked_for_in_all_does_not_overflow)
{
	begin();
	for (unsigned i = 0; i < 200; i++) {
		maker_malloc(&m, 0, 0x10000, UINT64_C(1) << 56, 0);
		maker_free(&m, 0, 0x10000, 0);
		maker_malloc(&m, 0, 0x10000, UINT64_C(1) << 56, 0);
		maker_free(&m, 0, 0x10000, 0);
	}
	make();
	ck_assert(is(p.allocated_bytes, UINT64_MAX));
	ck_assert(is(p.live_bytes, 0));
	done();
}
END_TEST

/* Events stop at 5 ms; the counters go on to 10 allocations, 4 frees. */
static void
make_stopped(int64_t later_peak)
{
	make_usual();
	m.head.h.stop = LOG_STOP_FULL;
	m.head.h.stop_ticks = MAKER_START + 5000000;
	m.head.h.peak = 1104 > later_peak ? 1104 : later_peak;
	m.head.h.peak_ticks = MAKER_START + 7000000;
	m.head.h.timeline_ticks = 1000000;
	m.head.h.timeline_used = 8;
	m.head.timeline[7].peak = later_peak;
	m.slots[0].counters = (struct log_counters){
		.allocations = 8, .frees = 3, .failed = 1, .live = 500,
		.told = 400,
	};
	m.slots[1].counters = (struct log_counters){
		.allocations = 1, .frees = 1, .live = -50, .told = -10,
	};
	m.head.h.others.allocations = 1;
	m.head.h.live = 390;
	make();
}

START_TEST(after_a_stop_counters_go_on)
{
	make_stopped(5000);
	ck_assert(is(p.allocations, 10) && is(p.frees, 4) && is(p.failed, 1));
	ck_assert(is(p.live_usable_bytes, 450) && is(p.live_blocks, 6));
	ck_assert(!p.live_bytes.known && !p.allocated_bytes.known);
	ck_assert(!p.peak_bytes.known && is(p.peak_usable_bytes, 5000));
	ck_assert(!p.complete);
	expect_problem("events end at 0.005000 s: the file system was full");
	ck_assert(!p.timeline[0].counted);
	ck_assert(p.timeline[p.point_count - 1].counted);
	ck_assert_double_gt(p.timeline[p.point_count - 1].s, 0.005);
	ck_assert_uint_eq(p.timeline[p.point_count - 1].live_bytes, 450);
	ck_assert_double_eq_tol(p.stopped_s, 0.005, 1e-9);
	ck_assert(p.stopped);
	done();
}
END_TEST

/* A point in which events stop is told by both. */
START_TEST(no_peak_is_lost_where_events_stop)
{
	make_usual();
	m.head.h.stop = LOG_STOP_FULL;
	m.head.h.stop_ticks = MAKER_START + 5000000;
	m.head.h.timeline_ticks = 16000000;
	m.head.h.timeline_used = 1;
	m.head.timeline[0].peak = 600;
	make();
	ck_assert(p.timeline[0].counted);
	ck_assert_uint_ge(p.timeline[0].peak_bytes, 1100);
	done();
}
END_TEST

START_TEST(a_peak_before_the_stop_stays_known)
{
	make_stopped(600);
	ck_assert(is(p.peak_bytes, 1100) && is(p.peak_usable_bytes, 1104));
	ck_assert_double_eq_tol(p.peak_s, 0.002, 1e-9);
	done();
}
END_TEST

/* Who had room left went on, while another's frees were no longer stored. */
START_TEST(after_a_stop_no_thread_is_believed)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 100, 1000000);
	maker_malloc(&m, 1, 0x2000, 10, 5000000);
	maker_malloc(&m, 1, 0x1000, 200, 1000000);
	m.head.h.stop = LOG_STOP_LIMIT;
	m.head.h.stop_ticks = MAKER_START + 5000000;
	make();
	ck_assert_uint_eq(p.problems.count, 1);
	expect_problem("events end at 0.005000 s: the limit of its size");
	ck_assert_uint_eq(p.timeline[p.point_count - 1].live_bytes, 110);
	ck_assert(is(p.peak_usable_bytes, 24 + 104));
	done();
}
END_TEST

START_TEST(a_summary_is_in_usable_bytes)
{
	struct log_chunk table = {
		.magic = LOG_CHUNK_MAGIC, .bytes = sizeof table, .seq = 1,
		.tid = 1, .name = "main", .counters = {
			.allocations = 9, .frees = 4, .failed = 2,
			.live = 700, .told = 600, .allocated = 2000,
		},
	};
	unsigned char *all;
	size_t n;

	begin();
	m.head.h.mode = LOG_SUMMARY;
	m.head.h.slots = 1;
	m.head.h.live = 600;
	m.head.h.peak = 900;
	m.head.h.peak_error = 64;
	m.head.h.marks = 1;
	m.head.h.timeline_used = 2;
	m.head.h.timeline_ticks = 1000000000;
	m.head.timeline[0] = (struct log_timeline_point){ 100, 900 };
	m.head.timeline[1] = (struct log_timeline_point){ -5, 700 };
	m.head.marks[0].ticks = MAKER_START + 1000000000;
	memset(m.head.marks[0].label, 'm', LOG_LABEL_BYTES);
	all = maker_bytes(&m, &n);
	memset(all + LOG_HEADER_BYTES, 0, LOG_FIRST_SLOT_BYTES);
	memcpy(all + LOG_HEADER_BYTES, &table, sizeof table);
	made_once(&p, &part, maker_store(all,
	    LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES));
	free(all);
	ck_assert_str_eq(p.mode, "summary");
	ck_assert_str_eq(p.bytes, "usable");
	ck_assert(is(p.allocations, 9) && is(p.frees, 4) && is(p.failed, 2));
	ck_assert(is(p.allocated_bytes, 2000) && is(p.peak_bytes, 900));
	ck_assert(is(p.peak_error_bytes, 64) && is(p.live_bytes, 700));
	ck_assert(is(p.live_blocks, 5) && !p.unknown_frees.known);
	ck_assert(!p.has_sizes && p.point_count == 2);
	ck_assert_uint_eq(p.timeline[1].live_bytes, 700);
	ck_assert_uint_eq(strlen(p.marks[0].label), LOG_LABEL_BYTES);
	ck_assert_uint_eq(p.threads[0].allocations, 9);
	ck_assert(p.complete);
	done();
}
END_TEST

/* A header and no more. */
static void
make_heap_log(uint32_t state)
{
	unsigned char *all;
	size_t n;

	begin();
	m.head.h.mode = LOG_SUMMARY;
	m.head.h.slots = 0;
	m.head.h.state = state;
	gethostname(m.head.h.host, sizeof m.head.h.host);
	m.head.h.live = 600;
	m.head.h.peak = 900;
	m.head.h.others = (struct log_counters){
		.allocations = 9, .frees = 4, .failed = 2,
	};
	m.head.h.pool = (struct log_pool){ 4096, 1000, 2000, 1500, 3 };
	all = maker_bytes(&m, &n);
	made_once(&p, &part, maker_store(all, LOG_HEADER_BYTES));
	free(all);
}

START_TEST(a_heap_has_a_log_without_slots)
{
	make_heap_log(LOG_EXITED);
	ck_assert(is(p.allocations, 9) && is(p.frees, 4) && is(p.failed, 2));
	ck_assert(is(p.live_bytes, 600) && is(p.peak_bytes, 900));
	ck_assert(is(p.live_blocks, 5) && !p.allocated_bytes.known);
	ck_assert(p.has_pool && is(p.pool_bytes, 4096));
	ck_assert(is(p.pool_used_bytes, 1000) && is(p.pool_peak_bytes, 2000));
	ck_assert(is(p.pool_largest_free_bytes, 1500));
	ck_assert(is(p.pool_growths, 3) && p.complete && !p.problems.count);
	done();
	make_heap_log(LOG_RUNNING);
	ck_assert_str_eq(p.state, "died");
	ck_assert(!p.complete);
	expect_problem("not counted");
	done();
}
END_TEST

START_TEST(what_cannot_be_seen_is_said)
{
	make_usual();
	m.head.h.flags |= LOG_FLAG_FOREIGN_MALLOC | LOG_FLAG_BEHIND
	    | LOG_FLAG_TEXT_CUT;
	m.head.h.pool.bytes = 4096;
	make();
	ck_assert(!p.complete);
	ck_assert_uint_eq(p.problems.count, 3);
	expect_problem("malloc of its own");
	ck_assert(p.has_pool && is(p.pool_bytes, 4096));
	done();
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, identity_is_that_of_the_header);
	tcase_add_test(t, totals_are_exact);
	tcase_add_test(t, each_peak_is_its_own);
	tcase_add_test(t, sizes_are_counted_in_powers_of_two);
	tcase_add_test(t, each_thread_has_its_own_calls);
	tcase_add_test(t, the_timeline_keeps_its_spike_and_its_end);
	tcase_add_test(t, a_timeline_is_bounded_for_any_time);
	tcase_add_test(t, a_part_in_time_begins_with_what_is_live);
	tcase_add_test(t, a_part_by_thread_is_what_it_allocated);
	tcase_add_test(t, marks_failures_and_mappings_are_counted_apart);
	tcase_add_test(t, what_was_asked_for_in_all_does_not_overflow);
	tcase_add_test(t, after_a_stop_counters_go_on);
	tcase_add_test(t, no_peak_is_lost_where_events_stop);
	tcase_add_test(t, a_peak_before_the_stop_stays_known);
	tcase_add_test(t, after_a_stop_no_thread_is_believed);
	tcase_add_test(t, a_summary_is_in_usable_bytes);
	tcase_add_test(t, a_heap_has_a_log_without_slots);
	tcase_add_test(t, what_cannot_be_seen_is_said);
}

int
main(void)
{
	return unit_run("profile", add);
}
