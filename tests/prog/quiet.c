/* SPDX-License-Identifier: Apache-2.0 */
/* quiet THREADS ROUNDS: blocks of all sizes are replaced at random, between
 * two calls of getppid, by threads that have begun before; says how many
 * pages were faulted in meanwhile.  Stacks and code are locked in memory, as
 * a real-time program's are; "loose" if that is refused. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "say.h"

enum { SLOTS = 256 };

static size_t rounds;
static pthread_barrier_t together;

static size_t
next(size_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Up to 64 KiB, the small more often. */
static size_t
size_of(size_t random)
{
	return (random >> 4 & 0xffff) >> (random & 15);
}

static void
replace(char **slot, size_t random)
{
	size_t size = size_of(random);

	if (random >> 24 & 1) {
		char *resized = realloc(*slot, size + 1);

		MUST(resized);
		*slot = resized;
	} else {
		free(*slot);
		*slot = random >> 25 & 1 ? aligned_alloc(64, size + 1)
		    : malloc(size + 1);
		MUST(*slot);
	}
	memset(*slot, (int)size, size + 1);
}

static void
churn(size_t seed, char **slots)
{
	for (size_t i = 0; i < rounds; i++)
		replace(&slots[next(&seed) % SLOTS], next(&seed));
}

static void *
run(void *number)
{
	char *slots[SLOTS] = { NULL };

	churn(*(size_t *)number, slots);
	pthread_barrier_wait(&together);	/* all have begun */
	pthread_barrier_wait(&together);	/* it is looked at from here */
	churn(*(size_t *)number, slots);
	pthread_barrier_wait(&together);	/* to here */
	pthread_barrier_wait(&together);	/* and none has ended */
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	return NULL;
}

static long
faults(void)
{
	struct rusage usage;

	MUST(!getrusage(RUSAGE_SELF, &usage));
	return usage.ru_minflt;
}

/* Alone there is no barrier, so no call that could be one of the heap's. */
static long
alone(void)
{
	char *slots[SLOTS] = { NULL };
	long before;

	churn(1, slots);
	before = faults();
	getppid();
	churn(1, slots);
	getppid();
	return faults() - before;
}

static long
among(unsigned threads)
{
	pthread_t id[64];
	size_t number[64];
	long before;

	MUST(threads <= 64);
	MUST(!pthread_barrier_init(&together, NULL, threads + 1));
	for (unsigned i = 0; i < threads; i++) {
		number[i] = i + 1;
		MUST(!pthread_create(&id[i], NULL, run, &number[i]));
	}
	pthread_barrier_wait(&together);
	before = faults();
	getppid();
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	getppid();
	before = faults() - before;
	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < threads; i++)
		MUST(!pthread_join(id[i], NULL));
	return before;
}

int
main(int argc, char **argv)
{
	unsigned threads = (unsigned)atoi(argv[1]);

	MUST(argc == 3);
	rounds = strtoul(argv[2], NULL, 10);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		say("loose ");
	say("%ld\n", threads == 1 ? alone() : among(threads));
	return 0;
}
