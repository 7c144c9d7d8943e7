/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with the smallest stack there is, and a handler on an alternate
 * stack of 8 KiB; both allocate. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "say.h"

static void *
work(void *unused)
{
	for (size_t i = 0; i < 2000; i++)
		free(realloc(malloc(i), 2 * i + 1));
	return unused;
}

static void
handler(int sig)
{
	(void)sig;
	free(malloc(200));
}

int
main(void)
{
	struct sigaction act = { .sa_handler = handler };
	stack_t stack = { .ss_size = 8192 };
	pthread_attr_t small;
	pthread_t id;

	pthread_attr_init(&small);
	MUST(!pthread_attr_setstacksize(&small, 16384));
	for (int i = 0; i < 200; i++) {
		MUST(!pthread_create(&id, &small, work, NULL));
		pthread_join(id, NULL);
	}
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(!sigaltstack(&stack, NULL));
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &act, NULL);
	for (int i = 0; i < 2000; i++)
		raise(SIGUSR1);
	say("size_200=2000\n");
	return 0;
}
