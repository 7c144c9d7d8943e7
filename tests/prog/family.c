/* SPDX-License-Identifier: Apache-2.0 */
/* The malloc family at its edges, as glibc has it. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

/* The compiler must not know how large it is. */
static volatile size_t huge = SIZE_MAX, half = PTRDIFF_MAX;
static void *p, *q;

#define FAILS(call) \
	MUST((errno = 0, p = (call), !p && errno == ENOMEM))

static void
nothing_is_something(void)
{
	MUST((p = malloc(0)) && (q = malloc(0)) && p != q);
	free(p);
	free(q);
	MUST((p = calloc(0, 8)));
	MUST(!realloc(p, 0));
	MUST((p = realloc(NULL, 0)));
	free(p);
	MUST((p = aligned_alloc(64, 0)));
	free(p);
	free(NULL);
	MUST(malloc_usable_size(NULL) == 0);
}

static void
too_much_is_refused(void)
{
	FAILS(malloc(huge));
	FAILS(malloc(huge - 8));
	FAILS(malloc(half + 1));
	FAILS(calloc(huge, 2));
	FAILS(calloc(half / 2, 5));
	FAILS(realloc(NULL, huge));
	FAILS(reallocarray(NULL, huge, 2));
	FAILS(reallocarray(NULL, half, 4));
	FAILS(aligned_alloc(64, huge - 32));
	FAILS(memalign(4096, huge - 64));
	FAILS(valloc(huge - 64));
	FAILS(pvalloc(huge - 64));
	errno = 5;
	q = &q;
	MUST(posix_memalign(&q, 64, huge - 32) == ENOMEM && q == &q);
	say("posix_memalign leaves errno %d\n", errno);
}

static void
a_refused_realloc_keeps(void)
{
	/* volatile, since the compiler believes that realloc took it. */
	char *volatile block = malloc(100);

	memset(block, 7, 100);
	FAILS(realloc(block, half + 1));
	FAILS(reallocarray(block, huge, 16));
	for (int i = 0; i < 100; i++)
		MUST(block[i] == 7);
	block = reallocarray(block, 100, 50);
	for (int i = 0; i < 100; i++)
		MUST(block[i] == 7);
	free(block);
}

static void
blocks_are_aligned_and_zeroed(void)
{
	for (size_t size = 1; size < 100000; size = size * 3 / 2 + 1) {
		char *block = malloc(size);

		MUST(!((uintptr_t)block & 15));
		MUST(malloc_usable_size(block) >= size);
		memset(block, 255, malloc_usable_size(block));
		free(block);
		block = calloc(1, size);
		MUST(!((uintptr_t)block & 15));
		for (size_t i = 0; i < size; i++)
			MUST(!block[i]);
		free(block);
	}
}

int
main(void)
{
	nothing_is_something();
	too_much_is_refused();
	a_refused_realloc_keeps();
	blocks_are_aligned_and_zeroed();
	return 0;
}
