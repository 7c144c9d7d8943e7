/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that become longer and shorter: where they go, and that they keep
 * what they hold. */
#include "heap.h"

enum { KIB = 1024 };

/* Three blocks in a row, of 1000 bytes each, and one that ends them. */
static char *left, *block, *right;

static void
three(size_t size)
{
	pool_of(256 * KIB);
	left = take(1000);
	block = take(size);
	right = take(1000);
	ck_assert_ptr_nonnull(take(1));
	for (size_t i = 0; i < size; i++)
		block[i] = (char)(i * 7);
	tlsf_header(block)->label = 77;
}

static void
kept(const char *now, size_t size)
{
	size_t i = 0;

	while (i < size && now[i] == (char)(i * 7))
		i++;
	ck_assert_uint_eq(i, size);
	ck_assert_int_eq(tlsf_header(now)->label, 77);
	ck_assert(tlsf_is(now, TLSF_USED));
}

static char *
to(size_t align, size_t size)
{
	char *now = tlsf_realloc(&t, block, align, size);

	sound();
	if (now) {
		ck_assert_uint_ge(tlsf_usable(now), size);
		ck_assert_uint_eq((uintptr_t)now % align, 0);
	}
	return now;
}

START_TEST(a_block_grows_into_what_is_free_behind_it)
{
	three(1000);
	give(right);
	ck_assert_ptr_eq(to(16, 2000), block);
	kept(block, 1000);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(a_block_grows_into_a_part_of_what_is_free_behind_it)
{
	size_t used;

	three(1000);
	give(right);
	used = t.used;
	ck_assert(tlsf_resize(&t, block, 1500));
	sound();
	kept(block, 1000);
	ck_assert_uint_le(t.used - used, 500 + 1500 / 32 + 16);
	ck_assert_uint_eq(see().free_blocks, 2);
}
END_TEST

START_TEST(a_block_moves_back_into_what_is_free_before_it)
{
	three(1000);
	give(left);
	ck_assert(!tlsf_resize(&t, block, 2000));
	ck_assert_ptr_eq(to(16, 2000), left);
	kept(left, 1000);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(a_block_moves_back_and_leaves_the_rest_free)
{
	three(1000);
	give(left);
	ck_assert_ptr_eq(to(16, 1200), left);
	kept(left, 1000);
	ck_assert_uint_eq(see().free_blocks, 2);
}
END_TEST

START_TEST(a_block_takes_what_is_free_on_both_sides)
{
	three(1000);
	give(left);
	give(right);
	ck_assert_ptr_eq(to(16, 3000), left);
	kept(left, 1000);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(a_block_goes_elsewhere_when_its_neighbours_do_not_suffice)
{
	uint64_t used;
	char *now;

	three(1000);
	give(left);
	give(right);
	used = t.used;
	now = to(16, 5000);
	ck_assert(now > right);
	kept(now, 1000);
	ck_assert_uint_eq(t.blocks, 2);
	ck_assert_uint_le(t.used - used, 4000 + 5000 / 32 + 16);
	ck_assert_uint_eq(see().free_blocks, 2);
}
END_TEST

START_TEST(a_block_that_finds_no_room_stays_as_it_is)
{
	three(1000);
	give(right);
	give(left);
	ck_assert_ptr_null(to(16, 300 * KIB));
	kept(block, 1000);
	ck_assert_int_eq(t.fault, TLSF_FINE);
	ck_assert_uint_eq(t.blocks, 2);
}
END_TEST

START_TEST(a_shorter_block_gives_its_tail_back)
{
	size_t free_before;

	three(1000);
	free_before = see().free_blocks;
	ck_assert_ptr_eq(to(16, 100), block);
	kept(block, 100);
	ck_assert_uint_eq(see().free_blocks, free_before + 1);
	give(right);
	ck_assert_uint_eq(see().free_blocks, free_before + 1);
	ck_assert_ptr_eq(to(16, 0), block);
	ck_assert_uint_eq(tlsf_usable(block), TLSF_LEAST);
	ck_assert_ptr_eq(to(16, 1800), block);
	kept(block, 24);
}
END_TEST

START_TEST(the_same_size_changes_nothing)
{
	for (size_t size = 0; size < 3000; size += 7) {
		size_t usable;

		three(size);
		give(right);
		usable = tlsf_usable(block);
		ck_assert_ptr_eq(to(16, size), block);
		ck_assert_uint_eq(tlsf_usable(block), usable);
		kept(block, size);
	}
}
END_TEST

START_TEST(an_aligned_block_stays_aligned_wherever_it_goes)
{
	for (size_t align = 32; align <= 4096; align *= 2) {
		char *now;

		three(10);
		give(left);
		now = to(align, 300);
		ck_assert_ptr_nonnull(now);
		kept(now, 10);
		for (size_t size = 1; size < 20000; size += size / 2 + 1) {
			block = now;
			now = to(align, size);
			ck_assert_ptr_nonnull(now);
			kept(now, 1);
		}
	}
}
END_TEST

START_TEST(a_block_does_not_move_back_to_where_it_is_not_aligned)
{
	char *now;

	pool_of(256 * KIB);
	left = take(24);
	left = take(100);
	block = tlsf_memalign(&t, 1024, 1000);
	right = take(4000);
	ck_assert(right > block);
	for (size_t i = 0; i < 1000; i++)
		block[i] = (char)(i * 7);
	tlsf_header(block)->label = 77;
	give(left);
	now = to(1024, 1100);
	ck_assert(now > block);
	kept(now, 1000);
}
END_TEST

START_TEST(growing_step_by_step_keeps_everything)
{
	pool_of(4096 * KIB);
	block = take(1);
	tlsf_header(block)->label = 77;
	for (size_t size = 1; size < 8000; size += 13) {
		block = to(16, size + 13);
		ck_assert_ptr_nonnull(block);
		for (size_t i = size - 1; i < size + 13; i++)
			block[i] = (char)(i * 7);
		kept(block, size);
	}
	give(block);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(what_was_resized_serves_its_size_again_when_freed)
{
	for (size_t size = 100; size < 4000; size += 11) {
		three(40);
		give(right);
		while (take(4000) || take(500) || take(24))
			;
		if (!tlsf_resize(&t, block, size))
			continue;
		give(block);
		ck_assert_ptr_eq(take(size), block);
	}
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, a_block_grows_into_what_is_free_behind_it);
	tcase_add_test(tests,
	    a_block_grows_into_a_part_of_what_is_free_behind_it);
	tcase_add_test(tests, a_block_moves_back_into_what_is_free_before_it);
	tcase_add_test(tests, a_block_moves_back_and_leaves_the_rest_free);
	tcase_add_test(tests, a_block_takes_what_is_free_on_both_sides);
	tcase_add_test(tests,
	    a_block_goes_elsewhere_when_its_neighbours_do_not_suffice);
	tcase_add_test(tests, a_block_that_finds_no_room_stays_as_it_is);
	tcase_add_test(tests, a_shorter_block_gives_its_tail_back);
	tcase_add_test(tests, the_same_size_changes_nothing);
	tcase_add_test(tests, an_aligned_block_stays_aligned_wherever_it_goes);
	tcase_add_test(tests,
	    a_block_does_not_move_back_to_where_it_is_not_aligned);
	tcase_add_test(tests, growing_step_by_step_keeps_everything);
	tcase_add_test(tests,
	    what_was_resized_serves_its_size_again_when_freed);
}

int
main(void)
{
	return unit_run("tlsf_realloc", add);
}
