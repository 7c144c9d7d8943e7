/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps over time.  "drips leak": 16 bytes a cycle go to a list that the
 * program keeps; "cache": a cache fills and stays; "phases": each has blocks
 * of its own and gives them back; "queue": one is filled and emptied.  All
 * amid the same churn.  The first says how many cycles, in how many ms. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "say.h"

enum { CYCLES = 1500, POOL = 300, CACHE = 400, PHASES = 12, QUEUE = 500 };

struct node {
	struct node *next;
	long payload;
};

static struct node *list;
static void *pool[POOL], *cache[CACHE], *queue[QUEUE];
static size_t queued;
static uint32_t seed = 1;

static uint32_t
dice(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % sides;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* What every program does all the time. */
static __attribute__((noinline)) void
churn(void)
{
	for (int i = 0; i < 40; i++) {
		uint32_t at = dice(POOL);

		free(pool[at]);
		pool[at] = malloc(1 + dice(4000));
	}
	for (int i = 0; i < 40; i++)
		free(malloc(dice(300)));
}

static __attribute__((noinline)) void
start_up(void)
{
	for (int i = 0; i < 2000; i++) {
		struct node *n = malloc(sizeof *n + 30);

		n->next = list;
		list = n;
	}
}

static __attribute__((noinline)) void
remember(int cycle)
{
	struct node *n = malloc(sizeof *n);		/* site leak */

	n->next = list;
	n->payload = cycle;
	list = n;
}

static __attribute__((noinline)) void
look_up(int cycle)
{
	uint32_t key = dice(CACHE);

	(void)cycle;
	for (int i = 0; i < 4; i++, key = dice(CACHE))
		if (!cache[key])
			cache[key] = malloc(100);
}

static __attribute__((noinline)) void
go_on(int cycle)
{
	static void *blocks[CYCLES];

	if (cycle % (CYCLES / PHASES) == 0)
		for (int i = 0; i < cycle; i++) {
			free(blocks[i]);
			blocks[i] = NULL;
		}
	blocks[cycle] = malloc(64);
}

static __attribute__((noinline)) void
enqueue(int cycle)
{
	(void)cycle;
	for (uint32_t n = dice(8); n && queued < QUEUE; n--)
		queue[queued++] = malloc(48);
	for (uint32_t n = dice(8); n && queued; n--)
		free(queue[--queued]);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const struct timespec pause = { 0, 1000000 };
	double start;

	start_up();
	start = now_ms();
	for (int i = 0; i < CYCLES; i++) {
		churn();
		if (!strcmp(what, "leak"))
			remember(i);
		if (!strcmp(what, "cache"))
			look_up(i);
		if (!strcmp(what, "phases"))
			go_on(i);
		if (!strcmp(what, "queue"))
			enqueue(i);
		nanosleep(&pause, NULL);
	}
	say("%d %.0f\n", CYCLES, now_ms() - start);
	_exit(0);
}
