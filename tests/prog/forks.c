/* SPDX-License-Identifier: Apache-2.0 */
/* forks HOW: while three threads allocate, 50 children are made one after
 * the other in one way, and each that may allocates 200 blocks of 10000
 * bytes.  None may hang, and no child's call may show in the parent. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

extern char **environ;
static volatile int done;

static void *
work(void *unused)
{
	while (!done) {
		free(malloc(100));
		usleep(50);
	}
	return unused;
}

static void
child(void)
{
	for (int i = 0; i < 200; i++)
		MUST(malloc(10000));
	_exit(44);
}

static pid_t
make(const char *how, char **argv)
{
	char word[] = "child", *args[] = { argv[0], word, NULL };
	pid_t pid = 0;

	if (!strcmp(how, "spawn"))
		return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args,
		    environ) ? -1 : pid;
	if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (!pid)
			execv("/proc/self/exe", args);
		return pid;
	}
	pid = !strcmp(how, "_Fork") ? _Fork()
	    : !strcmp(how, "clone") ? (pid_t)syscall(SYS_clone, SIGCHLD, 0L,
	        0L, 0L, 0L)
	    : fork();
	if (!pid)
		child();
	return pid;
}

int
main(int argc, char **argv)
{
	/* glibc's heap is only safe in the child of fork() itself. */
	int threads = !strcmp(argv[argc - 1], "_Fork")
	    || !strcmp(argv[argc - 1], "clone") ? 0 : 3;
	pthread_t ids[3];

	if (!strcmp(argv[1], "child"))
		child();
	for (int i = 0; i < threads; i++)
		MUST(!pthread_create(ids + i, NULL, work, NULL));
	for (int i = 0, status; i < 50; i++) {
		pid_t pid = make(argv[1], argv);

		MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
		MUST(WIFEXITED(status) && WEXITSTATUS(status) == 44);
		free(malloc(7777));
	}
	done = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	say("pid=%d\n", getpid());
	return 0;
}
