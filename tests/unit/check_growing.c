/* SPDX-License-Identifier: Apache-2.0 */
/* Which sites of a log are said to grow, and how fast. */
#include <math.h>
#include <stdbool.h>

#include "logmaker.h"
#include "made.h"
#include "unit.h"

enum { STEPS = 2000, STEP = 1000000 };	/* ns */

static struct maker m;
static struct profile p;

/* Site 1 is there. */
static void
begin(uint64_t sample)
{
	maker_begin(&m);
	m.head.h.stack_depth = 32;
	m.head.h.sample_bytes = sample;
	maker_slot(&m, 1, "main", 0);
	maker_object(&m, 0, 0x400000, 0x400000, 0x10000, "");
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 0, 2, 0, 0x400200);
}

static uint64_t
address(unsigned block)
{
	return UINT64_C(0x1000) * (block + 1);
}

/* Of the only site with live bytes: how many more each second. */
static double
growth(void)
{
	const struct profile_part part = { .to_s = INFINITY };
	double found = -1;

	made_once(&p, &part, maker_save(&m));
	for (size_t i = 0; i < p.site_count; i++) {
		if (!p.sites[i].live_bytes)
			continue;
		ck_assert_msg(found < 0, "two sites");
		found = p.sites[i].growth;
	}
	profile_free(&p);
	maker_end(&m);
	return found;
}

START_TEST(an_array_that_grows_by_realloc_has_no_dips)
{
	begin(0);
	for (unsigned i = 1; i <= STEPS; i++)
		for (unsigned k = 0; k < (unsigned)_i; k++)
			maker_realloc_at(&m, 0, i > 1 ? address(k) : 0,
			    address(k), 16 * i, k ? 0 : STEP, 1);
	ck_assert_double_eq_tol(growth(), 16e3 * _i, 1e3);
}
END_TEST

START_TEST(a_block_that_moves_to_another_site_leaves_its_own)
{
	begin(0);
	for (unsigned i = 0; i < STEPS; i++) {
		maker_malloc_at(&m, 0, address(i), 16, STEP, 1);
		maker_realloc_at(&m, 0, address(i), address(i), 16, 0, 2);
	}
	ck_assert_double_eq_tol(growth(), 16e3, 1e3);
}
END_TEST

enum { MEAN = 1 << 16, SIZE = 1000 };

/* First FIRST blocks, one by one MORE, and at each step a new one for the
 * oldest if it is a CACHE. */
static void
collect(unsigned first, unsigned more, bool cache)
{
	unsigned count = 0, gone = 0;

	for (unsigned i = 0; i < first; i++)
		maker_malloc_at(&m, 0, address(count++), SIZE, 0, 1);
	for (unsigned i = 0; i < STEPS; i++) {
		if (i * more % STEPS + more >= STEPS)
			maker_malloc_at(&m, 0, address(count++), SIZE, 0, 1);
		maker_bare(&m, 0, LOG_X_TIME, STEP);
		if (!cache)
			continue;
		maker_malloc_at(&m, 0, address(count++), SIZE, 0, 1);
		maker_free(&m, 0, address(gone++), 0);
	}
}

START_TEST(what_a_sample_of_a_full_cache_has_by_chance_is_no_growth)
{
	begin(0);
	collect(300, 60, true);
	ck_assert_double_eq_tol(growth(), 30 * SIZE, SIZE);
	begin(MEAN);
	collect(300, 60, true);
	ck_assert_double_eq(growth(), 0);
}
END_TEST

START_TEST(what_stays_makes_no_growth_doubtful)
{
	begin(MEAN);
	collect(300, 60, false);
	ck_assert_double_eq_tol(growth(), 30 * (MEAN + SIZE / 2), MEAN);
}
END_TEST

START_TEST(a_few_blocks_of_a_sample_are_no_growth)
{
	begin(0);
	collect(0, 24, false);
	ck_assert_double_gt(growth(), 0);
	begin(MEAN);
	collect(0, 24, false);
	ck_assert_double_eq(growth(), 0);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_loop_test(t, an_array_that_grows_by_realloc_has_no_dips, 1,
	    4);
	tcase_add_test(t, a_block_that_moves_to_another_site_leaves_its_own);
	tcase_add_test(t,
	    what_a_sample_of_a_full_cache_has_by_chance_is_no_growth);
	tcase_add_test(t, what_stays_makes_no_growth_doubtful);
	tcase_add_test(t, a_few_blocks_of_a_sample_are_no_growth);
}

int
main(void)
{
	return unit_run("growing", add);
}
