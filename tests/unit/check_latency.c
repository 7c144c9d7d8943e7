/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls took: the histogram, and which call a time belongs to. */
#include "tools/latency.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "logmaker.h"
#include "made.h"
#include "unit.h"

static struct latency_histogram h;

static void
count_all(const uint64_t *took, size_t n)
{
	memset(&h, 0, sizeof h);
	for (size_t i = 0; i < n; i++)
		latency_count(&h, took[i]);
}

#define COUNT(...) \
	count_all((const uint64_t[]){ __VA_ARGS__ }, \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

START_TEST(small_times_are_exact)
{
	memset(&h, 0, sizeof h);
	for (uint64_t i = 1; i <= 2 * LATENCY_STEPS - 1; i++)
		latency_count(&h, i);
	for (uint64_t i = 1; i <= 2 * LATENCY_STEPS - 1; i++)
		ck_assert_uint_eq(latency_quantile(&h, (double)i
		    / (2 * LATENCY_STEPS - 1)), i);
}
END_TEST

/* Just below, at and above each power of two, and in between. */
START_TEST(others_are_too_high_by_a_step_at_most)
{
	for (unsigned bit = 5; bit < 63; bit++) {
		uint64_t power = UINT64_C(1) << bit;
		const uint64_t list[] = { power - 1, power, power + 1,
		    power + power / 3, power + power / 2, 2 * power - 1 };

		for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
			uint64_t got;

			COUNT(list[i], UINT64_MAX);
			got = latency_quantile(&h, 0.5);
			ck_assert_msg(got >= list[i] && got - list[i]
			    <= list[i] / LATENCY_STEPS, "%" PRIu64 " is %"
			    PRIu64, list[i], got);
		}
	}
}
END_TEST

START_TEST(nothing_takes_longer_than_the_longest)
{
	COUNT(1000003);
	ck_assert_uint_eq(latency_quantile(&h, 0.5), 1000003);
	ck_assert_uint_eq(latency_quantile(&h, 1), 1000003);
	COUNT(5, UINT64_MAX, UINT64_MAX);
	ck_assert_uint_eq(latency_quantile(&h, 1), UINT64_MAX);
	ck_assert_uint_eq(h.count, 3);
	ck_assert_uint_eq(h.most, UINT64_MAX);
}
END_TEST

START_TEST(a_quantile_is_the_first_that_reaches_its_part)
{
	memset(&h, 0, sizeof h);
	for (unsigned i = 0; i < 990; i++)
		latency_count(&h, 10);
	for (unsigned i = 0; i < 9; i++)
		latency_count(&h, 20);
	latency_count(&h, 30);
	ck_assert_uint_eq(latency_quantile(&h, 0.5), 10);
	ck_assert_uint_eq(latency_quantile(&h, 0.99), 10);
	ck_assert_uint_eq(latency_quantile(&h, 0.991), 20);
	ck_assert_uint_eq(latency_quantile(&h, 0.999), 20);
	ck_assert_uint_eq(latency_quantile(&h, 0.9991), 30);
	ck_assert_double_eq(h.total, 9900 + 180 + 30);
}
END_TEST

static struct maker m;

/* A unit is a fourth of a nanosecond. */
static void
begin(void)
{
	maker_begin(&m);
	m.head.h.took_units = 4;
	maker_slot(&m, 7, "main", 0);
}

static struct profile p;

/* P is what the log says, if only of a part. */
static void
read_part(double from_s, double to_s)
{
	const struct profile_part part = { from_s, to_s, NULL };

	made_once(&p, &part, maker_save(&m));
	maker_end(&m);
	ck_assert(p.has_latency);
}

static void
read_all(void)
{
	read_part(0, INFINITY);
}

static void
expect(size_t i, const char *call, uint64_t count, double total_ns)
{
	ck_assert_uint_gt(p.latency_count, i);
	ck_assert_str_eq(p.latency[i].call, call);
	ck_assert_uint_eq(p.latency[i].count, count);
	ck_assert_double_eq_tol(p.latency[i].total_ns, total_ns, 1e-6);
}

