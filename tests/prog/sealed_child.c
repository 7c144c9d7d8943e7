/* SPDX-License-Identifier: Apache-2.0 */
/* sealed_child WHEN HOW: a child that is in a sandbox before it allocates.
 * WHEN is behind, forked behind the filter; ahead, which sets it itself;
 * refused, forked after none was set; or beside, after a vfork child did so.
 * HOW is fork, _Fork, or clone: a child that libc knows nothing of.  Says what
 * each allocated, and how the child ended. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "sandbox.h"

pid_t _Fork(void);

static pid_t
bare_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void
let_another(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		sandbox(1);
		syscall(SYS_exit, 0);
	}
	MUST(waitpid(pid, NULL, 0) == pid);
}

static void
work(const char *who, int pairs)
{
	for (int i = 0; i < pairs; i++)
		free(malloc(100));
	say("%s allocations=%d frees=%d\n", who, pairs, pairs);
}

static void
child(const char *when, uid_t user)
{
	if (!strcmp(when, "ahead"))
		sandbox(1);
	MUST(!setuid(user));
	work("child", 300);
	syscall(SYS_exit, 9);
}

int
main(int argc, char **argv)
{
	const char *how = argc == 3 ? argv[2] : "";
	uid_t user = getuid();
	pid_t pid;
	int status = 0;

	work("parent", 500);	/* libc makes its system calls */
	if (!strcmp(argv[1], "refused"))
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0));
	if (!strcmp(argv[1], "beside"))
		let_another();
	if (!strcmp(argv[1], "behind"))
		sandbox(1);
	pid = !strcmp(how, "fork") ? fork()
	    : !strcmp(how, "_Fork") ? _Fork() : bare_clone();
	if (pid == 0)
		child(argv[1], user);
	MUST(syscall(SYS_wait4, pid, &status, 0, 0) == pid);
	say("status=%d signal=%d\n", WEXITSTATUS(status), WTERMSIG(status));
	syscall(SYS_exit, 7);
	return 0;
}
