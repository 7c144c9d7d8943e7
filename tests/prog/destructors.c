/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-specific destructors that allocate, and set their key anew, in 300
 * threads one after the other: the last calls of a thread's life. */
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

enum { KEYS = 6, THREADS = 300, AGAIN = 12 };
static pthread_key_t keys[KEYS];
static int left, allocations;

static void *
allocate(size_t size)
{
	allocations++;
	return malloc(size);
}

static void
destroy(void *old)
{
	void *next = allocate(500);

	free(old);
	if (left-- > 0 && !pthread_getspecific(keys[left % KEYS]))
		pthread_setspecific(keys[left % KEYS], next);
	else
		free(next);
}

static void *
work(void *unused)
{
	for (int i = 0; i < KEYS; i++)
		pthread_setspecific(keys[i], allocate(100));
	return unused;
}

int
main(void)
{
	for (int i = 0; i < KEYS; i++)
		pthread_key_create(keys + i, destroy);
	for (int i = 0; i < THREADS; i++) {
		pthread_t id;

		left = AGAIN;
		MUST(!pthread_create(&id, NULL, work, NULL));
		pthread_join(id, NULL);
	}
	say("allocations=%d\n", allocations);
	return 0;
}
