/* SPDX-License-Identifier: Apache-2.0 */
/* The malloc family.  What every back end would repeat is done here and
 * nothing else: blocks of the bootstrap heap never reach one. */
#define _GNU_SOURCE
#include "entry.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "boot.h"

/* Weak, like free and realloc: a back end that is in a hurry defines them
 * itself, and asks what is asked here where it is not. */
HH_EXPORT __attribute__((weak)) void *
malloc(size_t size)
{
	return hh_backend_malloc(size);
}

HH_EXPORT __attribute__((weak)) void
free(void *block)
{
	if (!block || hh_boot_owns(block))
		return;
	hh_backend_free(block);
}

HH_EXPORT void *
calloc(size_t count, size_t size)
{
	return hh_backend_calloc(count, size);
}

/* A block of the bootstrap heap moves out of it. */
static void *
leave_boot(void *block, size_t size)
{
	size_t kept = hh_boot_usable(block);
	void *moved;

	if (!size)
		return NULL;
	moved = hh_backend_malloc(size);
	if (moved)
		memcpy(moved, block, kept < size ? kept : size);
	return moved;
}

void *
hh_entry_realloc(void *block, size_t size)
{
	if (hh_boot_owns(block))
		return leave_boot(block, size);
	return hh_backend_realloc(HH_REALLOC, block, size);
}

HH_EXPORT __attribute__((weak)) void *
realloc(void *block, size_t size)
{
	return hh_entry_realloc(block, size);
}

/* A product that overflows is a size that nobody has. */
HH_EXPORT void *
reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	if (hh_boot_owns(block))
		return leave_boot(block, bytes);
	return hh_backend_realloc(HH_REALLOCARRAY, block, bytes);
}

HH_EXPORT int
posix_memalign(void **out, size_t align, size_t size)
{
	int error = 0;
	void *block = hh_backend_memalign(HH_POSIX_MEMALIGN, align, size,
	    &error);

	if (!error)
		*out = block;
	return error;
}

HH_EXPORT void *
aligned_alloc(size_t align, size_t size)
{
	return hh_backend_memalign(HH_ALIGNED_ALLOC, align, size, NULL);
}

HH_EXPORT void *
memalign(size_t align, size_t size)
{
	return hh_backend_memalign(HH_MEMALIGN, align, size, NULL);
}

HH_EXPORT void *
valloc(size_t size)
{
	return hh_backend_memalign(HH_VALLOC, 0, size, NULL);
}

HH_EXPORT void *
pvalloc(size_t size)
{
	return hh_backend_memalign(HH_PVALLOC, 0, size, NULL);
}

HH_EXPORT size_t
malloc_usable_size(void *block)
{
	if (!block)
		return 0;
	return hh_boot_owns(block) ? hh_boot_usable(block)
	    : hh_backend_usable(block);
}

/* Not in every libc's headers: C23's, and one that glibc dropped. */
HH_EXPORT void free_sized(void *block, size_t size);
HH_EXPORT void free_aligned_sized(void *block, size_t align, size_t size);
HH_EXPORT void cfree(void *block);

HH_EXPORT void
free_sized(void *block, size_t size)
{
	(void)size;
	free(block);
}

HH_EXPORT void
free_aligned_sized(void *block, size_t align, size_t size)
{
	(void)align;
	(void)size;
	free(block);
}

HH_EXPORT void
cfree(void *block)
{
	free(block);
}
