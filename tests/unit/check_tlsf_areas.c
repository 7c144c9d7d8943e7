/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is handed in, in pieces of all kinds. */
#include <stdio.h>

#include "heap.h"

enum { ARENA = 1 << 20, PIECES = 64 };

static char *arena;
static uint64_t seed = 20260101;

static void
start(void)
{
	if (!arena)
		arena = sparse(ARENA);
	ck_assert_ptr_nonnull(arena);
	/* What is handed in may hold anything, say old ends of areas. */
	for (char *at = arena + 16; at < arena + ARENA; at += 16)
		tlsf_set(at, TLSF_END);
	tlsf_init(&t);
}

/* The same answer of the heap as a whole, after each. */
static bool
hand_in(size_t at, size_t bytes)
{
	uint64_t total = t.total;
	bool done = tlsf_add(&t, arena + at, bytes);

	sound();
	ck_assert_uint_eq(t.total, total + bytes);
	return done;
}

/* What is there can be had, all of it, and comes back. */
static void
usable(size_t at_least)
{
	size_t all = tlsf_largest(&t);
	char *block;

	ck_assert_uint_ge(all, at_least);
	block = take(all);
	ck_assert_ptr_nonnull(block);
	memset(block, TLSF_END, all);
	sound();
	give(block);
	ck_assert_uint_eq(tlsf_largest(&t), all);
}

START_TEST(an_area_serves_what_it_says)
{
	for (size_t bytes = 1; bytes < 700; bytes++) {
		for (size_t size = 0; size < 700; size++) {
			bool says = tlsf_area_serves(bytes, 16, size);

			tlsf_init(&t);
			if (!size)
				start();
			tlsf_add(&t, arena, bytes);
			ck_assert_int_eq(tlsf_malloc(&t, size) != NULL, says);
		}
		sound();
	}
}
END_TEST

START_TEST(an_area_serves_aligned_requests_wherever_it_lies)
{
	start();
	for (size_t align = 32; align <= 1024; align *= 4)
		for (size_t bytes = 64; bytes < 6000; bytes += 7) {
			size_t size = random_number(&seed) % bytes;
			size_t at = random_number(&seed) % 256 * 16;

			tlsf_init(&t);
			tlsf_add(&t, arena + at, bytes);
			if (tlsf_area_serves(bytes, align, size))
				ck_assert_ptr_nonnull(tlsf_memalign(&t, align,
				    size));
			sound();
		}
}
END_TEST

START_TEST(an_area_may_begin_and_end_anywhere)
{
	for (size_t at = 0; at < 17; at++)
		for (size_t bytes = 1; bytes < 200; bytes++) {
			bool done;

			start();
			done = hand_in(at, bytes);
			ck_assert_int_eq(done, see().free_blocks == 1);
			if (bytes >= 64 + 30)
				ck_assert(done);
			if (done)
				usable(bytes > 94 ? bytes - 70 : 1);
			memset(arena, 0, at);
			memset(arena + at + bytes, 0, 64);
			sound();
		}
}
END_TEST

/* Three that touch, in this order, are one. */
static void
try_order(const size_t cuts[4], const int order[3])
{
	start();
	for (int i = 0; i < 3; i++)
		hand_in(cuts[order[i]], cuts[order[i] + 1] - cuts[order[i]]);
	ck_assert_uint_eq(areas(), 1);
	ck_assert_uint_eq(see().free_blocks, 1);
	usable(cuts[3] - cuts[0] - 32 - 8 - 30);
}

START_TEST(areas_that_touch_are_one_in_whatever_order_they_come)
{
	static const int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};

	for (unsigned i = 0; i < 600; i++) {
		size_t cuts[4] = { random_number(&seed) % 40 };

		for (int k = 1; k < 4; k++)
			cuts[k] = cuts[k - 1] + 100
			    + random_number(&seed) % 300;
		try_order(cuts, orders[i % 6]);
	}
}
END_TEST

START_TEST(areas_that_do_not_touch_stay_apart)
{
	for (size_t gap = 1; gap < 100; gap++) {
		start();
		ck_assert(hand_in(0, 1000));
		ck_assert(hand_in(1000 + gap, 1000));
		ck_assert(hand_in(2000 + 2 * gap, 1000));
		ck_assert_uint_eq(areas(), 3);
		ck_assert_uint_eq(see().free_blocks, 3);
		ck_assert_ptr_null(take(1000));
	}
}
END_TEST

START_TEST(growth_upwards_is_usable_as_a_whole)
{
	for (size_t first = 1; first < 200; first++) {
		size_t at = first % 16, end = at;

		start();
		for (size_t bytes = first; end + bytes < 60000; bytes *= 2) {
			hand_in(end, bytes);
			end += bytes;
		}
		ck_assert_uint_eq(areas(), 1);
		ck_assert_uint_eq(see().free_blocks, 1);
		usable(end - at - 32 - 8 - 30);
	}
}
END_TEST

START_TEST(growth_downwards_is_usable_as_a_whole)
{
	for (size_t first = 1; first < 200; first++) {
		size_t at = ARENA - first % 16, end = at;

		start();
		for (size_t bytes = first; end - at < 30000; bytes *= 2) {
			at -= bytes;
			hand_in(at, bytes);
		}
		ck_assert_uint_eq(areas(), 1);
		ck_assert_uint_eq(see().free_blocks, 1);
		usable(end - at - 32 - 8 - 30);
	}
}
END_TEST

