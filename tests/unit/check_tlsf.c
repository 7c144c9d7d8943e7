/* SPDX-License-Identifier: Apache-2.0 */
/* The pure heap, looked at as a whole after every step. */
#include <stdio.h>

#include "heap.h"

#define KIB ((size_t)1024)
#define GIB (KIB * KIB * KIB)

enum { PLENTY = 4096 };	/* blocks, at most, in the pools that are filled */

static void *blocks[PLENTY];
static uint64_t seed = 20260101;

START_TEST(freed_neighbours_become_one_block)
{
	size_t all;
	void *a, *b, *c;

	pool_of(64 * KIB);
	all = tlsf_largest(&t);
	ck_assert_uint_eq(all, 64 * KIB - TLSF_AREA_OVERHEAD - TLSF_OVERHEAD);
	a = take(1000);
	b = take(2000);
	c = take(3000);
	give(a);
	give(c);
	ck_assert_uint_eq(see().free_blocks, 2);
	give(b);
	ck_assert_uint_eq(tlsf_largest(&t), all);
}
END_TEST

START_TEST(whatever_was_in_its_memory_a_new_heap_is_empty)
{
	memset(&t, 0xa5, sizeof(t));
	tlsf_init(&t);
	sound();
	ck_assert_ptr_null(take(1));
	ck_assert_uint_eq(tlsf_largest(&t), 0);
	ck_assert_uint_eq(t.total + t.used + t.peak + t.blocks, 0);
}
END_TEST

/* As much as was asked for, hardly more, on the grid; and all comes back. */
static void
try_size(size_t size)
{
	size_t all = tlsf_largest(&t), usable;
	char *block = take(size);

	ck_assert_ptr_nonnull(block);
	usable = tlsf_usable(block);
	ck_assert_uint_ge(usable, size);
	ck_assert_uint_ge(usable, TLSF_LEAST);
	ck_assert_uint_le(usable, size + size / 31 + TLSF_LEAST);
	ck_assert_uint_eq((uintptr_t)block % TLSF_ALIGN, 0);
	block[0] = block[usable - 1] = 'x';
	ck_assert_uint_eq(t.used, usable + TLSF_OVERHEAD);
	sound();
	give(block);
	ck_assert_uint_eq(tlsf_largest(&t), all);
	ck_assert_uint_eq(t.used, 0);
}

START_TEST(every_size_has_room_and_comes_back)
{
	pool_of(8 * GIB);
	for (size_t size = 0; size <= 5000; size++)
		try_size(size);
	for (size_t power = 8 * KIB; power <= 4 * GIB; power *= 2)
		for (size_t size = power - 40; size <= power + 40; size++)
			try_size(size);
}
END_TEST

static void
try_align(size_t align, size_t size)
{
	char *block = tlsf_memalign(&t, align, size);
	size_t usable;

	sound();
	ck_assert_ptr_nonnull(block);
	usable = tlsf_usable(block);
	ck_assert_uint_eq((uintptr_t)block % align, 0);
	ck_assert_uint_ge(usable, size);
	ck_assert_uint_le(usable, size + size / 31 + TLSF_LEAST);
	memset(block, 'x', size);
	sound();
	give(block);
}

START_TEST(every_alignment_is_kept_up_to_a_gib)
{
	static const size_t sizes[] = { 0, 1, 24, 25, 40, 100, 4096, 100000 };
	size_t all;

	pool_of(8 * GIB);
	all = tlsf_largest(&t);
	/* Wherever the free block happens to begin. */
	for (size_t before = 0; before < 300; before += 16) {
		void *first = take(before);

		for (size_t align = 1; align <= GIB; align *= 2)
			for (size_t i = 0; i < 8; i++)
				try_align(align, sizes[i]);
		give(first);
	}
	ck_assert_uint_eq(tlsf_largest(&t), all);
}
END_TEST

