/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the malloc family on a stack that is aligned to 8 only, as code of
 * machines does that keep no book of it, and libc bears.  Says how many calls
 * got a block, and how many gave one back. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

enum { TIMES = 2000 };

static int got, gone;

static uintptr_t
call(uintptr_t f, uintptr_t a, uintptr_t b, uintptr_t c)
{
	uintptr_t result = f;

#ifdef __x86_64__
	__asm__ volatile("mov %%rsp, %%rbx; sub $256, %%rsp;"
	    "and $-16, %%rsp; sub $8, %%rsp; call *%0; mov %%rbx, %%rsp"
	    : "+a"(result), "+D"(a), "+S"(b), "+d"(c)
	    : : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
#endif
	return result;
}

#define CALL(f, a, b, c) \
	call((uintptr_t)(f), (uintptr_t)(a), (uintptr_t)(b), (uintptr_t)(c))

static uintptr_t
get(uintptr_t block)
{
	MUST(block);
	got++;
	return block;
}

static void
give(uintptr_t block)
{
	CALL(free, block, 0, 0);
	gone++;
}

int
main(void)
{
	for (size_t i = 1; i <= TIMES; i++) {
		uintptr_t a = get(CALL(malloc, 7 * i, 0, 0));
		uintptr_t b = get(CALL(calloc, i, 3, 0));
		void *c = NULL;

		a = get(CALL(realloc, a, 1000 + i, 0));
		gone++;
		MUST(!(int)CALL(posix_memalign, &c, 64, i));
		MUST(CALL(malloc_usable_size, get((uintptr_t)c), 0, 0) >= i);
		give(a);
		a = get(CALL(aligned_alloc, 256, 256 * i, 0));
		a = get(CALL(reallocarray, a, i, 8));
		gone++;
		give(a);
		give(b);
		give((uintptr_t)c);
	}
	say("allocations=%d frees=%d\n", got, gone);
	return 0;
}
