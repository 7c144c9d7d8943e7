/* SPDX-License-Identifier: Apache-2.0 */
/* lends: whether a thread that has freed one block gets it for a request that
 * is a little smaller, or much. */
#include <stdlib.h>

#include "say.h"

enum { SIZE = 1000 };

/* A block of SIZE is freed, and one more, so that it is looked at. */
static const char *
again(size_t size)
{
	void *block = malloc(SIZE), *after = malloc(16), *got;
	int same;

	free(block);
	free(after);
	got = malloc(size);
	same = got == block;
	free(got);
	return same ? "the same" : "another";
}

int
main(void)
{
	say("%s\n", again(SIZE));
	say("%s\n", again(SIZE - 100));
	say("%s\n", again(SIZE / 2));
	return 0;
}