START_TEST(an_aligned_block_gives_the_gap_before_it_to_others)
{
	void *block, *small;

	pool_of(64 * KIB);
	block = tlsf_memalign(&t, 4096, 100);
	sound();
	small = take(1000);
	ck_assert(small < block);
	give(block);
	give(small);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(five_gib_fit_into_eight)
{
	char *block, *more;

	pool_of(8 * GIB);
	block = take(5 * GIB);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_ge(tlsf_usable(block), 5 * GIB);
	block[0] = block[5 * GIB - 1] = 'x';
	ck_assert_ptr_null(take(5 * GIB));
	more = take(2 * GIB);
	ck_assert_ptr_nonnull(more);
	ck_assert(tlsf_resize(&t, more, GIB));
	sound();
	block = tlsf_realloc(&t, block, TLSF_ALIGN, 6 * GIB);
	ck_assert_ptr_null(block);
	sound();
	give(more);
	ck_assert_uint_eq(t.blocks, 1);
}
END_TEST

START_TEST(blocks_and_pools_may_be_bigger_than_a_tib)
{
	size_t tib = KIB * GIB;
	char *memory = sparse(2 * tib), *block;

	if (!memory) {
		printf("# SKIP no 2 TiB of addresses here\n");
		return;
	}
	tlsf_init(&t);
	ck_assert(tlsf_add(&t, memory, 2 * tib));
	try_size(tib + tib / 2);
	try_size(2 * tib - TLSF_AREA_OVERHEAD - TLSF_OVERHEAD);
	try_align(GIB, 100000);
	block = take(tib);
	ck_assert(tlsf_resize(&t, block, tib + tib / 2));
	sound();
	block[tib + tib / 2 - 1] = 'x';
	ck_assert(tlsf_resize(&t, block, 1));
	sound();
	give(block);
	ck_assert_uint_eq(see().free_blocks, 1);
}
END_TEST

START_TEST(absurd_requests_get_nothing_and_do_nothing)
{
	static const size_t sizes[] = {
		SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 15, SIZE_MAX - 23,
		SIZE_MAX - 24, PTRDIFF_MAX, PTRDIFF_MAX + (size_t)1,
		PTRDIFF_MAX - (size_t)24, TLSF_MOST - 1, TLSF_MOST,
		TLSF_MOST + 1, TLSF_MOST + 8, TLSF_MOST + 100,
	};
	void *block;

	pool_of(64 * KIB);
	block = take(100);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		ck_assert_ptr_null(take(sizes[i]));
		for (size_t align = 1; align; align *= 2) {
			ck_assert_ptr_null(tlsf_memalign(&t, align, sizes[i]));
			ck_assert(!tlsf_area_serves(64 * KIB, align,
			    sizes[i]));
		}
		ck_assert(!tlsf_resize(&t, block, sizes[i]));
		ck_assert_ptr_null(tlsf_realloc(&t, block, 16, sizes[i]));
		sound();
	}
	for (size_t align = (size_t)1 << 47; align; align *= 2)
		ck_assert_ptr_null(tlsf_memalign(&t, align, 1));
	sound();
	ck_assert_int_eq(t.fault, TLSF_FINE);
	give(block);
}
END_TEST

/* Blocks of this size until there is no room; how many. */
static unsigned
fill(size_t align, size_t size)
{
	unsigned n = 0;

	for (;;) {
		void *block = tlsf_memalign(&t, align, size);

		sound();
		if (!block)
			return n;
		ck_assert_uint_lt(n, PLENTY);
		blocks[n++] = block;
	}
}

static void
shuffle(unsigned n)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned k = random_number(&seed) % i;
		void *kept = blocks[i - 1];

		blocks[i - 1] = blocks[k];
		blocks[k] = kept;
	}
}

/* Nothing is left; give back one, or every so many, and take as many. */
static void
try_again(size_t size, unsigned n, unsigned every)
{
	for (unsigned i = 0; i < n; i += every)
		give(blocks[i]);
	for (unsigned i = 0; i < n; i += every) {
		blocks[i] = take(size);
		ck_assert_ptr_nonnull(blocks[i]);
	}
	ck_assert_ptr_null(take(size));
}

START_TEST(in_a_full_pool_what_is_freed_serves_the_same_size_again)
{
	for (size_t size = 0; size <= 2600; size += size < 700 ? 1 : 13) {
		char *memory = pool_of(8 * KIB);
		unsigned n = fill(TLSF_ALIGN, size);

		for (unsigned i = 0; i < n; i++) {
			give(blocks[i]);
			blocks[i] = take(size);
			ck_assert_ptr_nonnull(blocks[i]);
			ck_assert_ptr_null(take(size));
		}
		try_again(size, n, 1);
		try_again(size, n, 2);
		shuffle(n);
		try_again(size, n, 1);
		try_again(size, n, 3);
		munmap(memory, 8 * KIB);
	}
}
END_TEST

