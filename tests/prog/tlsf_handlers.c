/* SPDX-License-Identifier: Apache-2.0 */
/* tlsf_handlers HOW: a timer's handler that interrupts malloc and free again
 * and again, in two threads, until it was called 3,000 times.  What it does
 * itself it does without harm to them:
 *
 *	ask	reads the statistics
 *	fork	makes a child that ends
 *	big	allocates and frees, from the heap itself */
#include <heaphook.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "say.h"

enum { BLOCKS = 64, CALLS = 3000, FORKS = 200 };

static const char *how;
static volatile sig_atomic_t calls;
static volatile int most = CALLS;

static void
make_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGALRM, SIG_DFL);
		alarm(30);
		free(malloc(100));
		_exit(0);
	}
	MUST(child > 0 && waitpid(child, &status, 0) == child && !status);
}

/* The next comes when the program has got on a little. */
static void
handler(int signal)
{
	const struct itimerval soon = { { 0, 0 }, { 0, 150 } };
	struct heaphook_stats stats;

	(void)signal;
	calls++;
	if (*how == 'a')
		MUST(!heaphook_get_stats(&stats, sizeof(stats)));
	if (*how == 'b')
		free(malloc(100000));
	if (*how == 'f')
		make_child();
	setitimer(ITIMER_REAL, &soon, NULL);
}

/* Blocks too big to be kept, so that each call is one of the heap's. */
static void *
churn(void *unused)
{
	unsigned char *mine[BLOCKS] = { NULL };
	unsigned at = 1;

	while (calls < most) {
		unsigned char **b;
		size_t size;

		at = at * 1103515245 + 12345;
		b = &mine[at >> 16 & (BLOCKS - 1)];
		size = 40000 + (at >> 20);
		MUST(!*b || **b == b - mine);
		free(*b);
		*b = malloc(size);
		if (*b)		/* none may be had in the middle of one */
			**b = (unsigned char)(b - mine);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(mine[i]);
	return unused;
}

int
main(int argc, char **argv)
{
	pthread_t other;

	(void)argc;
	how = argv[1];
	if (*how == 'f')
		most = FORKS;
	signal(SIGALRM, handler);
	MUST(!pthread_create(&other, NULL, churn, NULL));
	handler(SIGALRM);	/* the first does lookups */
	churn(NULL);
	pthread_join(other, NULL);
	say("done\n");
	return 0;
}
