/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child, before it allocates, lends its memory to a vfork child, who
 * sets the user, allocates and ends; then it makes 300 calls.  Says its pid. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>

#include "say.h"

static void
allocate(int times)
{
	for (int i = 0; i < times; i++) {
		void *volatile block = malloc(10000);

		free(block);
	}
}

static void
child(void)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		if (setuid(getuid()))
			_exit(98);
		allocate(1);
		_exit(5);
	}
	MUST(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
	allocate(300);
	say("%d exited 44 300\n", getpid());
	exit(44);
}

int
main(void)
{
	pid_t pid;
	int status;

	allocate(1);
	pid = fork();
	if (pid == 0)
		child();
	MUST(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 44);
	return 0;
}
