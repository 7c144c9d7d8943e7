/* SPDX-License-Identifier: Apache-2.0 */
/* The heap for the calls that come while the real one is looked up: dlsym
 * may allocate.  Blocks are aligned as asked, can be resized, and are never
 * reused; they stay valid for the life of the process and are not the
 * program's, so they are not recorded. */
#ifndef HH_BOOT_H
#define HH_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entry.h"

enum { HH_BOOT_BYTES = 128 * 1024 };

extern HH_OWN unsigned char hh_boot_heap[HH_BOOT_BYTES];

static inline bool
hh_boot_owns(const void *block)
{
	return (uintptr_t)block - (uintptr_t)hh_boot_heap < HH_BOOT_BYTES;
}

/* Zeroed; NULL with ENOMEM when it is used up. ALIGN is a power of two. */
void *hh_boot_alloc(size_t align, size_t size);
void *hh_boot_resize(void *block, size_t size);
size_t hh_boot_usable(const void *block);

#endif
