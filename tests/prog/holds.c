/* SPDX-License-Identifier: Apache-2.0 */
/* holds WHAT HOW: says what is live and was at most, in usable bytes, then
 * ends, or waits to be killed.  WHAT is
 *
 *	big	50 blocks of 1 MB, after pairs of big and small calls
 *	turns	1 MB freed, then 1 MB asked for, ten times
 *	small	10,000 small blocks, and half of them freed
 *	kept	many sizes freed for the thread's cache, then 900 KB
 *	other	as turns, by another thread, which stays; then by this one */
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "end.h"
#include "say.h"

enum { MANY = 10000, MB = 1000 * 1000, FEW = 5 };

static void *blocks[MANY];
static size_t live, peak;

static void *
get(size_t size)
{
	void *block = malloc(size);

	MUST(block);
	live += malloc_usable_size(block);
	if (peak < live)
		peak = live;
	return block;
}

static void
put(void *block)
{
	live -= malloc_usable_size(block);
	free(block);
}

static void
big(void)
{
	for (int i = 0; i < 20; i++) {
		put(get(50));
		put(get(100000));
	}
	for (int i = 0; i < 50; i++)
		blocks[i] = get(MB);
}

static void
turns(void)
{
	blocks[0] = get(MB);
	for (int i = 0; i < 10; i++) {
		put(blocks[0]);
		blocks[0] = get(MB);
	}
}

static void
small(void)
{
	for (int i = 0; i < MANY; i++)
		blocks[i] = get(200);
	for (int i = 0; i < MANY; i += 2)
		put(blocks[i]);
}

static void
kept(void)
{
	int n = 0;

	for (size_t size = 16; size < 30000; size += size / 8)
		for (int i = 0; i < FEW; i++)
			blocks[n++] = get(size);
	while (n)
		put(blocks[--n]);
	blocks[0] = get(9 * MB / 10);
}

static pthread_barrier_t met;

static void *
come_and_stay(void *unused)
{
	(void)unused;
	turns();
	put(blocks[0]);
	pthread_barrier_wait(&met);
	pause();
	return NULL;
}

static void
other(void)
{
	pthread_t id;

	pthread_barrier_init(&met, NULL, 2);
	MUST(!pthread_create(&id, NULL, come_and_stay, NULL));
	pthread_barrier_wait(&met);
	turns();
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*what)(void);
	} whats[] = {
		{ "big", big }, { "turns", turns }, { "small", small },
		{ "kept", kept }, { "other", other },
	};

	MUST(argc == 3);
	for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
		if (!strcmp(argv[1], whats[i].name))
			whats[i].what();
	say("pid=%d live=%zu peak=%zu\n", (int)getpid(), live, peak);
	end(argv[2]);
	pause();
	return 0;
}
