/* SPDX-License-Identifier: Apache-2.0 */
/* How blocks and areas lie in memory: for core.h and the files of this folder.
 *
 * An area is its record, then blocks without a gap, then a header of no
 * units, its end.  A block is its header and what follows up to the next
 * block's header.  All sizes here are in units, header included.
 *
 * Beside its own, a block's header says whether the block before is free;
 * then the last 8 bytes of that one, just before the header, say where it
 * begins.  Two free blocks never touch. */
#ifndef TLSF_BLOCK_H
#define TLSF_BLOCK_H

#include "tlsf.h"

#include <assert.h>

/* What each operation consists of is compiled into it: calls would be a
 * quarter of its instructions. */
#define INLINE __attribute__((always_inline)) static inline

enum {
	BIT_FREE = 1,
	BIT_BEFORE_FREE = 2,
	LEAST_UNITS = (TLSF_LEAST + TLSF_OVERHEAD) / TLSF_ALIGN,
	STEPS = 1 << TLSF_STEP_LOG2,
};

/* What a free block holds.  What points to it is the list's head or, since
 * NEXT comes first, the block before it in the list. */
struct tlsf_free {
	struct tlsf_free *next;
	struct tlsf_free **from;
};

/* Begins on the grid.  It and the end may each lie a unit further in than
 * the area would let them, while that unit has nobody to join. */
struct tlsf_area {
	struct tlsf_area *next;
	uintptr_t start;	/* as handed in, as the next */
	uintptr_t end;
};

static_assert(sizeof(struct tlsf_header) == TLSF_OVERHEAD, "one word");
static_assert(sizeof(struct tlsf_free) + sizeof(void *) <= TLSF_LEAST,
    "links and beginning fit into the smallest block");
static_assert(sizeof(struct tlsf_area) + TLSF_OVERHEAD == TLSF_AREA_OVERHEAD,
    "record and end");
static_assert(TLSF_AREA_OVERHEAD % TLSF_ALIGN == 0,
    "what follows the record's unit and the first header is on the grid");
static_assert(TLSF_POWERS <= 64, "a bit each");

/* Only where nobody else may write: a block that is free, or new to its owner,
 * or whose owner is the one who asks. */
static inline void
word_store(struct tlsf_header *h, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__builtin_memcpy(h, &word, sizeof(word));
#else
	*h = (struct tlsf_header){ (uint16_t)word,
		(uint8_t)(word >> TLSF_WORD_LABEL),
		(uint8_t)(word >> TLSF_WORD_BITS),
		(uint32_t)(word >> 32) };
#endif
}

static inline void *
block_behind(const void *block, uint64_t units)
{
	return (void *)((uintptr_t)block + units * TLSF_ALIGN);
}

/* Where a free block begins that ends before this one. */
static inline struct tlsf_free **
block_before(const void *block)
{
	return (struct tlsf_free **)((uintptr_t)block - TLSF_OVERHEAD
	    - sizeof(void *));
}

static inline void
block_head(void *block, unsigned state, uint64_t units, unsigned bits)
{
	word_store(tlsf_header(block), units << TLSF_WORD_SIZE
	    | (uint64_t)bits << TLSF_WORD_BITS
	    | tlsf_mark(block, (enum tlsf_state)state));
}

/* By its mark: a state, or what is none. */
static inline unsigned
block_state(const void *block)
{
	return tlsf_header(block)->mark ^ (uint16_t)((uintptr_t)block << 4);
}

/* The smallest sizes have a list each; then the first list of a power is
 * number STEPS times (the power's own number), and begins there. */
static inline unsigned
list_shift(uint64_t units)
{
	/* 63 - n, but as compilers like it. */
	return ((unsigned)__builtin_clzll(units | STEPS) ^ 63) - TLSF_STEP_LOG2;
}

static inline unsigned
list_of(uint64_t units)
{
	unsigned shift = list_shift(units);

	return shift * STEPS + (unsigned)(units >> shift);
}

/* On the grid, and between the first block of all and the last end. */
static inline bool
heap_spans(const struct tlsf *t, const void *block)
{
	uintptr_t off = (uintptr_t)block - t->low;

	/* The rotation makes what is off the grid huge. */
	return (off >> 4 | off << (sizeof(off) * 8 - 4)) < t->span;
}

static inline void *
area_first(const struct tlsf_area *area)
{
	return (char *)area + sizeof(*area) + TLSF_OVERHEAD;
}

/* The address that its last header is of. */
static inline void *
area_last(const struct tlsf_area *area)
{
	char *end = (char *)(area->end / TLSF_ALIGN * TLSF_ALIGN);

	return block_state(end) == TLSF_END ? end : end - TLSF_ALIGN;
}

/* Make UNITS at BLOCK, which its header says are in use but nobody counts,
 * free together with what is free on both sides.  One unit alone will do if
 * there is such.  False if a neighbour is not sound. */
bool tlsf_join(struct tlsf *t, void *block, uint64_t units);

#endif
