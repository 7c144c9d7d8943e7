/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As they were before: the child's, and ours again after it. */
static sigset_t old_mask;
static struct sigaction old_chld;

static void
restore(void)
{
	sigaction(SIGCHLD, &old_chld, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

pid_t
child_fork(void)
{
	struct sigaction wait_for = { .sa_handler = SIG_DFL };
	sigset_t all;
	pid_t child;

	/* A fault of our own ends us all the same. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old_mask);
	/* Where SIGCHLD is ignored there is no status to wait for. */
	sigaction(SIGCHLD, &wait_for, &old_chld);
	child = fork();
	if (child <= 0)
		restore();
	return child;
}

/* True: it has ended, with STATUS. */
static bool
has_ended(pid_t child, int *status)
{
	while (waitpid(child, status, WNOHANG | WUNTRACED) == child) {
		if (!WIFSTOPPED(*status))
			return true;
		/* Whoever started us shall see it, and go on with us. */
		raise(SIGSTOP);
		kill(child, SIGCONT);
	}
	return false;
}

int
child_wait(pid_t child)
{
	siginfo_t info;
	sigset_t all;
	int status;

	sigfillset(&all);
	while (!has_ended(child, &status)) {
		int number = sigwaitinfo(&all, &info);

		/* What the terminal sends, it sends to both of us. */
		if (number > 0 && number != SIGCHLD && info.si_code <= 0)
			kill(child, number);
	}
	/* What ended it, from the terminal say, is not for the report. */
	while (sigtimedwait(&all, NULL, &(struct timespec){ 0, 0 }) > 0)
		;
	restore();
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
	    : WEXITSTATUS(status);
}
