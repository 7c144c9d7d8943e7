/* SPDX-License-Identifier: Apache-2.0 */
/* waits N EACH: main and N threads make EACH allocations of 100 bytes, free
 * all but one in ten, and make some calls of every other kind, of which
 * tests/prog/delays.c delays five in main and one in each thread. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

enum { THREADS = 16, PLAIN = 100000 };

static volatile size_t huge = PTRDIFF_MAX;
static size_t each;

static void
plain(void)
{
	for (size_t i = 0; i < each; i++) {
		void *block = malloc(100);

		if (i % 10)
			free(block);
	}
}

/* In the stack of its block, so no jump to malloc. */
__attribute__((noinline)) static void *
ask(size_t ms)
{
	void *volatile block = malloc(PLAIN + ms);

	return block;
}

static void *
work(void *ms)
{
	plain();
	free(calloc(1, PLAIN + (uintptr_t)ms));
	return NULL;
}

int
main(int argc, char **argv)
{
	size_t n = strtoul(argv[1], NULL, 10);
	pthread_t ids[THREADS];
	size_t *slow[4];

	MUST(argc == 3 && n <= THREADS);
	each = strtoul(argv[2], NULL, 10);
	plain();
	slow[0] = ask(20);
	slow[1] = calloc(1, PLAIN + 30);
	slow[2] = realloc(malloc(10), PLAIN + 40);
	slow[3] = memalign(64, PLAIN + 50);
	*slow[0] = PLAIN + 60;
	free(slow[0]);
	for (int i = 1; i < 4; i++)
		*slow[i] = 0;
	MUST(!malloc(huge) && !realloc(slow[1], huge));
	MUST(!realloc(malloc(5), 0));
	for (uintptr_t i = 0; i < n; i++)
		MUST(!pthread_create(ids + i, NULL, work, (void *)(70 + i)));
	for (size_t i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	/* Each thread has a calloc of its own and one of the C library's. */
	say("calloc=%zu free=%zu malloc=%zu memalign=1 realloc=2\n",
	    1 + 2 * n, (n + 1) * (each - each / 10) + 2 + n,
	    (n + 1) * each + 4);
	return 0;
}
