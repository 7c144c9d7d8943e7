/* SPDX-License-Identifier: Apache-2.0 */
/* hoards WHAT [kill]: what another thread has freed can be had by this one, in
 * a pool that does not grow.
 *
 *	last	one block, all but as big as the pool, freed by who then waits
 *	idle	many small ones, freed by eight that then wait; with kill,
 *		ends while it has all there is, and says how many bytes
 *	cross	of a pool full of equal blocks one at a time, freed by another
 *	storm	eight free and allocate while there is mostly no room: what
 *		they wrote is there, and in the end all is free again */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

enum { THREADS = 8, MOST = 200000, ROUNDS = 3000 };

static pthread_barrier_t meet;
static void *blocks[MOST];
static size_t largest;

static void
wait(void)
{
	pthread_barrier_wait(&meet);
}

/* The most that can be had at once. */
static size_t
bisect(void)
{
	size_t least = 0, most = (size_t)1 << 40;

	while (most - least > 16) {
		size_t size = least + (most - least) / 2;
		void *volatile block = malloc(size);

		if (block)
			least = size;
		else
			most = size;
		free(block);
	}
	return least;
}

static void *
keep_last(void *unused)
{
	(void)unused;
	free(malloc(1));
	wait();
	wait();
	free(blocks[0]);
	wait();
	wait();
	return NULL;
}

static void
last(void)
{
	wait();
	largest = bisect();
	blocks[0] = malloc(largest);
	wait();
	wait();
	blocks[0] = malloc(largest);
	if (!blocks[0])
		say("%zu bytes: none\n", largest);
	wait();
}

static void *
keep_small(void *unused)
{
	static _Thread_local void *mine[1000];

	(void)unused;
	free(malloc(1));
	wait();
	wait();
	/* The second time the log hears of the first. */
	for (int round = 0; round < 2; round++) {
		usleep(20000);
		for (size_t size = 16; size < 20000; size += size / 8) {
			for (int i = 0; i < 20; i++)
				mine[i] = malloc(size);
			for (int i = 0; i < 20; i++)
				free(mine[i]);
		}
	}
	wait();
	wait();
	return NULL;
}

static bool kills;

static void
idle(void)
{
	void *block;

	wait();
	largest = bisect();
	free(malloc(1));
	wait();
	wait();
	block = malloc(largest);
	if (!block)
		say("%zu bytes: none\n", largest);
	if (kills) {
		say("%zu\n", largest);
		kill(getpid(), SIGKILL);
	}
	free(block);
	wait();
}

static void *
free_one(void *unused)
{
	(void)unused;
	free(malloc(1));
	wait();
	for (int i = 0; i < ROUNDS; i++) {
		wait();
		free(blocks[i]);
		wait();
	}
	return NULL;
}

static void
cross(void)
{
	int count = 0, none = 0;

	wait();
	while (count < MOST && (blocks[count] = malloc(1000)))
		count++;
	MUST(count >= ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		wait();
		wait();
		none += !(blocks[i] = malloc(1000));
	}
	if (none)
		say("%d of %d: none\n", none, ROUNDS);
}

static uint64_t
next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	return *seed >> 33;
}

/* Each byte says whose block it is. */
static void *
storm_on(void *which)
{
	static _Thread_local struct {
		unsigned char *at;
		size_t size;
	} mine[600];
	unsigned char me = (unsigned char)(1 + (uintptr_t)which);
	uint64_t seed = me;

	free(malloc(1));
	wait();
	wait();
	for (int i = 0; i < 200000; i++) {
		size_t k = next(&seed) % 600;
		size_t size = 1 + next(&seed) % (next(&seed) % 8 ? 300 : 9000);

		for (size_t j = 0; mine[k].at && j < mine[k].size;
		    j += 1 + mine[k].size / 7)
			MUST(mine[k].at[j] == me);
		free(mine[k].at);
		mine[k].at = malloc(size);
		mine[k].size = size;
		if (mine[k].at)
			memset(mine[k].at, me, size);
	}
	for (int k = 0; k < 600; k++)
		free(mine[k].at);
	wait();
	wait();
	return NULL;
}

static const struct {
	const char *name;
	void *(*other)(void *);
	void (*mine)(void);
	int others;
} all[] = {
	{ "last", keep_last, last, 1 },
	{ "idle", keep_small, idle, THREADS },
	{ "cross", free_one, cross, 1 },
	{ "storm", storm_on, idle, THREADS },
};

int
main(int argc, char **argv)
{
	pthread_t id[THREADS];

	kills = argc > 2;
	for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
		if (strcmp(argv[1], all[i].name) != 0)
			continue;
		pthread_barrier_init(&meet, NULL, 1u + (unsigned)all[i].others);
		for (int k = 0; k < all[i].others; k++)
			MUST(pthread_create(&id[k], NULL, all[i].other,
			    (void *)(uintptr_t)k) == 0);
		all[i].mine();
		for (int k = 0; k < all[i].others; k++)
			pthread_join(id[k], NULL);
		say("done\n");
	}
	return 0;
}
