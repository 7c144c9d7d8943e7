/* SPDX-License-Identifier: Apache-2.0 */
#include "boot.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 16 };

_Alignas(GRAIN) unsigned char hh_boot_heap[HH_BOOT_BYTES];

static _Atomic size_t used;

/* The word before a block holds its size, and a bit that says "mapped" where
 * glibc keeps its flags: to who takes a block for glibc's it is no usual one,
 * and looks again. */
enum { SIZE_SHIFT = 3, LIKE_MAPPED = 2 };

static size_t *
size_word(const void *block)
{
	return (size_t *)block - 1;
}

void *
hh_boot_alloc(size_t align, size_t size)
{
	size_t seen = atomic_load_explicit(&used, memory_order_relaxed);
	size_t from, to;

	if (align < GRAIN)
		align = GRAIN;
	do {
		if (align > HH_BOOT_BYTES || size > HH_BOOT_BYTES)
			goto full;
		from = seen + sizeof(size_t);
		from += -((uintptr_t)hh_boot_heap + from) & (align - 1);
		to = (from + size + GRAIN - 1) & ~(size_t)(GRAIN - 1);
		if (to > HH_BOOT_BYTES)
			goto full;
	} while (!atomic_compare_exchange_weak_explicit(&used, &seen, to,
	    memory_order_relaxed, memory_order_relaxed));
	*size_word(hh_boot_heap + from) = size << SIZE_SHIFT | LIKE_MAPPED;
	return hh_boot_heap + from;
full:
	errno = ENOMEM;
	return NULL;
}

void *
hh_boot_resize(void *block, size_t size)
{
	void *moved;

	if (!block)
		return hh_boot_alloc(GRAIN, size);
	moved = hh_boot_alloc(GRAIN, size);
	if (moved)
		memcpy(moved, block, size < hh_boot_usable(block) ? size
		    : hh_boot_usable(block));
	return moved;
}

size_t
hh_boot_usable(const void *block)
{
	return *size_word(block) >> SIZE_SHIFT;
}
