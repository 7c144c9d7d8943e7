/* SPDX-License-Identifier: Apache-2.0 */
/* loads LOAD THREADS COUNT: nanoseconds a malloc and free take together.
 *
 *	tight	a block of 64 bytes, freed at once
 *	rand	replaces one of 10,000 blocks a thread by one of 16 to 4,096
 *		bytes
 *
 * Each thread times its own work in PARTS and the median part counts, so
 * that what else the machine does now and then does not. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 10000, PARTS = 20, THREADS = 64 };

static pthread_barrier_t ready;
static long count;
static void (*load)(void **blocks, uint64_t *seed, long pairs);
static double part_ns[THREADS][PARTS];

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t
next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void
tight(void **blocks, uint64_t *seed, long pairs)
{
	(void)blocks;
	(void)seed;
	while (pairs--) {
		void *volatile block = malloc(64);

		free(block);
	}
}

static void
replace(void **blocks, uint64_t *seed, long pairs)
{
	while (pairs--) {
		size_t i = next(seed) % BLOCKS;

		free(blocks[i]);
		blocks[i] = malloc(16 + next(seed) % 4081);
		memset(blocks[i], 1, 16);
	}
}

static void *
work(void *which)
{
	static void *all[THREADS][BLOCKS];
	size_t me = (size_t)(uintptr_t)which;
	uint64_t seed = me + 1;

	for (size_t i = 0; i < BLOCKS; i++)
		all[me][i] = malloc(16 + next(&seed) % 4081);
	pthread_barrier_wait(&ready);
	for (int part = 0; part < PARTS; part++) {
		double from = now_ns();

		load(all[me], &seed, count / PARTS);
		part_ns[me][part] = (now_ns() - from) / (double)(count / PARTS);
	}
	return NULL;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[2]) : 0;
	pthread_t id[THREADS];

	if (threads < 1 || threads > THREADS)
		return fputs("usage: loads tight|rand THREADS COUNT\n", stderr),
		    2;
	load = strcmp(argv[1], "tight") == 0 ? tight : replace;
	count = atol(argv[3]);
	pthread_barrier_init(&ready, NULL, (unsigned)threads);
	for (int i = 1; i < threads; i++)
		pthread_create(&id[i], NULL, work, (void *)(uintptr_t)i);
	work(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(id[i], NULL);
	qsort(part_ns[0], PARTS, sizeof **part_ns, by_value);
	printf("%.2f\n", part_ns[0][PARTS / 2]);
	return 0;
}
