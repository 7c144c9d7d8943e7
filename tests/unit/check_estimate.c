/* SPDX-License-Identifier: Apache-2.0 */
/* What a block of a sample stands for. */
#include "tools/estimate.h"

#include <inttypes.h>

#include "unit.h"

static struct estimate
of(uint64_t size, double mean)
{
	const struct block b = { .address = 16, .requested = size };

	return estimate_block(&b, mean);
}

START_TEST(one_that_was_sure_to_be_chosen_is_one)
{
	const struct estimate e = of(1 << 20, 1000);

	ck_assert_uint_eq(e.blocks, 1 << ESTIMATE_SHIFT);
	ck_assert_uint_eq(e.bytes, 1 << 20);
	ck_assert_uint_eq(estimate_error(e.variance), 0);
}
END_TEST

/* By bc -l, 1/(1 - e(-x)). */
START_TEST(the_less_likely_it_was_the_more_it_is)
{
	static const struct {
		uint64_t size, blocks;	/* a million times those */
		double mean;
	} known[] = {
		{ 1000, 1581977, 1000 }, { 500, 2541494, 1000 },
		{ 3000, 1052396, 1000 }, { 10, 100500833, 1000 },
		{ 16, 63001333, 1000 }, { 64, 8192500010, 524288 },
		{ 524288, 1581977, 524288 },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const struct estimate e = of(known[i].size, known[i].mean);
		double got = (double)e.blocks * 1e6 / (1 << ESTIMATE_SHIFT);
		double off = got / (double)known[i].blocks - 1;

		ck_assert_msg(off < 2e-5 && off > -2e-5, "%" PRIu64
		    " of %.0f is %.0f", known[i].size, known[i].mean, got);
	}
}
END_TEST

START_TEST(bytes_are_usable_ones_by_the_chance_of_what_was_asked_for)
{
	const struct block b = { .address = 16, .requested = 1000,
	    .excess = 8 };

	ck_assert_uint_eq(estimate_block(&b, 1000).bytes, 1595);
}
END_TEST

START_TEST(no_bytes_are_as_good_as_one)
{
	ck_assert_uint_eq(of(0, 64).blocks, of(1, 64).blocks);
	ck_assert_uint_gt(of(0, 64).blocks, 64 << ESTIMATE_SHIFT);
}
END_TEST

START_TEST(an_error_is_three_roots_and_never_negative)
{
	ck_assert_uint_eq(estimate_error(0), 0);
	ck_assert_uint_eq(estimate_error(-1e-3), 0);
	ck_assert_uint_eq(estimate_error(0.25), 2);
	ck_assert_uint_eq(estimate_error(1e12), 3000000);
	ck_assert_uint_eq(estimate_error(2e30), UINT64_C(4242640687119285));
}
END_TEST

START_TEST(of_nothing_there_are_less_than_six_means)
{
	ck_assert(estimate_of_nothing(524288) == 6 * 524288.);
	ck_assert(estimate_of_nothing(ESTIMATE_MEAN_MOST) == 0x6p40);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, one_that_was_sure_to_be_chosen_is_one);
	tcase_add_test(t, the_less_likely_it_was_the_more_it_is);
	tcase_add_test(t,
	    bytes_are_usable_ones_by_the_chance_of_what_was_asked_for);
	tcase_add_test(t, no_bytes_are_as_good_as_one);
	tcase_add_test(t, an_error_is_three_roots_and_never_negative);
	tcase_add_test(t, of_nothing_there_are_less_than_six_means);
}

int
main(void)
{
	return unit_run("estimate", add);
}
