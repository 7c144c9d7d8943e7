/* SPDX-License-Identifier: Apache-2.0 */
/* What programs do wrong: it is named, and the heap is left as it was. */
#include "heap.h"

enum { POOL = 64 * 1024 };

static char *pool;
static char *a, *b, *c;		/* in a row, with more behind */

static void
three(void)
{
	if (pool)
		munmap(pool, POOL);
	pool = pool_of(POOL);
	a = take(100);
	b = take(200);
	c = take(300);
	ck_assert_ptr_nonnull(take(400));
}

/* BLOCK cannot be freed, for this reason. */
static void
refuses_to_free(void *block, enum tlsf_fault fault)
{
	static char before[POOL];
	static struct tlsf heap;

	t.fault = TLSF_FINE;
	t.fault_at = NULL;
	heap = t;
	memcpy(before, pool, POOL);
	ck_assert_int_eq(tlsf_free(&t, block), fault);
	ck_assert_int_eq(t.fault, fault);
	ck_assert_ptr_eq(t.fault_at, block);
	t.fault = TLSF_FINE;
	t.fault_at = NULL;
	ck_assert_int_eq(memcmp(&heap, &t, sizeof(t)), 0);
	ck_assert_int_eq(memcmp(before, pool, POOL), 0);
}

static void
refuses_to_resize(void *block, size_t size, enum tlsf_fault fault)
{
	t.fault = TLSF_FINE;
	ck_assert(!tlsf_resize(&t, block, size));
	ck_assert_int_eq(t.fault, fault);
	t.fault = TLSF_FINE;
}

static void
refuses_to_move(void *block, size_t size, enum tlsf_fault fault)
{
	uint64_t used = t.used;

	t.fault = TLSF_FINE;
	ck_assert_ptr_null(tlsf_realloc(&t, block, 16, size));
	ck_assert_int_eq(t.fault, fault);
	ck_assert_uint_eq(t.used, used);
	t.fault = TLSF_FINE;
}

static void
refuses(void *block, enum tlsf_fault fault)
{
	refuses_to_free(block, fault);
	refuses_to_resize(block, 10, fault);
	refuses_to_move(block, 5000, fault);
	refuses_to_free(block, fault);
}

static const unsigned char fillers[] = {
	0, 1, 'A', 'a', ' ', '\n', 0x55, 0xaa, 0x7f, 0x80, 0xcc, 0xfe, 0xff,
};

/* One byte too many, at the end of BLOCK. */
static char
overflow(char *block, unsigned char with)
{
	char *at = block + tlsf_usable(block), old = *at;

	*at = (char)with;
	return old;
}

START_TEST(a_byte_beyond_a_block_is_found_with_either_free)
{
	for (size_t i = 0; i < sizeof(fillers); i++) {
		three();
		overflow(b, fillers[i]);
		refuses(b, TLSF_NEXT_SMASHED);
		refuses_to_resize(b, 1000, TLSF_NEXT_SMASHED);
		refuses(c, TLSF_NO_BLOCK);
		ck_assert_ptr_nonnull(tlsf_check(&t));
	}
}
END_TEST

START_TEST(a_byte_into_a_free_block_is_found_too)
{
	for (size_t i = 0; i < sizeof(fillers); i++) {
		three();
		give(c);
		overflow(b, fillers[i]);
		refuses(b, TLSF_NEXT_SMASHED);
		ck_assert_ptr_nonnull(tlsf_check(&t));
		/* The block itself, when it is to be handed out. */
		t.fault = TLSF_FINE;
		ck_assert_ptr_null(tlsf_malloc(&t, 300));
		ck_assert_int_eq(t.fault, TLSF_LIST_SMASHED);
		ck_assert_ptr_eq(t.fault_at, c);
	}
}
END_TEST

START_TEST(a_byte_into_the_end_of_an_area_is_found_too)
{
	for (size_t i = 0; i < sizeof(fillers); i++) {
		char *last;

		three();
		last = take(tlsf_largest(&t));
		overflow(last, fillers[i]);
		refuses(last, TLSF_NEXT_SMASHED);
		ck_assert_ptr_nonnull(tlsf_check(&t));
	}
}
END_TEST

START_TEST(only_the_right_byte_mends_it)
{
	char old;

	three();
	old = overflow(b, 'x');
	refuses(b, TLSF_NEXT_SMASHED);
	overflow(b, (unsigned char)old);
	t.fault = TLSF_FINE;
	give(b);
	give(c);
	give(a);
}
END_TEST

START_TEST(freeing_twice_is_found)
{
	three();
	give(b);
	refuses(b, TLSF_TWICE);
}
END_TEST

