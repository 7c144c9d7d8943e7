/* SPDX-License-Identifier: Apache-2.0 */
/* alarms COUNT: a timer's handler comes between any two instructions, and
 * makes a child that goes on from there, COUNT times.  Children and parent
 * give back all they have.  Says how many processes there were. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "say.h"

enum { BLOCKS = 200, EVERY_US = 500, CHILD_CALLS = 1000 };

static void *blocks[BLOCKS];
static volatile int left, children;
static volatile bool is_child;
static volatile uint64_t seed = 20261130;

static void
set_alarm(long us)
{
	const struct itimerval once = { .it_value.tv_usec = us };

	MUST(!setitimer(ITIMER_REAL, &once, NULL));
}

static void
handler(int signal)
{
	int kept = errno, status;
	pid_t child = left % 2 ? fork() : _Fork();

	(void)signal;
	is_child = child == 0;
	seed += child == 0;	/* it goes another way from here */
	if (child > 0) {
		MUST(waitpid(child, &status, 0) == child && !status);
		children++;
		if (--left)
			set_alarm(EVERY_US);
	}
	errno = kept;
}

static void
work(void)
{
	uint64_t r = seed = seed * UINT64_C(6364136223846793005)
	    + 1442695040888963407;
	void **at = &blocks[(r >> 33) % BLOCKS];

	if (*at) {
		free(*at);
		*at = NULL;
		return;
	}
	*at = malloc((r >> 50) % 500 + 1);
	if ((r >> 45) % 4 == 0)
		*at = realloc(*at, (r >> 40) % 900 + 1);
}

int
main(int argc, char **argv)
{
	int more = CHILD_CALLS;

	left = argc > 1 ? atoi(argv[1]) : 1;
	signal(SIGALRM, handler);
	set_alarm(EVERY_US);
	while (is_child ? more-- : left)
		work();
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	if (is_child)
		_exit(0);
	say("%d\n", children + 1);
	return 0;
}
