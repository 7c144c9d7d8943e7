/* SPDX-License-Identifier: Apache-2.0 */
/* tlsf_amid OPERATION: a signal handler comes at each instruction of it in
 * turn and forks, and the child goes on with it and with its heap; or, for
 * "begin", allocates first, in each of as many threads.  "orphans": a forked
 * child gives back what the other threads left, and its counts of calls stay.
 * Said is how many children went wrong, or threads left something. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/heaphook.h"
#include "say.h"
#include "step.h"

enum { HELD = 100, BIG = 40000, STEPS_MOST = 3000 };

static volatile long at, wanted;
static volatile int is_child;
static volatile pid_t child;
static void (*volatile act)(void);

static unsigned char *held[HELD];
static char *volatile block;

static size_t
size_of(int i)
{
	return i % 7 ? 40 + (size_t)i : 5000 + 10 * (size_t)i;
}

static void
hold(void)
{
	for (int i = 0; i < HELD; i++) {
		MUST(held[i] = malloc(size_of(i)));
		memset(held[i], i, size_of(i));
	}
	for (int i = 0; i < HELD; i += 3) {
		free(held[i]);
		held[i] = NULL;
	}
}

static void
look(void)
{
	for (int i = 0; i < HELD; i++)
		for (size_t k = 0; held[i] && k < size_of(i); k++)
			MUST(held[i][k] == (unsigned char)i);
}

static void
handler(int signal)
{
	(void)signal;
	if (at++ == wanted)
		act();
}

static void
fork_here(void)
{
	child = fork();
	is_child = !child;
	if (is_child) {
		alarm(20);
		free(malloc(3000));	/* may be refused */
	}
}

static void
allocate_here(void)
{
	free(malloc(50));
}

static void
do_malloc(void)
{
	block = malloc(BIG);
}

static void
do_free(void)
{
	free(block);
	block = NULL;
	free(malloc(60));
}

static void
do_shrink(void)
{
	block = realloc(block, BIG / 4);
}

static void
go_on(void)
{
	if (block)
		memset(block, 77, BIG / 4);
	look();
	for (int i = 0; i < HELD; i++)
		free(held[i]);
	free(block);
	malloc_trim(0);
	hold();
	look();
	_exit(0);
}

/* False when it was done before the handler's turn came. */
static bool
interrupt(void (*operation)(void), bool has_block, int *bad)
{
	int status;

	block = has_block ? malloc(BIG) : NULL;
	at = child = 0;
	step(1);
	operation();
	step(0);
	if (is_child)
		go_on();
	free(block);
	if (!child)
		return false;
	waitpid(child, &status, 0);
	*bad += status != 0;
	return true;
}

static void *
first_call(void *unused)
{
	void *volatile p;

	(void)unused;
	step(1);
	p = malloc(100);
	step(0);
	free(p);
	return NULL;
}

static int (*stats)(struct heaphook_stats *, size_t);

static struct heaphook_stats
stats_now(void)
{
	struct heaphook_stats s;

	MUST(stats(&s, sizeof s) == 0);
	return s;
}

static void
join_one(void *(*run)(void *))
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, run, NULL) == 0);
	pthread_join(thread, NULL);
}

/* How many left their cache behind. */
static int
begin(void)
{
	uint64_t before;
	int bad = 0;

	wanted = -1;
	join_one(first_call);
	for (wanted = 0; wanted < 80; wanted++) {
		at = 0;
		before = stats_now().pool_used_bytes;
		join_one(first_call);
		bad += stats_now().pool_used_bytes > before + 30000;
	}
	return bad;
}

static volatile int stage;

static void *
stay(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100000; i++)
		free(malloc(40));
	stage = 1;
	for (;;)
		pause();
	return NULL;
}

static int
orphans(void)
{
	uint64_t before;
	pthread_t thread;
	int status;

	MUST(pthread_create(&thread, NULL, stay, NULL) == 0);
	while (!stage)
		usleep(1000);
	if (!fork()) {
		before = stats_now().allocations;
		MUST(before >= 100000);
		malloc_trim(0);
		_exit(stats_now().allocations < before);
	}
	wait(&status);
	return status != 0;
}

static const struct {
	const char *name;
	void (*operation)(void);
	bool has_block;
} operations[] = {
	{ "malloc", do_malloc, false },
	{ "free", do_free, true },
	{ "shrink", do_shrink, true },
};

int
main(int argc, char **argv)
{
	void *found = dlsym(RTLD_DEFAULT, "heaphook_get_stats");
	int bad = 0;

	MUST(argc == 2 && found);
	memcpy(&stats, &found, sizeof stats);
	signal(SIGTRAP, handler);
	hold();
	act = fork_here;
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		for (wanted = 0; !strcmp(argv[1], operations[i].name)
		    && wanted < STEPS_MOST; wanted++)
			if (!interrupt(operations[i].operation,
			    operations[i].has_block, &bad))
				break;
	act = allocate_here;
	if (!strcmp(argv[1], "begin"))
		bad = begin();
	else if (!strcmp(argv[1], "orphans"))
		bad = orphans();
	say("%d bad\n", bad);
	return 0;
}
