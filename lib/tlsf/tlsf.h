/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of bounded time in memory that is handed in: two-level segregated
 * fit, after
 *
 *	M. Masmano, I. Ripoll, A. Crespo, J. Real: TLSF: a new dynamic memory
 *	allocator for real-time systems. ECRTS 2004
 *	M. Masmano, I. Ripoll, J. Real, A. Crespo, A. J. Wellings:
 *	Implementation of a constant-time dynamic storage allocator.
 *	Software: Practice and Experience 38, 2008
 *
 * Free blocks are kept in lists by size: a power of two and, within it, 32
 * equal steps.  A request is rounded up to the next list's lower bound, so
 * that whatever block comes first there fits: two bit scans and no search.
 *
 * No system call, no lock, no global: one caller at a time, who may be
 * anywhere that its lock allows.  All sizes are in bytes. */
#ifndef TLSF_H
#define TLSF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TLSF_ALIGN = 16,
	TLSF_OVERHEAD = 8,		/* of a block, before its first byte */
	TLSF_LEAST = 24,		/* usable bytes of the smallest */
	TLSF_AREA_OVERHEAD = 32,	/* of an area that lies on the grid */
	TLSF_UNIT_BITS = 38,		/* of a size, in units of TLSF_ALIGN */
	TLSF_STEP_LOG2 = 5,		/* lists to a power of two, log2 */
	TLSF_LOOK = 4,			/* blocks of one list, at most */
	TLSF_POWERS = TLSF_UNIT_BITS - TLSF_STEP_LOG2 + 1,
	TLSF_LISTS = TLSF_POWERS << TLSF_STEP_LOG2,
};

/* No block is bigger than that, where the last list begins: 63/64 of 4 TiB.
 * So there is a list for whatever a request is rounded up to. */
#define TLSF_MOST ((((UINT64_C(2) << TLSF_STEP_LOG2) - 1) \
	<< (TLSF_UNIT_BITS - TLSF_STEP_LOG2 - 1)) * TLSF_ALIGN - TLSF_OVERHEAD)

/* What stands in the 8 bytes before a block's first.  A program that writes
 * beyond its block meets the mark first.  Of a block in use, mark and label
 * are its owner's to write, without the lock; the rest is written under the
 * lock, by its neighbours too.  So no store may be wider than its field. */
struct tlsf_header {
	uint16_t mark;		/* what the block is, mixed with where */
	uint8_t label;		/* the owner's; 0 when it is handed out */
	uint8_t bits;		/* see tlsf.c, as the next */
	uint32_t units;
};

/* The same as one number: from the top the size, BITS bits, label, mark. */
enum {
	TLSF_BITS = 2,		/* the others are the low ones of the size */
	TLSF_WORD_LABEL = 16,
	TLSF_WORD_BITS = 24,
	TLSF_WORD_SIZE = TLSF_WORD_BITS + TLSF_BITS,
};

/* What a block may be: the low byte of its mark.  None is 0, ASCII or a
 * filler, and what all have in common is nobody else's. */
enum tlsf_state {
	TLSF_USED = 0x9d,	/* the program's */
	TLSF_KEPT = 0xb9,	/* its owner's to hand out again, see cache.h */
	TLSF_FREE = 0xbd,
	TLSF_END = 0x99,	/* no block: the end of an area */
	TLSF_DIFFER = 0x24,	/* the bits in which they differ */
};

static inline struct tlsf_header *
tlsf_header(const void *block)
{
	return (struct tlsf_header *)((uintptr_t)block - TLSF_OVERHEAD);
}

static inline uint64_t
tlsf_word(const struct tlsf_header *h)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t word;

	__builtin_memcpy(&word, h, sizeof(word));
	return word;
#else
	return (uint64_t)h->units << 32
	    | (uint64_t)h->bits << TLSF_WORD_BITS
	    | (uint64_t)h->label << TLSF_WORD_LABEL | h->mark;
#endif
}

/* Of any block, header included. */
static inline uint64_t
tlsf_units(const void *block)
{
	return tlsf_word(tlsf_header(block)) >> TLSF_WORD_SIZE;
}

/* Of a block in use. */
static inline size_t
tlsf_usable(const void *block)
{
	return tlsf_units(block) * TLSF_ALIGN - TLSF_OVERHEAD;
}

/* The mark of a block at this address.  Blocks are on the grid, so the low
 * byte of what is shifted is 0. */
static inline uint16_t
tlsf_mark(const void *block, enum tlsf_state state)
{
	return (uint16_t)((uintptr_t)block << 4 | state);
}

static inline bool
tlsf_is(const void *block, enum tlsf_state state)
{
	return tlsf_header(block)->mark == tlsf_mark(block, state);
}

static inline void
tlsf_set(void *block, enum tlsf_state state)
{
	tlsf_header(block)->mark = tlsf_mark(block, state);
}

