/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes of a block can be used, twice in the life of each block. */
#ifndef HH_USABLE_H
#define HH_USABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../interpose/real.h"

/* The next allocator is glibc's own: usable sizes follow its rule, and the
 * word before a block is the size of its chunk and three flags. */
extern HH_OWN bool hh_usable_ruled;

enum {
	HH_CHUNK_WORD = sizeof(size_t),	/* of a chunk that is not usable */
	HH_CHUNK_MAPPED = 2,		/* a mapping: two such words */
	HH_CHUNK_OTHER_FLAGS = 5,
};

static inline size_t
hh_usable_word(const void *block)
{
	return ((const size_t *)block)[-1];
}

/* The chunk that glibc takes for SIZE unless it has a few bytes to spare. */
static inline size_t
hh_usable_chunk(size_t size)
{
	size_t chunk = (size + HH_CHUNK_WORD + 15) & ~(size_t)15;

	return chunk < 32 ? 32 : chunk;
}

static inline size_t
hh_usable_expected(size_t size)
{
	return hh_usable_chunk(size) - HH_CHUNK_WORD;
}

static inline size_t
hh_usable(const void *block)
{
	return hh_real.malloc_usable_size((void *)block);
}

#endif
