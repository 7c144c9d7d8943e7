/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads free and take again blocks of one size, so that an address
 * goes from thread to thread at once. */
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

enum { THREADS = 4, PAIRS = 60000, SIZE = 4096, SLOTS = 4 };
static void *shared[SLOTS];

static void *
work(void *unused)
{
	for (int i = 0; i < PAIRS; i++) {
		void *mine = malloc(SIZE);

		free(__atomic_exchange_n(&shared[i % SLOTS], mine,
		    __ATOMIC_ACQ_REL));
	}
	return unused;
}

int
main(void)
{
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(ids + i, NULL, work, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		free(shared[i]);
	say("allocations=%d frees=%d live=0 most=%d\n", THREADS * PAIRS,
	    THREADS * PAIRS, (THREADS + SLOTS) * SIZE);
	return 0;
}