START_TEST(each_kind_of_call_is_for_itself)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 100, 1000);
	maker_took(&m, 0, 40);
	maker_malloc(&m, 0, 0x2000, 100, 0);
	maker_took(&m, 0, 80);
	maker_alloc(&m, 0, LOG_CALL_MEMALIGN, 0x3000, 5, 12, 19);
	maker_took(&m, 0, 4);
	maker_realloc(&m, 0, 0x1000, 0x4000, 8, 0);
	maker_took(&m, 0, 8);
	maker_free(&m, 0, 0x2000, 0);
	maker_took(&m, 0, 400);
	maker_failed(&m, 0, LOG_CALL_CALLOC, 77);
	maker_took(&m, 0, 12);
	read_all();
	ck_assert_uint_eq(p.latency_count, 5);
	expect(0, "malloc", 2, 30);
	expect(1, "calloc", 1, 3);
	expect(2, "realloc", 1, 2);
	expect(3, "memalign", 1, 1);
	expect(4, "free", 1, 100);
	ck_assert_double_eq_tol(p.latency[0].max_ns, 20, 1e-6);
	ck_assert_double_eq_tol(p.latency[0].p50_ns, 10, 1e-6);
	profile_free(&p);
}
END_TEST

START_TEST(the_slowest_come_first_and_say_what_they_were)
{
	begin();
	for (uint64_t i = 1; i <= 20; i++) {
		maker_malloc(&m, 0, i << 12, i, 1000000);
		maker_took(&m, 0, i % 10 + 1);
	}
	maker_free(&m, 0, 5 << 12, 0);
	maker_took(&m, 0, 1000);
	maker_failed(&m, 0, LOG_CALL_MALLOC, 12345);
	maker_took(&m, 0, 900);
	maker_malloc(&m, 0, 0x100000, 99, 0);	/* as slow as the tenth */
	maker_took(&m, 0, 7);
	read_all();
	ck_assert_uint_eq(p.slow_count, LATENCY_SLOWEST);
	ck_assert_str_eq(p.slowest[0].call, "free");
	ck_assert_uint_eq(p.slowest[0].bytes.value, 5);
	ck_assert_double_eq_tol(p.slowest[0].ns, 250, 1e-6);
	ck_assert_uint_eq(p.slowest[1].bytes.value, 12345);
	ck_assert_uint_eq(p.slowest[1].tid.value, 7);
	ck_assert_str_eq(p.slowest[1].name, "main");
	ck_assert_uint_eq(p.slowest[2].bytes.value, 9);
	ck_assert_double_eq_tol(p.slowest[2].s, 0.009, 1e-9);
	ck_assert_uint_eq(p.slowest[3].bytes.value, 19);
	ck_assert_uint_eq(p.slowest[9].bytes.value, 16);
	profile_free(&p);
}
END_TEST

/* A handler frees in the middle of a free. */
START_TEST(a_time_belongs_to_the_nearest_call_that_has_none)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_free(&m, 0, 0x1000, 0);
	maker_malloc(&m, 0, 0x2000, 200, 0);
	maker_took(&m, 0, 8);
	maker_free(&m, 0, 0x2000, 0);
	maker_took(&m, 0, 12);
	maker_mark(&m, 0, "x", 0);
	maker_took(&m, 0, 4000);
	read_all();
	expect(0, "malloc", 1, 2);
	expect(1, "free", 2, 1003);
	ck_assert_uint_eq(p.slowest[0].bytes.value, 100);
	profile_free(&p);
}
END_TEST

