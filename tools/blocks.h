/* SPDX-License-Identifier: Apache-2.0 */
/* The live blocks by address: a hash table with open addressing.
 *
 * Probing is linear, at most 5/8 of the places are taken, and a removal
 * moves later ones back, so that no tombstones pile up.  The hash is the
 * top bits of a product with a random odd number: whoever makes up a log
 * cannot make up collisions. */
#ifndef TOOLS_BLOCKS_H
#define TOOLS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct block {
	uint64_t address;	/* 0: the place is free */
	uint64_t requested;
	uint64_t excess:40;	/* of which more is usable */
	uint64_t site:24;	/* where, as stacks have it; 0: unknown */
	uint32_t owner;		/* thread that allocated it */
	uint32_t when;		/* ticks, the low half: lately or not */
};

static const uint64_t BLOCK_EXCESS_MOST = (UINT64_C(1) << 40) - 1;

static inline uint64_t
block_usable(const struct block *b)
{
	return b->requested + b->excess;
}

struct blocks {
	struct block *places;
	size_t mask;		/* one less than there are places */
	size_t count, limit;	/* taken; how many may be before it grows */
	unsigned shift;
	uint64_t multiplier;
};

void blocks_init(struct blocks *b);
void blocks_free(struct blocks *b);
void blocks_grow(struct blocks *b);
struct blocks blocks_copy(const struct blocks *b);

/* All there are, by address; the caller frees the list. */
struct block *blocks_list(const struct blocks *b);

/* BLOCK is gone: what stands behind it moves up. */
void blocks_close(struct blocks *b, struct block *block);

static inline size_t
blocks_home(const struct blocks *b, uint64_t address)
{
	return (size_t)(address * b->multiplier >> b->shift);
}

/* Where the block at ADDRESS is first looked for, and mostly found. */
static inline const struct block *
blocks_home_of(const struct blocks *b, uint64_t address)
{
	return b->places + blocks_home(b, address);
}

/* ADDRESS will soon be asked for, and what stands next to it, if that is in
 * another line of the cache. */
static inline void
blocks_expect(const struct blocks *b, uint64_t address)
{
	const struct block *home = blocks_home_of(b, address);

	__builtin_prefetch(home, 1);
	__builtin_prefetch(home + 1, 1);
}

/* Where the block at ADDRESS, which is not 0, is; or a free place, where it
 * would be put. */
static inline struct block *
blocks_place(const struct blocks *b, uint64_t address)
{
	size_t i = blocks_home(b, address);

	while (b->places[i].address && b->places[i].address != address)
		i = (i + 1) & b->mask;
	return b->places + i;
}

/* What stands behind BLOCK, round the end. */
static inline struct block *
blocks_next(const struct blocks *b, const struct block *block)
{
	return b->places + ((size_t)(block + 1 - b->places) & b->mask);
}

/* NULL if no block is live there. */
static inline struct block *
blocks_find(const struct blocks *b, uint64_t address)
{
	struct block *place = blocks_place(b, address);

	return place->address ? place : NULL;
}

/* Forget BLOCK, which a find or a take has just given. */
static inline void
blocks_remove(struct blocks *b, struct block *block)
{
	b->count--;
	if (blocks_next(b, block)->address)
		blocks_close(b, block);
	else
		block->address = 0;
}

/* PLACE, which is free and was just given for ADDRESS, is taken by it; it
 * moves when the table must grow. */
static inline struct block *
blocks_take(struct blocks *b, struct block *place, uint64_t address)
{
	if (b->count == b->limit) {
		blocks_grow(b);
		place = blocks_place(b, address);
	}
	b->count++;
	place->address = address;
	return place;
}

#endif
