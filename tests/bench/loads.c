/* SPDX-License-Identifier: Apache-2.0 */
/* loads LOAD THREADS COUNT: nanoseconds a malloc and free take together.
 *
 *	tight	a block of 64 bytes, freed at once
 *	rand	replaces one of 10,000 blocks a thread by one of 16 to 4,096
 *		bytes
 *	small	the same with 16 to 256 bytes
 *	aligned	the same with alignments of 32 to 4,096, and as many bytes
 *	pc	each second thread frees what the one before it allocates
 *	regeo	realloc by half again from 16 bytes to a mebibyte
 *	restep	realloc by 256 bytes up to 64 KiB
 *	clock	no call at all, but two looks at the processor's counter, as
 *		a recorded pair takes where threads are told apart by time
 *
 * Each thread times its own work in PARTS and the median part counts, so
 * that what else the machine does now and then does not.  With more threads
 * than processors the mean of all does: a part may lie between two turns. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	BLOCKS = 10000, ALIGNED_BLOCKS = 1000, PARTS = 20, THREADS = 64,
	RING = 1024,
};

struct load;

static pthread_barrier_t ready;
static long count;
static const struct load *load;
static void *all[THREADS][BLOCKS];
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
two_looks(void **blocks, uint64_t *seed, long pairs)
{
	volatile uint64_t sum = 0;

	(void)blocks;
	(void)seed;
	while (pairs--) {
#if defined __x86_64__
		sum = __builtin_ia32_rdtsc() + __builtin_ia32_rdtsc();
#else
		sum = (uint64_t)now_ns() + (uint64_t)now_ns();
#endif
	}
	(void)sum;
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
replace_up_to(size_t most, void **blocks, uint64_t *seed, long pairs)
{
	while (pairs--) {
		size_t i = next(seed) % BLOCKS;

		free(blocks[i]);
		blocks[i] = malloc(16 + next(seed) % (most - 15));
		memset(blocks[i], 1, 16);
	}
}

static void
replace(void **blocks, uint64_t *seed, long pairs)
{
	replace_up_to(4096, blocks, seed, pairs);
}

static void
replace_small(void **blocks, uint64_t *seed, long pairs)
{
	replace_up_to(256, blocks, seed, pairs);
}

static void
aligned(void **blocks, uint64_t *seed, long pairs)
{
	while (pairs--) {
		size_t i = next(seed) % ALIGNED_BLOCKS;
		size_t align = (size_t)32 << next(seed) % 8;

		free(blocks[i]);
		if (posix_memalign(&blocks[i], align, align))
			abort();
	}
}

/* What it takes from the first size to the last counts as one.  There is
 * somebody behind the block at first, as there mostly is. */
static void
regeo(void **blocks, uint64_t *seed, long rounds)
{
	(void)blocks;
	(void)seed;
	while (rounds--) {
		char *block = malloc(16), *behind = malloc(16);

		for (size_t size = 24; size <= 1 << 20; size += size / 2)
			block = realloc(block, size);
		free(block);
		free(behind);
	}
}

static void
restep(void **blocks, uint64_t *seed, long rounds)
{
	(void)blocks;
	(void)seed;
	while (rounds--) {
		char *block = malloc(256), *behind = malloc(16);

		for (size_t size = 512; size <= 65536; size += 256)
			block = realloc(block, size);
		free(block);
		free(behind);
	}
}

/* A ring between each two threads. */
static struct ring {
	_Alignas(128) _Atomic long in;
	_Alignas(128) _Atomic long out;
	void *slots[RING];
} rings[THREADS / 2];

static void
produce(struct ring *r, uint64_t *seed, long pairs)
{
	for (long i = 0; i < pairs; i++) {
		long at = atomic_load_explicit(&r->in, memory_order_relaxed);

		while (at - atomic_load_explicit(&r->out,
		        memory_order_acquire) == RING)
			sched_yield();
		r->slots[at % RING] = malloc(16 + next(seed) % 1009);
		atomic_store_explicit(&r->in, at + 1, memory_order_release);
	}
}

static void
consume(struct ring *r, long pairs)
{
	for (long i = 0; i < pairs; i++) {
		long at = atomic_load_explicit(&r->out, memory_order_relaxed);

		while (atomic_load_explicit(&r->in, memory_order_acquire) == at)
			sched_yield();
		free(r->slots[at % RING]);
		atomic_store_explicit(&r->out, at + 1, memory_order_release);
	}
}

static void
pass_on(void **blocks, uint64_t *seed, long pairs)
{
	size_t me = (size_t)(blocks - all[0]) / BLOCKS;

	if (me % 2 == 0)
		produce(&rings[me / 2], seed, pairs);
	else
		consume(&rings[me / 2], pairs);
}

static const struct load {
	const char *name;
	void (*run)(void **blocks, uint64_t *seed, long pairs);
	long blocks;		/* that live from before */
	size_t most;		/* bytes of each */
} loads[] = {
	{ "tight", tight, 0, 0 },
	{ "rand", replace, BLOCKS, 4096 },
	{ "small", replace_small, BLOCKS, 256 },
	{ "aligned", aligned, 0, 0 },
	{ "pc", pass_on, 0, 0 },
	{ "regeo", regeo, 0, 0 },
	{ "restep", restep, 0, 0 },
	{ "clock", two_looks, 0, 0 },
	{ NULL, NULL, 0, 0 }
};

static void *
work(void *which)
{
	size_t me = (size_t)(uintptr_t)which;
	uint64_t seed = me + 1;

	for (long i = 0; i < load->blocks; i++)
		all[me][i] = malloc(16 + next(&seed) % (load->most - 15));
	pthread_barrier_wait(&ready);
	for (int part = 0; part < PARTS; part++) {
		double from = now_ns();

		load->run(all[me], &seed, count / PARTS);
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

static double
median(void)
{
	qsort(part_ns[0], PARTS, sizeof **part_ns, by_value);
	return part_ns[0][PARTS / 2];
}

static double
mean(int threads)
{
	double sum = 0;

	for (int i = 0; i < threads * PARTS; i++)
		sum += part_ns[i / PARTS][i % PARTS];
	return sum / (threads * PARTS);
}

/* Twelve calls from where a thread begins to the allocator. */
static __attribute__((noinline)) void *
descend(void *which, int calls)
{
	void *result = calls ? descend(which, calls - 1) : work(which);

	__asm__ volatile("" : "+r"(result) : : "memory");
	return result;
}

static void *
begin(void *which)
{
	return descend(which, 7);
}

int
main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[2]) : 0;
	pthread_t id[THREADS];

	for (load = loads; load->name && argc == 4; load++)
		if (strcmp(load->name, argv[1]) == 0)
			break;
	if (threads < 1 || threads > THREADS || !load->name)
		return fputs("usage: loads LOAD THREADS COUNT\n", stderr), 2;
	count = atol(argv[3]);
	pthread_barrier_init(&ready, NULL, (unsigned)threads);
	for (int i = 1; i < threads; i++)
		pthread_create(&id[i], NULL, begin, (void *)(uintptr_t)i);
	begin(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(id[i], NULL);
	printf("%.2f\n", threads > sysconf(_SC_NPROCESSORS_ONLN)
	    ? mean(threads) : median());
	return 0;
}
