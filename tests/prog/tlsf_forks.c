/* SPDX-License-Identifier: Apache-2.0 */
/* tlsf_forks HOW COUNT: COUNT children, one after the other, of a process
 * whose eight other threads allocate all the while.  Each can allocate at
 * once, finds its parent's blocks as they were, and frees them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

enum { THREADS = 8, BLOCKS = 64 };

extern char **environ;
static char *blocks[BLOCKS];
static volatile int stop;

static size_t
size_of(int i)
{
	return (size_t)(1 + i * i * i % 5003);
}

static void *
churn(void *unused)
{
	char *mine[BLOCKS] = { NULL };
	unsigned at = 1;

	while (!stop) {
		at = at * 1103515245 + 12345;
		free(mine[at >> 16 & (BLOCKS - 1)]);
		mine[at >> 16 & (BLOCKS - 1)] = malloc(at >> 22 << (at >> 30));
		if (at >> 27 == 0)
			usleep(100);	/* two cores for nine */
	}
	for (int i = 0; i < BLOCKS; i++)
		free(mine[i]);
	return unused;
}

static void
fill(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		MUST((blocks[i] = malloc(size_of(i))));
		memset(blocks[i], i, size_of(i));
	}
}

static void
empty(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		for (size_t k = 0; k < size_of(i); k++)
			MUST(blocks[i][k] == i);
		free(blocks[i]);
	}
}

static void
live(void)
{
	char *more = realloc(NULL, 100);

	MUST(more);
	empty();
	fill();
	for (size_t size = 200; size < 100000; size *= 2)
		MUST((more = realloc(more, size)));
	free(more);
	empty();
}

static pid_t
copy_of_us(const char *how)
{
	if (!strcmp(how, "_Fork"))
		return _Fork();
	if (!strcmp(how, "clone"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	return fork();
}

static pid_t
other_program(const char *how)
{
	char *argv[] = { (char *)"true", NULL };
	pid_t child;

	if (!strcmp(how, "spawn")) {
		MUST(!posix_spawnp(&child, argv[0], NULL, NULL, argv,
		    environ));
		return child;
	}
	child = vfork();
	if (!child) {
		execvp(argv[0], argv);
		_exit(98);
	}
	return child;
}

static void
wait_for(pid_t child)
{
	int status;

	MUST(child > 0);
	while (waitpid(child, &status, 0) < 0)
		MUST(errno == EINTR);
	if (status)
		say("status %x\n", (unsigned)status);
	MUST(!status);
}

static pid_t
begin_child(const char *how, int deeper)
{
	pid_t child;

	if (!strcmp(how, "spawn") || !strcmp(how, "vfork"))
		return other_program(how);
	child = copy_of_us(how);
	if (child)
		return child;
	alarm(30);		/* should it hang */
	if (deeper)
		wait_for(begin_child(how, deeper - 1));
	live();
	syscall(SYS_exit_group, 0);
	return 0;
}

int
main(int argc, char **argv)
{
	int count = atoi(argv[2]);
	pthread_t ids[THREADS];

	fill();
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(ids + i, NULL, churn, NULL));
	for (int i = 0; i < count; i++)
		wait_for(begin_child(argv[1], argc > 3 ? 3 : 0));
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	live();
	say("%d children\n", count);
	return 0;
}