START_TEST(handlers_in_between_have_times_of_their_own)
{
	uint32_t at;

	begin();
	maker_slot(&m, 7, "main", LOG_CHUNK_NESTED);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	at = maker_offset(&m, 0);
	maker_took(&m, 0, 4000);
	maker_place(&m, 1, LOG_X_NESTED, 0, 1, at);
	maker_malloc(&m, 1, 0x2000, 200, 0);
	maker_took(&m, 1, 8);
	maker_place(&m, 1, LOG_X_NESTED, 0, 1, at);
	maker_free(&m, 1, 0x2000, 0);
	maker_place(&m, 1, LOG_X_NESTED, 0, 1, at);
	maker_took(&m, 1, 12);
	read_all();
	expect(0, "malloc", 2, 1002);
	expect(1, "free", 1, 3);
	ck_assert_uint_eq(p.slowest[0].bytes.value, 100);
	profile_free(&p);
}
END_TEST

/* Wherever chunks end; 4096 bytes hold some 400 of these pairs. */
START_TEST(a_chunk_may_end_before_a_time)
{
	for (unsigned early = 0; early < 12; early++) {
		maker_begin(&m);
		m.head.h.took_units = 4;
		m.chunk_bytes = LOG_PAGE;
		maker_slot(&m, 7, "main", 0);
		for (unsigned i = 0; i < early; i++)
			maker_mark(&m, 0, "x", 0);
		for (uint64_t i = 1; i <= 3000; i++) {
			maker_malloc(&m, 0, i << 12, i, 1);
			maker_took(&m, 0, 4);
		}
		read_all();
		expect(0, "malloc", 3000, 3000);
		profile_free(&p);
	}
}
END_TEST

START_TEST(what_is_missing_gets_no_time_of_another)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_next_chunk(&m, 0);
	maker_malloc(&m, 0, 0x2000, 200, 0);
	maker_next_chunk(&m, 0);
	maker_took(&m, 0, 40);
	maker_malloc(&m, 0, 0x3000, 300, 0);
	maker_took(&m, 0, 4);
	m.full[1]->seq = 99;	/* its sum is wrong now, too */
	read_all();
	expect(0, "malloc", 1, 1);
	ck_assert_uint_eq(p.slowest[0].bytes.value, 300);
	profile_free(&p);
}
END_TEST

START_TEST(a_block_that_goes_without_a_free_takes_no_time)
{
	begin();
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_took(&m, 0, 4);
	maker_malloc(&m, 0, 0x1000, 200, 0);
	maker_took(&m, 0, 8);
	read_all();
	ck_assert_uint_eq(p.latency_count, 1);
	expect(0, "malloc", 2, 3);
	profile_free(&p);
}
END_TEST

START_TEST(only_calls_of_the_part_count)
{
	begin();
	for (uint64_t i = 1; i <= 10; i++) {
		maker_malloc(&m, 0, i << 12, i, 100000000);
		maker_took(&m, 0, 4 * i);
	}
	read_part(0.35, 0.65);
	expect(0, "malloc", 3, 4 + 5 + 6);
	profile_free(&p);
}
END_TEST

START_TEST(a_log_without_times_does_not_know)
{
	const struct profile_part part = { .to_s = INFINITY };

	maker_begin(&m);
	maker_slot(&m, 7, "main", 0);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_took(&m, 0, 4);
	made_once(&p, &part, maker_save(&m));
	maker_end(&m);
	ck_assert(!p.has_latency);
	profile_free(&p);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, small_times_are_exact);
	tcase_add_test(t, others_are_too_high_by_a_step_at_most);
	tcase_add_test(t, nothing_takes_longer_than_the_longest);
	tcase_add_test(t, a_quantile_is_the_first_that_reaches_its_part);
	tcase_add_test(t, each_kind_of_call_is_for_itself);
	tcase_add_test(t, the_slowest_come_first_and_say_what_they_were);
	tcase_add_test(t, a_time_belongs_to_the_nearest_call_that_has_none);
	tcase_add_test(t, handlers_in_between_have_times_of_their_own);
	tcase_add_test(t, a_chunk_may_end_before_a_time);
	tcase_add_test(t, what_is_missing_gets_no_time_of_another);
	tcase_add_test(t, a_block_that_goes_without_a_free_takes_no_time);
	tcase_add_test(t, only_calls_of_the_part_count);
	tcase_add_test(t, a_log_without_times_does_not_know);
}

int
main(void)
{
	return unit_run("latency", add);
}
