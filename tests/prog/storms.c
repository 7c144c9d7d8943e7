/* SPDX-License-Identifier: Apache-2.0 */
/* storms SECONDS PLUGIN: for so long, threads allocate wherever it is hard:
 * in signal handlers, in constructors of a plug-in, in destructors of
 * thread-specific values, in children of forks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

enum { THREADS = 8, CHURN = 64 };

static _Atomic int over;
static _Atomic unsigned long handled, plugged, destroyed, forked, churned;
static pthread_key_t key;
static const char *plugin;
static _Thread_local volatile sig_atomic_t inside;

/* A handler may allocate where it did not interrupt the allocator. */
static void
handle(int signal)
{
	(void)signal;
	if (inside)
		return;
	free(malloc(333));
	atomic_fetch_add(&handled, 1);
}

static void *
get(size_t size)
{
	void *block;

	inside = 1;
	block = malloc(size);
	inside = 0;
	return block;
}

static void
drop(void *block)
{
	inside = 1;
	free(block);
	inside = 0;
}

__attribute__((noinline)) static void
churn(int deep)
{
	void *blocks[CHURN];

	if (deep) {
		churn(deep - 1);
		return;
	}
	for (int i = 0; i < CHURN; i++)
		blocks[i] = get((size_t)i * 17 + 1);
	for (int i = 0; i < CHURN; i++)
		drop(blocks[i]);
	atomic_fetch_add(&churned, 1);
}

static void
destroy(void *block)
{
	drop(block);
	drop(get(77));
	atomic_fetch_add(&destroyed, 1);
}

static void *
live_shortly(void *unused)
{
	inside = 1;
	pthread_setspecific(key, malloc(9));
	inside = 0;
	churn(3);
	return unused;
}

static void
plug(void)
{
	void *library;

	inside = 1;
	library = dlopen(plugin, RTLD_NOW);
	if (!library)
		_exit(3);
	dlclose(library);
	inside = 0;
	atomic_fetch_add(&plugged, 1);
}

static void
thread_shortly(void)
{
	pthread_t thread;

	inside = 1;
	if (pthread_create(&thread, NULL, live_shortly, NULL))
		_exit(4);
	pthread_join(thread, NULL);
	inside = 0;
}

static void
fork_shortly(void)
{
	pid_t pid;
	int status;

	inside = 1;
	pid = fork();
	inside = 0;
	if (pid == 0) {
		churn(5);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(5);
	atomic_fetch_add(&forked, 1);
}

static void *
run(void *number)
{
	static void (*const ways[])(void) = { plug, thread_shortly,
	    fork_shortly };
	unsigned n = (unsigned)(size_t)number;

	for (unsigned i = 0; !atomic_load(&over); i++) {
		churn((int)(i + n) % 20);
		if (i % 64 == 0)
			ways[(i / 64 + n) % 3]();
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	struct timespec pause = { 0, 1000000 };
	pthread_t threads[THREADS];
	time_t end = time(NULL) + atoi(argv[1]);

	if (argc != 3)
		return 2;
	plugin = argv[2];
	pthread_key_create(&key, destroy);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = handle,
	    .sa_flags = SA_RESTART }, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	while (time(NULL) < end) {
		nanosleep(&pause, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
	}
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("handled %lu plugged %lu destroyed %lu forked %lu churned %lu\n",
	    handled, plugged, destroyed, forked, churned);
	return handled && plugged && destroyed && forked && churned ? 0 : 1;
}
