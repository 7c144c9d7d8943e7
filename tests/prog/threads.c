/* SPDX-License-Identifier: Apache-2.0 */
/* threads N EACH [HOW]: N threads make EACH allocations of known sizes, and
 * main makes three.  The threads first fill what they hold, then meet: that
 * is the peak, since from then on they only swap a block for one that is no
 * larger.  Each keeps one.  All meet again; HOW then ends the process.
 * With EACH 0 there are the threads and nothing else. */
#include <pthread.h>
#include <stdlib.h>

#include "end.h"
#include "say.h"

enum { HELD = 1000, THREADS = 64 };
static pthread_barrier_t met;
static size_t each;

static size_t
size_of(size_t i)
{
	return 40 + i * 7919 % 1000;
}

static void *
work(void *unused)
{
	char *held[HELD];

	for (size_t i = 0; i < HELD && i < each; i++)
		held[i] = i % 2 ? malloc(size_of(i)) : calloc(1, size_of(i));
	pthread_barrier_wait(&met);
	for (size_t i = HELD; i < each; i++) {
		char **block = held + i % HELD;
		size_t size = size_of(i % HELD) - i % 40;

		if (i % 3)
			free(*block);
		*block = i % 3 ? malloc(size) : realloc(*block, size);
	}
	for (size_t i = 1; i < HELD && i < each; i++)
		free(held[i]);
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);	/* alive until main has spoken */
	return unused;
}

int
main(int argc, char **argv)
{
	size_t n = strtoul(argv[1], NULL, 10), peak = 0;
	pthread_t ids[THREADS];

	each = strtoul(argv[2], NULL, 10);
	pthread_barrier_init(&met, NULL, (unsigned)n + 1);
	for (size_t i = 1; each && i <= 3; i++)
		MUST(malloc(i));
	for (size_t i = 0; i < n; i++)
		MUST(!pthread_create(ids + i, NULL, work, NULL));
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	for (size_t i = 0; i < HELD && i < each; i++)
		peak += n * size_of(i);
	/* The last in place 0 had a number that is a multiple of 1000. */
	if (each)
		say("allocations=%zu frees=%zu peak_bytes=%zu live_bytes=%zu\n",
		    n * each + 3, n * (each - 1), peak + 6, n * 40 + 6);
	if (argc > 3)
		end(argv[3]);
	pthread_barrier_wait(&met);
	for (size_t i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