START_TEST(tiny_pieces_add_up_even_while_blocks_are_in_use)
{
	for (size_t bytes = 1; bytes <= 200; bytes++) {
		size_t end = 0;
		void *block = NULL;

		start();
		while (end < 4000) {
			hand_in(end, bytes);
			end += bytes;
			/* The end is in use, so nothing can be joined. */
			if (!block)
				block = take(tlsf_largest(&t));
		}
		give(block);
		ck_assert_uint_eq(areas(), 1);
		ck_assert_uint_eq(see().free_blocks, 1);
		usable(end - 32 - 8 - 30);
	}
}
END_TEST

START_TEST(pieces_before_a_block_in_use_add_up_too)
{
	for (size_t bytes = 1; bytes <= 40; bytes++) {
		size_t at = 5000;
		void *block;

		start();
		ck_assert(hand_in(at, 200));
		block = take(tlsf_largest(&t));
		while (at > 2000) {
			at -= bytes;
			hand_in(at, bytes);
		}
		give(block);
		ck_assert_uint_eq(see().free_blocks, 1);
		usable(5200 - at - 32 - 8 - 30);
	}
}
END_TEST

/* The arena cut into pieces, these handed in in any order, while blocks are
 * taken and given: in the end it is one free block. */
static void
try_pieces(size_t most)
{
	size_t cuts[PIECES + 1], order[PIECES];
	void *block = NULL;

	start();
	cuts[0] = random_number(&seed) % 32;
	for (size_t i = 0; i < PIECES; i++) {
		cuts[i + 1] = cuts[i] + 200 + random_number(&seed) % most;
		order[i] = i;
	}
	for (size_t i = PIECES; i > 1; i--) {
		size_t k = random_number(&seed) % i, kept = order[i - 1];

		order[i - 1] = order[k];
		order[k] = kept;
	}
	for (size_t i = 0; i < PIECES; i++) {
		size_t k = order[i];

		hand_in(cuts[k], cuts[k + 1] - cuts[k]);
		if (block)
			give(block);
		block = take(random_number(&seed) % most);
	}
	if (block)
		give(block);
	ck_assert_uint_eq(areas(), 1);
	ck_assert_uint_eq(see().free_blocks, 1);
	usable(cuts[PIECES] - cuts[0] - 32 - 8 - 30);
}

START_TEST(an_arena_in_pieces_comes_together)
{
	for (unsigned i = 0; i < 200; i++)
		try_pieces(1 + i * 20);
}
END_TEST

START_TEST(free_space_goes_on_across_the_seam_of_areas)
{
	char *block;

	start();
	ck_assert(hand_in(2000, 1000));
	ck_assert(hand_in(0, 1000));
	block = take(800);
	ck_assert(hand_in(1000, 1000));
	ck_assert(tlsf_resize(&t, block, 2800));
	sound();
	memset(block, TLSF_KEPT, 2800);
	sound();
	give(block);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(areas_do_not_become_one_beyond_what_a_block_may_be)
{
	size_t tib = (size_t)1 << 40;
	char *memory = sparse(5 * tib);

	if (!memory) {
		printf("# SKIP no 5 TiB of addresses here\n");
		return;
	}
	tlsf_init(&t);
	ck_assert(tlsf_add(&t, memory, 3 * tib));
	ck_assert(tlsf_add(&t, memory + 3 * tib, 2 * tib));
	sound();
	ck_assert_uint_eq(areas(), 2);
	ck_assert_uint_eq(tlsf_largest(&t), 3 * tib - 32 - 8);
	give(take(3 * tib - 32 - 8));
	ck_assert_uint_eq(see().free_blocks, 2);
}
END_TEST

START_TEST(memory_that_cannot_be_is_refused)
{
	start();
	ck_assert(!tlsf_add(&t, arena, 0));
	ck_assert(!tlsf_add(&t, arena, SIZE_MAX));
	ck_assert(!tlsf_add(&t, (void *)(UINTPTR_MAX - 1000), 2000));
	ck_assert(!tlsf_add(&t, arena, (size_t)TLSF_MOST + 1));
	ck_assert_uint_eq(t.total, 0);
	sound();
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, an_area_serves_what_it_says);
	tcase_add_test(tests,
	    an_area_serves_aligned_requests_wherever_it_lies);
	tcase_add_test(tests, an_area_may_begin_and_end_anywhere);
	tcase_add_test(tests,
	    areas_that_touch_are_one_in_whatever_order_they_come);
	tcase_add_test(tests, areas_that_do_not_touch_stay_apart);
	tcase_add_test(tests, growth_upwards_is_usable_as_a_whole);
	tcase_add_test(tests, growth_downwards_is_usable_as_a_whole);
	tcase_add_test(tests,
	    tiny_pieces_add_up_even_while_blocks_are_in_use);
	tcase_add_test(tests, pieces_before_a_block_in_use_add_up_too);
	tcase_add_test(tests, an_arena_in_pieces_comes_together);
	tcase_add_test(tests, free_space_goes_on_across_the_seam_of_areas);
	tcase_add_test(tests,
	    areas_do_not_become_one_beyond_what_a_block_may_be);
	tcase_add_test(tests, memory_that_cannot_be_is_refused);
}

int
main(void)
{
	return unit_run("tlsf_areas", add);
}
