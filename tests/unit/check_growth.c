/* SPDX-License-Identifier: Apache-2.0 */
/* What rises steadily, and what only seems to. */
#include "tools/growth.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { TICKS = 100 * 1000 * 1000, STEPS = 20000 };

static struct growth_clock clock;
static struct growth g;
static uint64_t live;

static void
begin(void)
{
	growth_start(&clock, 1000);
	memset(&g, 0, sizeof g);
	live = 0;
}

static void
become(uint64_t bytes, unsigned step)
{
	growth_now(&clock, 1000 + (uint64_t)TICKS / STEPS * step);
	growth_before(&g, &clock, live);
	live = bytes;
	growth_after(&g, live);
}

/* Bytes a step. */
static double
slope(void)
{
	uint64_t sum[GROWTH_POINTS] = { 0 };
	double found;

	become(live, STEPS);
	growth_add(sum, &g);
	found = growth_slope(sum, clock.at + 1) / (double)clock.width
	    * (TICKS / STEPS);
	free(g.low);
	return found;
}

/* What it is at each step. */
static double
slope_of(uint64_t (*at)(unsigned step))
{
	begin();
	for (unsigned i = 0; i < STEPS; i++)
		become(at(i), i);
	return slope();
}

static uint64_t
noise(unsigned step)
{
	return step * UINT64_C(2654435761) % 100000 / 3;
}

static uint64_t
line(unsigned step)
{
	return 16 * step;
}

static uint64_t
line_under_noise(unsigned step)
{
	return 16 * step + noise(step);
}

static uint64_t
only_noise(unsigned step)
{
	return noise(step);
}

static uint64_t
start_up(unsigned step)
{
	return step < STEPS / 4 ? 1000 * step : 1000 * (STEPS / 4);
}

static uint64_t
half_way(unsigned step)
{
	return step < STEPS / 2 ? 1000 * step : 1000 * (STEPS / 2);
}

static uint64_t
saturation(unsigned step)
{
	uint64_t room = 1 << 20;

	for (unsigned i = 0; i < step; i += STEPS / 100)
		room -= room / 25;
	return (1 << 20) - room;
}

static uint64_t
doubling(unsigned step)
{
	uint64_t room = 16;

	while (room < step)
		room *= 2;
	return room;
}

static uint64_t
phases(unsigned step)
{
	return step % (STEPS / 4) * 16;
}

static uint64_t
all_given_back(unsigned step)
{
	return step < STEPS - STEPS / 50 ? 16 * step : 0;
}

static uint64_t
few_steps(unsigned step)
{
	return step / (STEPS / 7) * 100000;
}

static uint64_t
rare_blocks(unsigned step)
{
	return step / (STEPS / 40) * 16;
}

START_TEST(a_line_has_its_slope)
{
	ck_assert_double_eq_tol(slope_of(line), 16, 0.01);
	ck_assert_double_eq_tol(slope_of(rare_blocks), 16.0 / (STEPS / 40),
	    0.001);
}
END_TEST

START_TEST(noise_above_it_is_no_matter)
{
	ck_assert_double_eq_tol(slope_of(line_under_noise), 16, 0.5);
}
END_TEST

START_TEST(what_does_not_go_on_rising_has_none)
{
	ck_assert_double_eq(slope_of(only_noise), 0);
	ck_assert_double_eq(slope_of(start_up), 0);
	ck_assert_double_eq(slope_of(half_way), 0);
	ck_assert_double_eq(slope_of(saturation), 0);
	ck_assert_double_eq(slope_of(doubling), 0);
	ck_assert_double_eq(slope_of(phases), 0);
	ck_assert_double_eq(slope_of(all_given_back), 0);
	ck_assert_double_eq(slope_of(few_steps), 0);
}
END_TEST

START_TEST(a_point_has_the_least_that_was_live_in_it)
{
	uint64_t sum[GROWTH_POINTS] = { 0 };

	begin();
	become(100, 0);
	become(70, STEPS / 2);
	become(10, STEPS / 2 + 1);
	become(90, STEPS / 2 + 2);
	become(90, STEPS);
	growth_add(sum, &g);
	ck_assert_uint_ge(clock.at, GROWTH_POINTS / 2);
	ck_assert_uint_lt(clock.at, GROWTH_POINTS);
	ck_assert_uint_eq(sum[0], 0);		/* before it came */
	for (unsigned i = 1; i <= clock.at; i++) {
		uint64_t from = i * clock.width;
		uint64_t dip = (uint64_t)TICKS / 2;

		ck_assert_uint_eq(sum[i], from > dip ? 90
		    : from + clock.width > dip ? 10 : 100);
	}
	free(g.low);
}
END_TEST

START_TEST(what_is_given_back_at_once_has_no_history)
{
	begin();
	for (unsigned i = 0; i < STEPS; i++) {
		become(100, i);
		become(0, i);
	}
	ck_assert_ptr_null(g.low);
	ck_assert_double_eq(slope(), 0);
}
END_TEST

START_TEST(too_short_a_history_tells_nothing)
{
	uint64_t low[GROWTH_POINTS];

	for (unsigned i = 0; i < GROWTH_POINTS; i++)
		low[i] = 16 * i;
	ck_assert_double_eq(growth_slope(low, 1), 0);
	ck_assert_double_eq(growth_slope(low, GROWTH_POINTS / 2 - 1), 0);
	ck_assert_double_eq(growth_slope(low, GROWTH_POINTS / 2), 16);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, a_line_has_its_slope);
	tcase_add_test(t, noise_above_it_is_no_matter);
	tcase_add_test(t, what_does_not_go_on_rising_has_none);
	tcase_add_test(t, a_point_has_the_least_that_was_live_in_it);
	tcase_add_test(t, what_is_given_back_at_once_has_no_history);
	tcase_add_test(t, too_short_a_history_tells_nothing);
}

int
main(void)
{
	return unit_run("growth", add);
}
