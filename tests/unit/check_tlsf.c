/* SPDX-License-Identifier: Apache-2.0 */
/* The pure heap, looked at as a whole after every step. */
#include "heap.h"

START_TEST(freed_neighbours_become_one_block)
{
	size_t all;
	void *a, *b, *c;

	pool_of(64 * 1024);
	all = tlsf_largest(&t);
	ck_assert_uint_eq(all, 64 * 1024 - TLSF_AREA_OVERHEAD - TLSF_OVERHEAD);
	a = tlsf_malloc(&t, 1000);
	sound();
	b = tlsf_malloc(&t, 2000);
	sound();
	c = tlsf_malloc(&t, 3000);
	sound();
	ck_assert_int_eq(tlsf_free(&t, a), TLSF_FINE);
	sound();
	ck_assert_int_eq(tlsf_free(&t, c), TLSF_FINE);
	sound();
	ck_assert_int_eq(tlsf_free(&t, b), TLSF_FINE);
	sound();
	ck_assert_uint_eq(tlsf_largest(&t), all);
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, freed_neighbours_become_one_block);
}

int
main(void)
{
	return unit_run("tlsf", add);
}
