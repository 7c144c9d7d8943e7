/* SPDX-License-Identifier: Apache-2.0 */
/* forks_within MOST: a signal handler that comes between two instructions of
 * malloc or free makes a child, which goes on from there: after the first
 * instruction, then the second, and so on.  Says how many processes there
 * were, and how many calls each child made after its fork at least. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "say.h"
#include "step.h"

enum { CALLS = 300 };

static volatile int steps, at;
static volatile pid_t child = -1;

/* After that no more of them: it would end a process that blocks signals. */
static void
handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	if (steps++ == at) {
		child = _Fork();
#ifdef __x86_64__
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#endif
	}
}

static void
work(void)
{
	for (int i = 0; i < CALLS; i++) {
		void *volatile block = malloc(40);

		free(block);
	}
}

int
main(int argc, char **argv)
{
	const struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO,
	};
	int most = argc > 1 ? atoi(argv[1]) : 10, children = 0, status;

	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < most; i++) {
		void *volatile block;

		steps = 0;
		at = i;
		child = -1;
		work();
		step(1);
		block = malloc(40);
		free(block);
		step(0);
		if (child < 0)
			break;
		work();
		if (child == 0)
			_exit(0);
		children++;
		MUST(waitpid(child, &status, 0) == child && !status);
	}
	say("%d %d\n", children, CALLS);
	return 0;
}
