/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are named by another thread and by themselves. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "say.h"

static pthread_barrier_t met;

static void *
alpha(void *unused)
{
	free(malloc(1));
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	for (int i = 1; i < 100; i++)
		free(malloc(1));
	return unused;
}

static void *
beta(void *unused)
{
	prctl(PR_SET_NAME, "beta");
	for (int i = 0; i < 200; i++)
		free(malloc(1));
	prctl(PR_SET_NAME, "beta at its end");
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	return unused;
}

int
main(void)
{
	pthread_t ids[2];

	pthread_barrier_init(&met, NULL, 3);
	MUST(!pthread_create(ids, NULL, alpha, NULL));
	MUST(!pthread_create(ids + 1, NULL, beta, NULL));
	pthread_barrier_wait(&met);
	MUST(!pthread_setname_np(ids[0], "alpha"));
	pthread_barrier_wait(&met);
	pthread_join(ids[0], NULL);
	pthread_join(ids[1], NULL);
	return 0;
}
