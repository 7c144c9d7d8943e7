/* SPDX-License-Identifier: Apache-2.0 */
/* Which stretch of addresses holds an address. */
#include "tools/spans.h"

#include <stdlib.h>

#include "unit.h"

static char a, b, c;

START_TEST(of_none_nothing_is_found)
{
	struct spans s = { 0 };

	ck_assert_ptr_null(spans_find(&s, 0));
	spans_free(&s);
}
END_TEST

START_TEST(the_end_is_outside)
{
	struct spans s = { 0 };

	spans_add(&s, 20, 30, &b);
	spans_add(&s, 10, 20, &a);
	ck_assert_ptr_null(spans_find(&s, 9));
	ck_assert_ptr_eq(spans_find(&s, 10), &a);
	ck_assert_ptr_eq(spans_find(&s, 19), &a);
	ck_assert_ptr_eq(spans_find(&s, 20), &b);
	ck_assert_ptr_null(spans_find(&s, 30));
	spans_free(&s);
}
END_TEST

START_TEST(the_inner_one_is_found_and_behind_it_the_outer_one)
{
	struct spans s = { 0 };

	spans_add(&s, 12, 14, &b);
	spans_add(&s, 10, 20, &a);
	spans_add(&s, 14, 14, &c);
	ck_assert_ptr_eq(spans_find(&s, 11), &a);
	ck_assert_ptr_eq(spans_find(&s, 13), &b);
	ck_assert_ptr_eq(spans_find(&s, 14), &a);
	ck_assert_ptr_null(spans_find(&s, 20));
	spans_free(&s);
}
END_TEST

START_TEST(of_two_that_begin_together_the_first_added_is_found)
{
	struct spans s = { 0 };

	spans_add(&s, 10, 20, &a);
	spans_add(&s, 10, 30, &b);
	ck_assert_ptr_eq(spans_find(&s, 15), &a);
	ck_assert_ptr_eq(spans_find(&s, 25), &b);
	spans_free(&s);
}
END_TEST

START_TEST(what_is_added_later_is_found_too)
{
	struct spans s = { 0 };

	spans_add(&s, 10, 20, &a);
	ck_assert_ptr_eq(spans_find(&s, 15), &a);
	spans_add(&s, 0, 5, &b);
	ck_assert_ptr_eq(spans_find(&s, 4), &b);
	ck_assert_ptr_eq(spans_find(&s, 15), &a);
	spans_free(&s);
}
END_TEST

START_TEST(an_open_one_ends_where_the_next_one_begins)
{
	struct spans s = { 0 };

	spans_add_open(&s, 10, 100, &a);
	spans_add_open(&s, 10, 12, &c);
	ck_assert_ptr_eq(spans_find(&s, 99), &a);
	spans_add(&s, 20, 30, &b);
	ck_assert_ptr_eq(spans_find(&s, 19), &a);
	ck_assert_ptr_eq(spans_find(&s, 29), &b);
	ck_assert_ptr_null(spans_find(&s, 30));
	ck_assert_ptr_null(spans_find(&s, 99));
	spans_free(&s);
}
END_TEST

/* The last to begin, of these the first added: by looking at each. */
static const struct span *
looked_for(const struct span *all, size_t count, uint64_t address)
{
	const struct span *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (all[i].from <= address && address < all[i].to
		    && (!best || all[i].from > best->from))
			best = &all[i];
	return best;
}

START_TEST(any_stretches_are_found_as_by_looking_at_each)
{
	enum { COUNT = 200, ROOM = 1000 };
	struct span all[COUNT];
	struct spans s = { 0 };

	srand((unsigned)_i);
	for (size_t i = 0; i < COUNT; i++) {
		all[i].from = (uint64_t)(rand() % ROOM);
		all[i].to = all[i].from + (uint64_t)(rand() % 40);
		spans_add(&s, all[i].from, all[i].to, &all[i]);
	}
	for (uint64_t address = 0; address < ROOM; address++)
		ck_assert_ptr_eq(spans_find(&s, address),
		    looked_for(all, COUNT, address));
	spans_free(&s);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, of_none_nothing_is_found);
	tcase_add_test(t, the_end_is_outside);
	tcase_add_test(t, the_inner_one_is_found_and_behind_it_the_outer_one);
	tcase_add_test(t, of_two_that_begin_together_the_first_added_is_found);
	tcase_add_test(t, what_is_added_later_is_found_too);
	tcase_add_test(t, an_open_one_ends_where_the_next_one_begins);
	tcase_add_loop_test(t, any_stretches_are_found_as_by_looking_at_each,
	    0, 20);
}

int
main(void)
{
	return unit_run("spans", add);
}
