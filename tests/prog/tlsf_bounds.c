/* SPDX-License-Identifier: Apache-2.0 */
/* How many instructions the pure heap takes at most, counted one by one by
 * the processor's trap flag: in heaps made to be as bad as can be, and at
 * random.  Says the worst of each operation. */
#include "lib/tlsf/tlsf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bounds.h"
#include "say.h"

enum op { MALLOC = 1, FREE, RESIZE, MEMALIGN };

enum {
	UNIT = TLSF_ALIGN,
	BLOCKS = 400,
};

static struct tlsf t;
static char *pool;
static size_t next_hole;
static const size_t pool_bytes = (size_t)1 << 40;
static uint64_t seed = 20260101;

static void *
take(size_t size)
{
	void *block;

	bound_begin();
	block = tlsf_malloc(&t, size);
	bound_end(MALLOC);
	return block;
}

static void *
take_aligned(size_t align, size_t size)
{
	void *block;

	bound_begin();
	block = tlsf_memalign(&t, align, size);
	bound_end(MEMALIGN);
	MUST(!((uintptr_t)block & (align - 1)));
	return block;
}

static void
give(void *block)
{
	enum tlsf_fault fault;

	bound_begin();
	fault = tlsf_free(&t, block);
	bound_end(FREE);
	MUST(!fault);
}

static bool
resize(void *block, size_t size)
{
	bool done;

	bound_begin();
	done = tlsf_resize(&t, block, size);
	bound_end(RESIZE);
	return done;
}

static uint32_t
random_number(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33);
}

static void
start(size_t bytes)
{
	tlsf_init(&t);
	MUST(tlsf_add(&t, pool, bytes));
}

static void
finish(void)
{
	MUST(!tlsf_check(&t));
}

/* SIZE usable bytes of so many units. */
static size_t
units(size_t n)
{
	return n * UNIT - TLSF_OVERHEAD;
}

/* Nothing but one huge block: the request is far below it. */
static void
try_huge(void)
{
	start(pool_bytes);
	give(take(1));
	give(take(pool_bytes / 3));
	for (size_t align = 32; align <= (size_t)1 << 30; align *= 32)
		give(take_aligned(align, 1));
	finish();
}

/* An area that is one free block of N units.  The last is the first that is
 * looked at. */
static void
hole(size_t n, size_t align)
{
	MUST(tlsf_add(&t, pool + next_hole + align,
	    n * UNIT + TLSF_AREA_OVERHEAD));
	next_hole += (n + 1) * UNIT + 65536;
}

/* No room but in the list that the request itself falls into, there in the
 * last block that is looked at, or in none. */
static void
try_second_chance(size_t n, unsigned smaller, size_t found)
{
	void *block;

	tlsf_init(&t);
	if (found)
		hole(found, 0);
	for (unsigned i = 0; i < smaller; i++)
		hole(n - 1, 0);
	block = take(units(n));
	MUST(!block == !found);
	if (block)
		give(block);
	finish();
}

/* Aligned blocks from lists whose first blocks lie badly, while there is
 * other room and when there is none. */
static void
try_aligned(size_t align, size_t n, unsigned bad)
{
	void *block;

	tlsf_init(&t);
	for (unsigned i = 0; i < bad; i++)
		hole(4 * n < align / UNIT ? n << i % 3 : n + i % 3, 0);
	block = take_aligned(align, units(n));
	if (block)
		give(block);
	hole(n + align / UNIT + 40, 16);
	block = take_aligned(align, units(n));
	if (block)
		give(block);
	hole(n, align - TLSF_AREA_OVERHEAD);
	block = take_aligned(align, units(n));
	MUST(block);
	give(block);
	finish();
}

/* A block between two free ones, alone on their lists or in the middle of
 * them, is freed, or made longer and shorter. */
static void
try_neighbours(size_t left, size_t middle, size_t right, unsigned others)
{
	void *a, *b, *c, *later[8];

	start(1 << 28);
	a = tlsf_malloc(&t, units(left));
	b = tlsf_malloc(&t, units(middle));
	c = tlsf_malloc(&t, units(right));
	MUST(a && b && c && tlsf_malloc(&t, 1));
	for (unsigned i = 0; i < 8; i++) {
		later[i] = tlsf_malloc(&t, units(i % 2 ? left : right));
		MUST(later[i] && tlsf_malloc(&t, 1));
	}
	for (unsigned i = 0; i < others; i++)
		MUST(!tlsf_free(&t, later[i]));
	give(a);
	MUST(!tlsf_free(&t, c));
	for (unsigned i = others; i < 2 * others; i++)
		MUST(!tlsf_free(&t, later[i]));
	MUST(resize(b, units(middle) + 1));
	resize(b, units(middle + right));
	MUST(resize(b, 1));
	MUST(resize(b, units(middle)));
	give(b);
	finish();
}

static size_t
random_size(unsigned log2_most)
{
	size_t size = random_number() & (((size_t)1
	    << random_number() % log2_most) - 1);

	return size;
}

static void
try_random(unsigned log2_most, unsigned times)
{
	static void *blocks[BLOCKS];

	memset(blocks, 0, sizeof(blocks));
	start(1 << 20);
	for (unsigned i = 0; i < times; i++) {
		void **b = &blocks[random_number() % BLOCKS];
		size_t size = random_size(log2_most);

		if (!*b && random_number() % 4)
			*b = take(size);
		else if (!*b)
			*b = take_aligned((size_t)32
			    << random_number() % 8, size);
		else if (random_number() % 2 == 0)
			resize(*b, size);
		else {
			give(*b);
			*b = NULL;
		}
	}
	finish();
}

static void
try_all_neighbours(void)
{
	static const size_t sizes[] = { 2, 33, 1000 };

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++)
			for (unsigned others = 0; others <= 4; others += 2) {
				try_neighbours(sizes[i], 2, sizes[k], others);
				try_neighbours(sizes[i], 300, sizes[k],
				    others);
			}
}

static void
try_all_second_chances(void)
{
	static const size_t sizes[] = { 95, 502, 33333 };
	static const unsigned others[] = { 0, TLSF_LOOK - 1 };

	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 2; k++) {
			try_second_chance(sizes[i], others[k], sizes[i]);
			try_second_chance(sizes[i], others[k],
			    sizes[i] + (i > 0) * 3);
		}
		try_second_chance(sizes[i], TLSF_LOOK + 4, 0);
	}
}

static void
try_all_aligned(void)
{
	static const unsigned bad[] = { 0, 7, 8, 20 };

	for (size_t i = 0; i < 4; i++)
		for (size_t align = 32; align <= 8192; align *= 16) {
			try_aligned(align, 2, bad[i]);
			try_aligned(align, 99, bad[i]);
			try_aligned(align, align / UNIT, bad[i]);
		}
}

/* tlsf_bounds RANDOM: so many operations at random, besides. */
int
main(int argc, char **argv)
{
	unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	pool = mmap(NULL, pool_bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MUST(pool != MAP_FAILED);
	bound_start();
	MUST(bound_worst[0] > 0);

#ifndef __OPTIMIZE__
	say("unoptimized\n");
	return 0;
#endif
	try_huge();
	try_all_neighbours();
	try_all_second_chances();
	try_all_aligned();
	try_random(7, times / 2);
	try_random(18, times / 2);
	say("malloc=%zu free=%zu resize=%zu memalign=%zu\n",
	    bound_worst[MALLOC], bound_worst[FREE], bound_worst[RESIZE],
	    bound_worst[MEMALIGN]);
	return 0;
}
