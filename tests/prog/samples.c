/* SPDX-License-Identifier: Apache-2.0 */
/* samples sites: blocks of three sizes, each of a site of its own, half of
 * which are freed; says what they come to, in usable bytes.
 * samples threads COUNT: four threads get, resize and give back COUNT blocks
 * each, also each other's; says how many calls that took.
 * samples fork: a child frees what its parent got before, and so does that. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { MOST = 50000, THREADS = 4, SHARED = 4096 };

struct kind {
	const char *name;
	void *(*get)(size_t size);
	size_t size, count;
	void *blocks[MOST];
};

/* Each is a frame of its own, whatever the optimizer thinks of it. */
#define SITE(name) \
	static __attribute__((noinline)) void * \
	name(size_t size) \
	{ \
		void *block = malloc(size); \
\
		__asm__ volatile("" : "+r"(block) : : "memory"); \
		return block; \
	}

SITE(small)
SITE(medium)
SITE(large)

static struct kind kinds[] = {
	{ "small", small, 64, 50000, { NULL } },
	{ "medium", medium, 1000, 5000, { NULL } },
	{ "large", large, 40000, 200, { NULL } },
};

static void
sites(void)
{
	size_t live = 0, calls = 0;

	for (size_t k = 0; k < 3; k++) {
		struct kind *kind = kinds + k;
		size_t all = 0, kept = 0;

		for (size_t i = 0; i < kind->count; i++) {
			kind->blocks[i] = kind->get(kind->size);
			all += malloc_usable_size(kind->blocks[i]);
		}
		calls += kind->count;
		for (size_t i = 1; i < kind->count; i += 2)
			kept += malloc_usable_size(kind->blocks[i]);
		live += kept;
		say("%s %zu %zu %zu\n", kind->name, kept, all, kind->count);
	}
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < kinds[k].count; i += 2)
			free(kinds[k].blocks[i]);
	say("totals %zu %zu %zu\n", calls, calls / 2, live);
}

static _Atomic(void *) shared[SHARED];
static _Atomic size_t got, given;

static void
give(void *block)
{
	free(block);
	given += block != NULL;
}

static void *
get_any(uint64_t chance, size_t size)
{
	void *block = NULL;

	got++;
	switch (chance % 3) {
	case 0:
		return malloc(size);
	case 1:
		return calloc(1, size);
	default:
		MUST(posix_memalign(&block, 64, size) == 0);
		return block;
	}
}

static void *
work(void *count)
{
	uint64_t seed = (uintptr_t)&seed;

	for (size_t i = *(size_t *)count; i-- > 0;) {
		size_t at, size;
		void *block;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		at = (seed >> 33) % SHARED;
		size = (seed >> 45) % 3000;
		block = atomic_exchange(&shared[at], NULL);
		if (block && i % 2) {
			block = realloc(block, size + 1);
			got++;
			given++;
		} else {
			give(block);
			block = get_any(seed >> 40, size);
		}
		give(atomic_exchange(&shared[at], block));
	}
	return NULL;
}

static void
threads(size_t count)
{
	pthread_t id[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_create(&id[i], NULL, work, &count));
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	for (size_t i = 0; i < SHARED; i++)
		give(shared[i]);
	say("%zu %zu\n", got, given);
}

static void
fork_among(void)
{
	struct kind *kind = &kinds[1];
	int status;
	pid_t pid;

	for (size_t i = 0; i < kind->count; i++)
		kind->blocks[i] = kind->get(kind->size);
	pid = fork();
	for (size_t i = 0; i < kind->count; i++)
		free(kind->blocks[i]);
	for (size_t i = 0; i < kind->count; i++)
		free(kinds[0].get(500));
	if (!pid)
		_exit(0);
	MUST(waitpid(pid, &status, 0) == pid && !status);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "sites"))
		sites();
	else if (argc == 3 && !strcmp(argv[1], "threads"))
		threads((size_t)atol(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "fork"))
		fork_among();
	else
		return 2;
	return 0;
}
