/* SPDX-License-Identifier: Apache-2.0 */
/* slides ALIGN [behind]: in a pool that is full but for the block before, which
 * was just freed, what grows moves back into it, with all its bytes; or it
 * grows into the one behind. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

enum { FREE = 200000, HAS = 150000, WANTS = 300000, REST = 8192 };

static void *volatile rest[1 << 17];

/* Nearly all that the pool has left: what is between an aligned
 * block and the one before is not taken. */
static void
fill(void)
{
	size_t n = 0;

	for (size_t bytes = FREE; bytes >= REST; bytes /= 2)
		while (n < sizeof rest / sizeof *rest
		    && (rest[n] = malloc(bytes)))
			n++;
}

static int
slides(size_t align, int behind)
{
	char *before = behind ? NULL : malloc(FREE);
	char *block = memalign(align, HAS), *now;
	char *after = behind ? malloc(FREE) : NULL;
	size_t wrong = 0;

	MUST((before || after) && block);
	fill();
	for (size_t i = 0; i < HAS; i++)
		block[i] = (char)(i % 251);
	free(behind ? after : before);
	now = realloc(block, WANTS);
	for (size_t i = 0; now && i < HAS; i++)
		wrong += now[i] != (char)(i % 251);
	if (!now)
		say("no room\n");
	else if (wrong || (behind ? now != block : now >= block)
	    || malloc_usable_size(now) < WANTS
	    || (uintptr_t)now % align)
		say("%zu bytes are wrong\n", wrong);
	return now && !wrong;
}

int
main(int argc, char **argv)
{
	return slides((size_t)atol(argv[1]), argc > 2) ? 0 : 1;
}
