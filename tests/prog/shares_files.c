/* SPDX-License-Identifier: Apache-2.0 */
/* A child that shares our descriptors, but not our memory, makes 300 calls and
 * ends.  Says which descriptors of logs there were before it and after. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

static void
say_logs(const char *when)
{
	char name[32], link[256];

	for (int fd = 0; fd < 2000; fd++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, link, sizeof(link));
		if (n > 4 && !memcmp(link + n - 4, ".log", 4))
			say("%s %d %.*s\n", when, fd, (int)n, link);
	}
}

int
main(void)
{
	pid_t pid;
	int status;

	free(malloc(1));
	say_logs("before");
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		for (int i = 0; i < 300; i++)
			free(malloc(10000));
		_exit(44);
	}
	MUST(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 44);
	say_logs("after");
	return 0;
}
