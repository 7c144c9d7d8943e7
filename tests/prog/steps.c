/* SPDX-License-Identifier: Apache-2.0 */
/* steps PAIRS [threads]: a handler that allocates after every single
 * instruction of malloc and free, by the processor's trap flag.  The handler
 * has a size of its own, ready in the thread's cache, so that the heap below
 * does not mind; the recorder must not either. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "say.h"
#include "step.h"

static volatile size_t handled;

static void
handler(int sig)
{
	(void)sig;
	free(malloc(200));
	handled++;
}

static void *
sleeps(void *unused)
{
	pause();
	return unused;
}

int
main(int argc, char **argv)
{
	size_t pairs = strtoul(argv[1], NULL, 10);
	pthread_t id;

	signal(SIGTRAP, handler);
	if (argc > 2)
		MUST(!pthread_create(&id, NULL, sleeps, NULL));
	handler(0);
	for (size_t i = 0; i < pairs; i++) {
		void *block;

		step(1);
		block = malloc(24 + i % 64);
		step(0);
		MUST(block);
		step(1);
		free(block);
		step(0);
	}
	say("own=%zu size_200=%zu\n", pairs, handled);
	return 0;
}
