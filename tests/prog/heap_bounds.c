/* SPDX-License-Identifier: Apache-2.0 */
/* heap_bounds STEPS [threads]: how many instructions the heap that serves us
 * takes at most for a call, counted one by one by the processor's trap flag,
 * while what threads keep runs full and empty, at random and on purpose.
 * The calls through the linker's table are counted too.  The first calls of
 * all, which set things up, are not. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "say.h"

enum op { MALLOC = 1, FREE, REALLOC, ALIGNED };

enum { BLOCKS = 3000, WAVE = 120 };

static void *blocks[BLOCKS];
static uint64_t seed = 20260102;

static void *
take(size_t size)
{
	void *block;

	bound_begin();
	block = malloc(size);
	bound_end(MALLOC);
	MUST(block);
	return block;
}

static void
give(void *block)
{
	bound_begin();
	free(block);
	bound_end(FREE);
}

static void *
take_aligned(size_t align, size_t size)
{
	void *block;

	bound_begin();
	block = aligned_alloc(align, size);
	bound_end(ALIGNED);
	MUST(block && (uintptr_t)block % align == 0);
	return block;
}

/* Only where the block stays: what is moved takes as long as it is. */
static void *
resize(void *block, size_t size)
{
	uintptr_t old = (uintptr_t)block;
	size_t kept = bound_worst[REALLOC];

	bound_begin();
	block = realloc(block, size);
	bound_end(REALLOC);
	MUST(block);
	if ((uintptr_t)block != old)
		bound_worst[REALLOC] = kept;
	return block;
}

static uint32_t
random_number(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(seed >> 33);
}

/* So many of a size at once that magazines and what threads share run full
 * and empty, and the heap below is left with nothing but gaps. */
static void
try_waves(size_t size)
{
	for (int wave = 0; wave < 2; wave++) {
		for (int i = 0; i < WAVE; i++)
			blocks[i] = take(size);
		for (int i = 0; i < WAVE; i += 2)
			give(blocks[i]);
		for (int i = 0; i < WAVE; i += 2)
			blocks[i] = take(size + size / 9);
		for (int i = 0; i < WAVE; i++)
			give(blocks[i]);
	}
}

static void
try_aligned_waves(size_t align)
{
	for (int i = 0; i < WAVE; i++)
		blocks[i] = take_aligned(align, 16u + random_number() % 3000);
	for (int i = 0; i < WAVE; i++)
		give(blocks[(i * 7) % WAVE]);
}

static void
try_growth(void)
{
	char *a = take(100), *b = take(100);

	for (size_t size = 100; size < 200000; size += size / 3) {
		a = resize(a, size);
		b = resize(b, size);
	}
	for (size_t size = 200000; size > 100; size -= size / 4) {
		a = resize(a, size);
		b = resize(b, size);
	}
	give(a);
	give(b);
}

/* More than all caches may keep, in every size. */
static void
try_random(int steps)
{
	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < steps; i++) {
		void **at = &blocks[random_number() % BLOCKS];
		size_t size = random_number() % (random_number() % 9
		    ? 4096 : 100000);

		if (*at && random_number() % 8 == 0)
			*at = resize(*at, size + 1);
		if (*at)
			give(*at);
		*at = random_number() % 16 ? take(size)
		    : take_aligned((size_t)32 << random_number() % 9, size);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i])
			give(blocks[i]);
}

/* Big ones first, then small ones: what is kept has no room for these. */
static void
try_turns(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = take(1000 + random_number() % 2000);
	for (int i = 0; i < BLOCKS; i++)
		give(blocks[(i * 7) % BLOCKS]);
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = take(24 + random_number() % 200);
	for (int i = 0; i < BLOCKS; i++)
		give(blocks[i]);
}

static void *
sleeps(void *unused)
{
	pause();
	return unused;
}

int
main(int argc, char **argv)
{
	pthread_t id;

	if (argc > 2)
		MUST(!pthread_create(&id, NULL, sleeps, NULL));
	free(malloc(1));
	free(aligned_alloc(64, 64));
	free(realloc(malloc(10), 1000));
	bound_start();
	for (size_t size = 24; size < 70000; size *= 12)
		try_waves(size);
	try_aligned_waves(64);
	try_aligned_waves(8192);
	try_growth();
	try_turns();
	try_random(atoi(argv[1]));
	say("malloc=%zu free=%zu realloc=%zu aligned_alloc=%zu\n",
	    bound_worst[MALLOC], bound_worst[FREE], bound_worst[REALLOC],
	    bound_worst[ALIGNED]);
	return 0;
}