START_TEST(freeing_twice_is_found_after_neighbours_became_one)
{
	three();
	give(a);
	give(b);
	give(c);
	refuses(a, TLSF_TWICE);
	refuses(b, TLSF_TWICE);
	refuses(c, TLSF_TWICE);
	three();
	give(c);
	give(b);
	give(a);
	refuses(a, TLSF_TWICE);
	refuses(b, TLSF_TWICE);
	refuses(c, TLSF_TWICE);
}
END_TEST

START_TEST(what_moved_back_is_no_block_where_it_was)
{
	three();
	ck_assert(tlsf_resize(&t, b, 40));
	sound();
	give(a);
	ck_assert_ptr_eq(tlsf_realloc(&t, b, 16, 290), a);
	sound();
	refuses(b, TLSF_TWICE);
}
END_TEST

START_TEST(the_middle_of_a_block_is_none)
{
	three();
	memset(b, 'x', 200);
	for (char *p = b + 1; p < b + 200; p++)
		refuses(p, TLSF_NO_BLOCK);
	memset(b, 0, 200);
	for (char *p = b + 1; p < b + 200; p++)
		refuses(p, TLSF_NO_BLOCK);
}
END_TEST

START_TEST(what_is_elsewhere_is_no_block)
{
	static char elsewhere[64];
	char here[64] = { 0 };

	three();
	refuses(NULL, TLSF_NO_BLOCK);
	refuses(elsewhere + 16, TLSF_NO_BLOCK);
	refuses(here + 16, TLSF_NO_BLOCK);
	refuses((void *)16, TLSF_NO_BLOCK);
	refuses((void *)(UINTPTR_MAX - 15), TLSF_NO_BLOCK);
	refuses((void *)((uintptr_t)1 << 63), TLSF_NO_BLOCK);
	refuses(pool + POOL, TLSF_NO_BLOCK);
	refuses(pool, TLSF_NO_BLOCK);
	refuses(pool + POOL / 4 * 3, TLSF_NO_BLOCK);
}
END_TEST

START_TEST(a_wrong_size_is_found)
{
	static const uint32_t wrong[] = { 0, 1, 1 << 10, 1 << 20, UINT32_MAX };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		enum tlsf_fault fault;

		three();
		tlsf_header(b)->units = wrong[i];
		if (wrong[i] < 2)
			tlsf_header(b)->bits = 0;
		ck_assert_ptr_nonnull(tlsf_check(&t));
		fault = tlsf_free(&t, b);
		ck_assert(fault == TLSF_NO_BLOCK
		    || fault == TLSF_NEXT_SMASHED);
	}
}
END_TEST

/* C is free between blocks in use, alone on its list or between others. */
static void
free_among(unsigned others)
{
	char *more[4];

	three();
	for (unsigned i = 0; i < 4; i++) {
		more[i] = take(300);
		ck_assert_ptr_nonnull(take(1));
	}
	ck_assert_ptr_nonnull(take(tlsf_largest(&t)));
	for (unsigned i = 0; i < others; i++)
		give(more[i]);
	give(c);
	for (unsigned i = others; i < 2 * others; i++)
		give(more[i]);
}

static void
try_link(size_t place, unsigned char filler, unsigned others)
{
	/* 0 may be right there: the last of its list. */
	if (!filler && (!place || !others))
		return;
	free_among(others);
	memset(c + place, filler, 8);
	refuses_to_free(b, TLSF_LIST_SMASHED);
	ck_assert_ptr_nonnull(tlsf_check(&t));
}

START_TEST(a_smashed_link_is_found_before_it_is_followed)
{
	for (size_t i = 0; i < sizeof(fillers); i++)
		for (unsigned others = 0; others < 3; others++) {
			try_link(0, fillers[i], others);
			try_link(8, fillers[i], others);
		}
}
END_TEST

START_TEST(links_to_other_places_in_the_heap_are_found)
{
	for (size_t at = 0; at < 4000; at += 16) {
		char **link, *to;

		free_among(1);
		link = (char **)c;
		to = pool + at;
		/* But for what says that it is the neighbour. */
		if (to != link[0] && ((char **)to)[1] != c) {
			link[0] = to;
			refuses_to_free(b, TLSF_LIST_SMASHED);
		}
		free_among(1);
		link = (char **)c;
		to = pool + at;
		if (to != link[1] && *(char **)to != c) {
			link[1] = to;
			refuses_to_free(b, TLSF_LIST_SMASHED);
		}
	}
}
END_TEST

