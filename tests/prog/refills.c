/* SPDX-License-Identifier: Apache-2.0 */
/* refills SEED: fills the pool with blocks of all sizes and alignments.  What
 * is freed then, one at a time, can be had again at once. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

enum { MOST = 100000, MISSES = 200, CHANGES = 40000 };

static struct {
	void *at;
	size_t align, size;
} blocks[MOST];
static int count;
static uint64_t state;

static unsigned
any(unsigned below)
{
	state = state * UINT64_C(6364136223846793005) + 1;
	return (unsigned)(state >> 33) % below;
}

static void *
get(int i)
{
	return blocks[i].align <= 16 ? malloc(blocks[i].size)
	    : memalign(blocks[i].align, blocks[i].size);
}

/* The last misses are small: so is what is left. */
static void
fill(void)
{
	static const unsigned most[] = { 300, 300, 5000, 5000, 60000, 700000 };

	for (int misses = 0; misses < MISSES && count < MOST; ) {
		blocks[count].align = (size_t)16 << (any(2) ? 0 : any(10));
		blocks[count].size = any(misses < MISSES / 2
		    ? most[any(6)] : 200);
		blocks[count].at = get(count);
		if (blocks[count].at)
			count++;
		else
			misses++;
	}
}

int
main(int argc, char **argv)
{
	int refused = 0;

	state = argc > 1 ? (uint64_t)atol(argv[1]) : 0;
	fill();
	MUST(count < MOST);
	for (int i = 0; i < CHANGES; i++) {
		int k = (int)any((unsigned)count);

		if (!blocks[k].at)
			continue;
		free(blocks[k].at);
		blocks[k].at = get(k);
		refused += !blocks[k].at;
	}
	if (refused)
		say("%d of %d refused\n", refused, CHANGES);
	return refused != 0;
}
