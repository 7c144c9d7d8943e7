/* SPDX-License-Identifier: Apache-2.0 */
/* A preload library between a recorder and the C library, whose calls take
 * as many milliseconds as their size is above 100,000, if that is below 100:
 * those of a free as the size of its block.  A little more, so that less is
 * never right. */
#include <malloc.h>
#include <stddef.h>
#include <time.h>

enum { PLAIN = 100000, MOST_MS = 100 };

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
delay(size_t size)
{
	double end = now_ms() + (double)(size - PLAIN) * 1.05;

	if (size <= PLAIN || size - PLAIN >= MOST_MS)
		return;
	while (now_ms() < end)
		;
}

void *
malloc(size_t size)
{
	delay(size);
	return __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	delay(count * size);
	return __libc_calloc(count, size);
}

void *
realloc(void *block, size_t size)
{
	delay(size);
	return __libc_realloc(block, size);
}

void *
memalign(size_t align, size_t size)
{
	delay(size);
	return __libc_memalign(align, size);
}

/* Its size stands in it: the C library's own is rounded up. */
void
free(void *block)
{
	if (block && malloc_usable_size(block) > PLAIN)
		delay(*(size_t *)block);
	__libc_free(block);
}