START_TEST(writing_to_a_freed_block_is_found_when_it_is_handed_out)
{
	for (size_t i = 1; i < sizeof(fillers); i++) {
		free_among(0);
		memset(c, fillers[i], 16);
		t.fault = TLSF_FINE;
		ck_assert_ptr_null(tlsf_malloc(&t, 300));
		ck_assert_int_eq(t.fault, TLSF_LIST_SMASHED);
		ck_assert_ptr_eq(t.fault_at, c);
	}
}
END_TEST

START_TEST(a_smashed_end_of_a_free_block_is_found)
{
	for (size_t i = 0; i < sizeof(fillers); i++) {
		three();
		give(b);
		memset(b + tlsf_usable(b) - 8, fillers[i], 8);
		refuses_to_free(c, TLSF_LIST_SMASHED);
		refuses_to_move(c, 5000, TLSF_LIST_SMASHED);
		ck_assert_ptr_nonnull(tlsf_check(&t));
	}
	for (size_t at = 0; at < 4000; at += 16) {
		char *to;

		three();
		give(b);
		to = pool + at;
		if (to == b)
			continue;
		memcpy(b + tlsf_usable(b) - 8, &to, 8);
		refuses_to_free(c, TLSF_LIST_SMASHED);
		refuses_to_move(c, 5000, TLSF_LIST_SMASHED);
	}
}
END_TEST

START_TEST(with_both_sides_free_nothing_changes_if_one_is_smashed)
{
	three();
	give(a);
	give(c);
	memset(a, 'x', 16);
	refuses_to_free(b, TLSF_LIST_SMASHED);
	three();
	give(a);
	give(c);
	memset(c, 'x', 16);
	refuses_to_free(b, TLSF_LIST_SMASHED);
}
END_TEST

START_TEST(nothing_becomes_longer_or_moves_over_smashed_links)
{
	three();
	give(c);
	memset(c, 'x', 16);
	refuses_to_resize(b, 300, TLSF_LIST_SMASHED);
	refuses_to_resize(b, 10, TLSF_LIST_SMASHED);
	refuses_to_move(b, 300, TLSF_LIST_SMASHED);
	refuses_to_move(b, 5000, TLSF_LIST_SMASHED);
	three();
	give(a);
	memset(a, 'x', 16);
	refuses_to_move(b, 300, TLSF_LIST_SMASHED);
	refuses_to_move(b, 5000, TLSF_LIST_SMASHED);
}
END_TEST

START_TEST(the_first_fault_is_kept)
{
	three();
	give(b);
	ck_assert_int_eq(tlsf_free(&t, b), TLSF_TWICE);
	ck_assert_int_eq(tlsf_free(&t, a + 16), TLSF_NO_BLOCK);
	ck_assert_int_eq(t.fault, TLSF_TWICE);
	ck_assert_ptr_eq(t.fault_at, b);
}
END_TEST

START_TEST(every_fault_has_a_name)
{
	ck_assert_ptr_null(tlsf_fault_name(TLSF_FINE));
	ck_assert_str_eq(tlsf_fault_name(TLSF_TWICE), "block freed twice");
	for (int i = TLSF_TWICE; i <= TLSF_LIST_SMASHED; i++)
		ck_assert_ptr_nonnull(tlsf_fault_name((enum tlsf_fault)i));
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, a_byte_beyond_a_block_is_found_with_either_free);
	tcase_add_test(tests, a_byte_into_a_free_block_is_found_too);
	tcase_add_test(tests, a_byte_into_the_end_of_an_area_is_found_too);
	tcase_add_test(tests, only_the_right_byte_mends_it);
	tcase_add_test(tests, freeing_twice_is_found);
	tcase_add_test(tests,
	    freeing_twice_is_found_after_neighbours_became_one);
	tcase_add_test(tests, what_moved_back_is_no_block_where_it_was);
	tcase_add_test(tests, the_middle_of_a_block_is_none);
	tcase_add_test(tests, what_is_elsewhere_is_no_block);
	tcase_add_test(tests, a_wrong_size_is_found);
	tcase_add_test(tests, a_smashed_link_is_found_before_it_is_followed);
	tcase_add_test(tests, links_to_other_places_in_the_heap_are_found);
	tcase_add_test(tests,
	    writing_to_a_freed_block_is_found_when_it_is_handed_out);
	tcase_add_test(tests, a_smashed_end_of_a_free_block_is_found);
	tcase_add_test(tests,
	    with_both_sides_free_nothing_changes_if_one_is_smashed);
	tcase_add_test(tests,
	    nothing_becomes_longer_or_moves_over_smashed_links);
	tcase_add_test(tests, the_first_fault_is_kept);
	tcase_add_test(tests, every_fault_has_a_name);
}

int
main(void)
{
	return unit_run("tlsf_faults", add);
}