START_TEST(in_a_full_pool_of_all_sizes_too)
{
	static size_t sizes[PLENTY];
	unsigned n = 0;

	pool_of(512 * KIB);
	for (unsigned misses = 0; misses < 30;) {
		size_t size = random_number(&seed) % (misses ? 40 : 3000);
		void *block = take(size);

		misses = block ? 0 : misses + 1;
		if (!block)
			continue;
		sizes[n] = size;
		blocks[n++] = block;
	}
	ck_assert_uint_gt(n, 300);
	for (unsigned i = 0; i < 5000; i++) {
		unsigned k = random_number(&seed) % n;

		give(blocks[k]);
		blocks[k] = take(sizes[k]);
		ck_assert_ptr_nonnull(blocks[k]);
	}
}
END_TEST

START_TEST(in_a_full_pool_aligned_blocks_too)
{
	for (size_t align = 32; align <= 1024; align *= 2) {
		for (size_t size = 1; size <= 1500; size += 47) {
			char *memory = pool_of(32 * KIB);
			unsigned n = fill(align, size);

			ck_assert_uint_gt(n, 2);
			for (unsigned i = 0; i < n; i++) {
				give(blocks[i]);
				blocks[i] = tlsf_memalign(&t, align, size);
				sound();
				ck_assert_ptr_nonnull(blocks[i]);
			}
			munmap(memory, 32 * KIB);
		}
	}
}
END_TEST

START_TEST(one_block_may_have_nearly_all_of_the_pool)
{
	size_t all;
	void *block;

	pool_of(100000000);
	all = tlsf_largest(&t);
	block = take(99000000);
	ck_assert_ptr_nonnull(block);
	give(block);
	block = take(all);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_eq(tlsf_largest(&t), 0);
	give(block);
	ck_assert_ptr_null(take(all + 1));
	block = tlsf_memalign(&t, 4096, 99000000);
	sound();
	ck_assert_ptr_nonnull(block);
	give(block);
	ck_assert_uint_eq(tlsf_largest(&t), all);
}
END_TEST

START_TEST(the_largest_free_block_is_known)
{
	void *keep[TLSF_LOOK + 1], *apart[TLSF_LOOK + 1];
	size_t most = 0;

	pool_of(64 * KIB);
	for (size_t i = 0; i <= TLSF_LOOK; i++) {
		keep[i] = take(2000 + 16 * (i * 5 % 3));
		apart[i] = take(1);
	}
	ck_assert_ptr_nonnull(take(tlsf_largest(&t)));
	for (size_t i = 0; i <= TLSF_LOOK; i++) {
		size_t usable = tlsf_usable(keep[i]);

		most = usable > most ? usable : most;
		give(keep[i]);
		if (i < TLSF_LOOK)
			ck_assert_uint_eq(tlsf_largest(&t), most);
		ck_assert_uint_le(tlsf_largest(&t), most);
		ck_assert_uint_ge(tlsf_largest(&t), most - most / 32);
	}
	ck_assert_ptr_nonnull(apart[0]);
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, freed_neighbours_become_one_block);
	tcase_add_test(tests, whatever_was_in_its_memory_a_new_heap_is_empty);
	tcase_add_test(tests, every_size_has_room_and_comes_back);
	tcase_add_test(tests, every_alignment_is_kept_up_to_a_gib);
	tcase_add_test(tests,
	    an_aligned_block_gives_the_gap_before_it_to_others);
	tcase_add_test(tests, five_gib_fit_into_eight);
	tcase_add_test(tests, blocks_and_pools_may_be_bigger_than_a_tib);
	tcase_add_test(tests, absurd_requests_get_nothing_and_do_nothing);
	tcase_add_test(tests,
	    in_a_full_pool_what_is_freed_serves_the_same_size_again);
	tcase_add_test(tests, in_a_full_pool_of_all_sizes_too);
	tcase_add_test(tests, in_a_full_pool_aligned_blocks_too);
	tcase_add_test(tests, one_block_may_have_nearly_all_of_the_pool);
	tcase_add_test(tests, the_largest_free_block_is_known);
}

int
main(void)
{
	return unit_run("tlsf", add);
}