/* Whether a header stands BYTES behind a block's, as it does where the next
 * block begins, and 0 behind: all that can be asked of it without the lock. */
static inline bool
tlsf_is_sound(const void *block, size_t bytes)
{
	uintptr_t next = (uintptr_t)block + bytes;

	return (uint16_t)((tlsf_header((void *)next)->mark ^ next << 4)
	    & ~(uintptr_t)TLSF_DIFFER) == (TLSF_END & ~TLSF_DIFFER);
}

/* From a block that is in use to the next.  By its parts: a processor waits
 * where what was just stored, the mark, is read as a part of the whole. */
static inline size_t
tlsf_to_next(const void *block)
{
	const struct tlsf_header *h = tlsf_header(block);

	return ((size_t)h->units << 6 | h->bits >> 2) * TLSF_ALIGN;
}

/* Why a call stopped; NULL name while nothing is wrong. */
enum tlsf_fault {
	TLSF_FINE,
	TLSF_TWICE,		/* freed already */
	TLSF_NO_BLOCK,		/* no block begins there, or its header is
				 * overwritten */
	TLSF_NEXT_SMASHED,	/* the header behind the block is */
	TLSF_LIST_SMASHED,	/* a free block's links are */
};

/* "block freed twice", and so on, for a message. */
const char *tlsf_fault_name(enum tlsf_fault fault);

struct tlsf_free;
struct tlsf_area;

struct tlsf {
	struct tlsf_free *lists[TLSF_LISTS];	/* first, for tlsf.c's sake */

	/* What each call comes by is one cache line, which processors that
	 * take turns must hand to each other. */
	uint64_t powers;	/* a bit: some list of it */
	uintptr_t low;		/* the first block's address, of all areas */
	uint64_t span;		/* units from there, the last end included */
	uint64_t used;		/* blocks in use, with their overhead */
	uint64_t peak;		/* the most that used has been */
	uint64_t blocks;	/* in use */
	uint64_t total;		/* of all areas, with all overhead */
	enum tlsf_fault fault;	/* the first that was found */
	unsigned latest;	/* list that a block was put on last */

	uint32_t steps[TLSF_POWERS];		/* a bit: that list */
	const void *fault_at;	/* the block it was found at */
	struct tlsf_area *areas;
	uintptr_t piece;	/* last handed in that was too small, */
	size_t piece_bytes;	/* and may be touched by the next */
};

void tlsf_init(struct tlsf *t);

/* Hand in BYTES at AT, which need not be aligned and stay the heap's.  What
 * touches an area that is there already makes one with it, so that free
 * space goes on across the seam.  Looks at each area: not for the fast path.
 * False when nothing of it can be used by itself (an area too small to hold
 * a block still counts, and may be made whole by a later one that touches),
 * or when it is beyond TLSF_MOST. */
bool tlsf_add(struct tlsf *t, void *at, size_t bytes);

/* Whether an area of BYTES, which begins on the grid, would serve this
 * request by itself. */
bool tlsf_area_serves(size_t bytes, size_t align, size_t size);

/* At least SIZE usable bytes, 0 as 1, at a multiple of ALIGN, a power of two;
 * NULL when there is no room, SIZE is absurd, or the free block that would
 * serve is overwritten, which t->fault says.  The block's mark says
 * TLSF_USED, its label 0. */
void *tlsf_malloc(struct tlsf *t, size_t size);
void *tlsf_memalign(struct tlsf *t, size_t align, size_t size);

/* BLOCK's mark must say TLSF_USED or TLSF_KEPT.  Whatever is wrong, found in
 * bounded time, is the answer and in t->fault, and the heap left as it was. */
enum tlsf_fault tlsf_free(struct tlsf *t, void *block);

/* Make BLOCK hold SIZE in place, longer or shorter, what is free behind it
 * taken or given back.  False, and nothing done, if that cannot be. */
bool tlsf_resize(struct tlsf *t, void *block, size_t size);

/* The same, and else moves it to where ALIGN holds, into what is free before
 * it first; NULL, and BLOCK as it was, when there is no room.  SIZE 0 is 1;
 * the label goes along. */
void *tlsf_realloc(struct tlsf *t, void *block, size_t align, size_t size);

/* The biggest free block.  Exact while its list holds at most TLSF_LOOK
 * blocks; else too low by less than a list's spread, 1/32. */
size_t tlsf_largest(const struct tlsf *t);

/* Every invariant, by walking all areas and lists; NULL, or the name of the
 * first that is broken.  Not bounded: for tests, and after a fault. */
const char *tlsf_check(const struct tlsf *t);

/* Every block of all areas in turn, the used and the free; stops when SEE
 * says false. */
struct tlsf_block {
	const void *at;
	size_t bytes;		/* usable */
	bool is_free;
};
void tlsf_walk(const struct tlsf *t,
    bool (*see)(const struct tlsf_block *block, void *with), void *with);

#endif
