/* SPDX-License-Identifier: Apache-2.0 */
/* A program that brings its own malloc: no preload can see its calls. */
#include <stdlib.h>
#include <string.h>

#include "say.h"

static char pool[1 << 22] __attribute__((aligned(64)));
static size_t used;

void *
malloc(size_t size)
{
	size_t at = used + 16;

	used = (at + size + 15) & ~(size_t)15;
	MUST(used <= sizeof(pool));
	memcpy(pool + at - 16, &size, sizeof(size));
	return pool + at;
}

void
free(void *block)
{
	MUST(!block || ((char *)block > pool
	    && (char *)block < pool + sizeof(pool)));
}

void *
calloc(size_t n, size_t size)
{
	return memset(malloc(n * size), 0, n * size);
}

void *
realloc(void *block, size_t size)
{
	void *to = malloc(size);
	size_t had;

	if (!block)
		return to;
	memcpy(&had, (char *)block - 16, sizeof(had));
	return memcpy(to, block, had < size ? had : size);
}

int
main(void)
{
	char *s = strdup("mine");

	MUST(s > pool && s < pool + sizeof(pool));
	free(s);
	return 0;
}
