/* SPDX-License-Identifier: Apache-2.0 */
/* tlsf_between PAIRS: a signal handler comes between each two instructions of
 * malloc and free, allocates there itself, keeps some, and frees what it got
 * before.  No two blocks may overlap. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "step.h"

enum { MINE = 60, THEIRS = 24, LEAST = 24, MOST = 400 };

struct held {
	unsigned char *at;
	size_t size;
};

static struct held mine[MINE], theirs[THEIRS];
static volatile unsigned long calls, refused;
static uint32_t seed = 20260103;

static uint32_t
draw(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static void
look(const struct held *h, size_t i)
{
	for (size_t k = 0; k < h->size; k++)
		MUST(h->at[k] == (unsigned char)i);
}

static void
fill(struct held *h, size_t size, size_t i)
{
	h->size = h->at ? size : 0;
	if (h->at)
		memset(h->at, (int)i, h->size);
}

static void
handler(int signal)
{
	struct held *h = &theirs[calls % THEIRS];
	size_t size = LEAST + calls * 40 % (MOST - LEAST);

	(void)signal;
	calls++;
	if (h->at)
		look(h, 200);
	free(h->at);
	h->at = malloc(size);
	refused += h->at == NULL;
	fill(h, size, 200);
}

int
main(int argc, char **argv)
{
	long pairs = argc > 1 ? atol(argv[1]) : 100;

	signal(SIGTRAP, handler);
	free(malloc(1));
	while (pairs--) {
		size_t i = draw() % MINE, size = LEAST + draw() % MOST;
		struct held *h = &mine[i];

		if (h->at)
			look(h, i);
		step(1);
		free(h->at);
		h->at = malloc(size);
		step(0);
		MUST(h->at);
		fill(h, size, i);
	}
	say("calls %lu\nrefused %lu\n", calls, refused);
	return 0;
}
