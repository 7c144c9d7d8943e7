/* SPDX-License-Identifier: Apache-2.0 */
/* latency THREADS COUNT: how long single calls take, in ns, for the median
 * and for 1, 0.1 and 0.01 in a hundred; of malloc, then of free.  Each
 * thread replaces one of 10,000 blocks by one of 16 to 4,096 bytes, as
 * "rand" of loads.c does.  The two readings of the clock are part of it. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 10000, THREADS = 16, LONGEST_NS = 1 << 20 };

struct times {
	uint32_t of_malloc[LONGEST_NS + 1];
	uint32_t of_free[LONGEST_NS + 1];
};

static long count;
static pthread_barrier_t ready;
static struct times *times[THREADS];

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
note(uint32_t *of, uint64_t from, uint64_t to)
{
	uint64_t took = to - from;

	of[took < LONGEST_NS ? took : LONGEST_NS]++;
}

static void
replace(struct times *t, void **at, size_t size)
{
	uint64_t a = now_ns(), b, c;

	free(*at);
	b = now_ns();
	*at = malloc(size);
	c = now_ns();
	memset(*at, 1, 16);
	note(t->of_free, a, b);
	note(t->of_malloc, b, c);
}

static void *
work(void *which)
{
	static void *all[THREADS][BLOCKS];
	size_t me = (size_t)(uintptr_t)which;
	uint64_t seed = me + 1;

	times[me] = calloc(1, sizeof(struct times));
	memset(times[me], 0, sizeof(struct times));
	for (long i = -4 * BLOCKS; i < count; i++) {
		size_t block, size;

		if (i == 0) {
			pthread_barrier_wait(&ready);
			memset(times[me], 0, sizeof(struct times));
		}
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		block = (seed >> 33) % BLOCKS;
		size = 16 + (seed >> 12) % 4081;
		replace(times[me], &all[me][block], size);
	}
	return NULL;
}

static void
print(const char *name, size_t offset, int threads)
{
	static const double parts[] = { 0.5, 0.99, 0.999, 0.9999 };
	double total = (double)count * threads, seen = 0;
	int next = 0;

	printf("%s", name);
	for (size_t ns = 0; ns <= LONGEST_NS && next < 4; ns++) {
		for (int i = 0; i < threads; i++)
			seen += ((uint32_t *)((char *)times[i] + offset))[ns];
		while (next < 4 && seen >= parts[next] * total) {
			printf(" %zu", ns);
			next++;
		}
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	pthread_t id[THREADS];

	if (threads < 1 || threads > THREADS)
		return fputs("usage: latency THREADS COUNT\n", stderr), 2;
	count = atol(argv[2]);
	pthread_barrier_init(&ready, NULL, (unsigned)threads);
	for (int i = 1; i < threads; i++)
		pthread_create(&id[i], NULL, work, (void *)(uintptr_t)i);
	work(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(id[i], NULL);
	print("malloc", offsetof(struct times, of_malloc), threads);
	print("free", offsetof(struct times, of_free), threads);
	return 0;
}
