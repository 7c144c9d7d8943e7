/* SPDX-License-Identifier: Apache-2.0 */
/* Calls before any constructor has run, ours included, and after main. */
#include <dlfcn.h>
#include <stdlib.h>

#include "say.h"

static void *before[3];

static void
first(void)
{
	before[0] = malloc(11);
	before[1] = calloc(2, 11);
	before[2] = aligned_alloc(64, 64);
	before[0] = realloc(before[0], 33);
}

__attribute__((section(".preinit_array"), used))
static void (*const run_first)(void) = first;

static void
last(void)
{
	free(malloc(44));
}

int
main(void)
{
	MUST(dlsym(RTLD_DEFAULT, "malloc"));
	MUST(!atexit(last));
	for (int i = 0; i < 3; i++)
		free(before[i]);
	return 0;
}
