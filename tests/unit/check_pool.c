/* SPDX-License-Identifier: Apache-2.0 */
/* How the pool grows, in steps and in addresses. */
#include "lib/rt/pool.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "unit.h"

static struct tlsf t;
static const struct rt_settings megabyte = {
	.initial = 1 << 20, .additional = 100
};

static void
start(const struct rt_settings *s)
{
	tlsf_init(&t);
	rt_pool_start(&t, s);
}

static void
grow(uint64_t additional, size_t size)
{
	struct rt_growth g;

	ck_assert(rt_pool_plan(additional, TLSF_ALIGN, size, &g));
	ck_assert(rt_pool_get(&g));
	rt_pool_add(&t, &g);
	ck_assert_pstr_eq(tlsf_check(&t), NULL);
}

static uintptr_t
end_of(const struct rt_span *span)
{
	return span->base + span->bytes;
}

START_TEST(a_thousand_bytes_by_hundreds_take_five_steps)
{
	static const uint64_t wanted[] = { 100, 200, 400, 800, 1600 };
	struct rt_growth g;

	ck_assert(rt_pool_plan(100, TLSF_ALIGN, 1000, &g));
	ck_assert_uint_eq(g.count, 5);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(g.bytes[i], wanted[i]);
	ck_assert_uint_eq(g.sum, 3100);
}
END_TEST

/* From tiny steps to huge ones, for any size and alignment. */
START_TEST(the_last_step_and_no_other_serves_by_itself)
{
	const uint64_t additional = UINT64_C(1) << _i;
	struct rt_growth g;

	for (unsigned size = 0; size < 42; size++)
		for (unsigned align = 4; align < 31; align++) {
			const size_t a = (size_t)1 << align;
			const size_t n = ((size_t)1 << size) - size;

			if (!rt_pool_plan(additional, a, n, &g))
				continue;
			for (unsigned i = 0; i < g.count; i++)
				ck_assert(tlsf_area_serves(g.bytes[i], a, n)
				    == (i + 1 == g.count));
		}
}
END_TEST

START_TEST(what_no_growth_serves_has_no_plan)
{
	struct rt_growth g;

	ck_assert(!rt_pool_plan(0, TLSF_ALIGN, 1, &g));
	ck_assert(!rt_pool_plan(100, TLSF_ALIGN, SIZE_MAX, &g));
	ck_assert(!rt_pool_plan(1, TLSF_ALIGN, PTRDIFF_MAX, &g));
	ck_assert(!rt_pool_plan(TLSF_MOST, TLSF_ALIGN, TLSF_MOST, &g));
	ck_assert(!rt_pool_plan(1, SIZE_MAX / 2 + 1, 1, &g));
}
END_TEST

START_TEST(the_pool_counts_exactly_the_bytes_named)
{
	const struct rt_settings odd = { .initial = 100001 };

	start(&odd);
	ck_assert_uint_eq(t.total, 100001);
	grow(100, 1000);
	ck_assert_uint_eq(t.total, 103101);
	ck_assert_uint_eq(rt_pool_spans[0].bytes, 103101);
}
END_TEST

START_TEST(a_grown_pool_is_one_free_block)
{
	start(&megabyte);
	for (int i = 0; i < 100; i++)
		grow(4096, 100000);
	ck_assert_uint_gt(tlsf_largest(&t), 100 * 100000);
	ck_assert_uint_eq(rt_pool_spans[1].bytes, 0);
}
END_TEST

START_TEST(the_initial_pool_is_ours_and_its_neighbours_are_not)
{
	const char *base;

	start(&megabyte);
	base = (const char *)rt_pool_spans[0].base;
	ck_assert(rt_pool_owns(base));
	ck_assert(rt_pool_owns(base + (1 << 20) - 1));
	ck_assert(!rt_pool_owns(base + (1 << 20)));
	ck_assert(!rt_pool_owns(base - 1));
	ck_assert(!rt_pool_owns(NULL));
	ck_assert(rt_pool_owns_first(base));
}
END_TEST

START_TEST(no_pool_at_first_is_a_pool_later)
{
	const struct rt_settings none = { .additional = 1000 };
	void *block;

	start(&none);
	ck_assert_uint_eq(t.total, 0);
	ck_assert(!rt_pool_owns(&t));
	grow(1000, 5000);
	block = tlsf_malloc(&t, 5000);
	ck_assert_ptr_nonnull(block);
	ck_assert(rt_pool_owns_first(block));
}
END_TEST

START_TEST(it_grows_in_place_without_a_reserve)
{
	start(&megabyte);
	rt_pool_unreserve();
	grow(1 << 20, 1 << 19);
	ck_assert_uint_eq(t.total, 2 << 20);
	ck_assert_uint_gt(tlsf_largest(&t), (2 << 20) - 4096);
}
END_TEST

START_TEST(it_grows_elsewhere_when_the_place_is_taken)
{
	void *behind, *block;

	start(&megabyte);
	rt_pool_unreserve();
	behind = mmap((void *)end_of(&rt_pool_spans[0]), 4096, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_uint_eq((uintptr_t)behind, end_of(&rt_pool_spans[0]));
	grow(4 << 20, 3 << 20);
	ck_assert_uint_eq(rt_pool_spans[1].bytes, 4 << 20);
	block = tlsf_malloc(&t, 3 << 20);
	ck_assert(rt_pool_owns(block) && !rt_pool_owns_first(block));
}
END_TEST

static void
limit_addresses(rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Whatever the process has already, more than it has is not there. */
START_TEST(growth_that_cannot_be_had_keeps_nothing)
{
	struct rt_growth g;

	start(&megabyte);
	limit_addresses(1 << 20);
	ck_assert(rt_pool_plan(100, TLSF_ALIGN, 1 << 30, &g));
	ck_assert(!rt_pool_get(&g));
	limit_addresses(RLIM_INFINITY);
	ck_assert_uint_eq(t.total, 1 << 20);
	ck_assert_uint_eq(rt_pool_spans[0].bytes, 1 << 20);
	grow(100, 1000);
	ck_assert_uint_eq(t.total, (1 << 20) + 3100);
}
END_TEST

/* Without the small reserve each growth would be another region. */
START_TEST(many_small_growths_fit_under_a_limit)
{
	const struct rt_settings small = { .initial = 4096 };

	limit_addresses(UINT64_C(1) << 46);
	start(&small);
	for (int i = 0; i < 1000; i++)
		grow(1000, 4000);
	ck_assert_uint_eq(t.total, 4096 + 1000 * 15000);
}
END_TEST

static void
add(TCase *c)
{
	tcase_add_test(c, a_thousand_bytes_by_hundreds_take_five_steps);
	tcase_add_loop_test(c, the_last_step_and_no_other_serves_by_itself, 0,
	    40);
	tcase_add_test(c, what_no_growth_serves_has_no_plan);
	tcase_add_test(c, the_pool_counts_exactly_the_bytes_named);
	tcase_add_test(c, a_grown_pool_is_one_free_block);
	tcase_add_test(c,
	    the_initial_pool_is_ours_and_its_neighbours_are_not);
	tcase_add_test(c, no_pool_at_first_is_a_pool_later);
	tcase_add_test(c, it_grows_in_place_without_a_reserve);
	tcase_add_test(c, it_grows_elsewhere_when_the_place_is_taken);
	tcase_add_test(c, growth_that_cannot_be_had_keeps_nothing);
	tcase_add_test(c, many_small_growths_fit_under_a_limit);
}

int
main(void)
{
	return unit_run("pool", add);
}
