/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that a thread has freed and will hand out again, so that threads
 * rarely meet at the heap: per label a magazine of pointers.  A label says
 * for which requests a block serves; it stands in the block's header, so
 * that a block is kept without a look at its size and handed out without a
 * look at the block at all.
 *
 * What is kept is bounded: by what one cache may hold, by what all may hold
 * together, and by the length of each magazine.  The first is one figure, from
 * which each block that is kept takes its part, whatever its label; so it is
 * only when a thread keeps more than ever before that it must ask for more.
 * To the heap kept blocks are in use; their mark says TLSF_KEPT, so that
 * freeing one again is seen.
 *
 * Pure like the heap: no system call, no lock, no global.  A cache is used
 * by one thread at a time; functions that take a depot need the lock that
 * the heap and the depot share. */
#ifndef TLSF_CACHE_H
#define TLSF_CACHE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tlsf.h"

/* Labels.  0: not kept, and aligned to TLSF_ALIGN.  Then one for each total
 * size up to 128, eight steps to a power of two up to LABEL_MOST; then two
 * steps to a power of two for each alignment; then what is aligned and not
 * kept, by alignment. */
enum {
	LABEL_UNITS = 2048,	/* in the biggest that is kept, of 16 bytes */
	LABEL_MOST = LABEL_UNITS * TLSF_ALIGN - TLSF_OVERHEAD,
	LABEL_PLAIN = 73,	/* below: by size */

	LABEL_ALIGN_LOG2 = 5,	/* alignments from 32 ... */
	LABEL_ALIGNS = 8,	/* ... to 4096 */
	LABEL_STEPS = 17,	/* sizes from 32, 48, 64 ... */
	LABEL_ALIGNED_MOST = 8192,	/* ... to this, for each */
	LABEL_ALIGNED = LABEL_PLAIN + LABEL_ALIGNS * LABEL_STEPS,
	LABELS = 256,

	CACHE_SLOTS = 17217,	/* of all magazines: 17210, and so many that a
				 * depot's figures begin a cache line */
	CACHE_LENT = 2,		/* who asks for a block may get one of so many
				 * labels more */
	CACHE_BATCH = 32,	/* from the depot at once, at most, */
	CACHE_PASSED = 26,	/* and to it: what is copied counts */
	CACHE_AHEAD = 8,	/* room is granted for so many at once */
};

static_assert(LABELS == UINT8_MAX + 1, "a hand comes by all");
static_assert(LABEL_ALIGNED + 48 - LABEL_ALIGN_LOG2 <= LABELS,
    "a label for each alignment that an address can have");

/* Of slots [first, last) those before top hold a block, which has so many
 * units at least: its part of what is granted.  0: not kept. */
struct tlsf_magazine {
	uint16_t top, first, last, units;
};

/* Whether the cache's thread may enter, and whether it is within.  One that is
 * all zeros nobody enters. */
struct tlsf_door {
	_Atomic bool open;
	_Atomic bool within;
};

/* As it is when one may enter.  Its parts are compared each by itself: both at
 * once would wait for the last store to one.  And as bytes, which is an
 * instruction less than to load what is atomic. */
static const struct tlsf_door tlsf_door_left = { .open = true };

struct tlsf_cache {
	struct tlsf_magazine magazines[LABELS];
	uint64_t room;		/* units that more blocks may have, */
	uint64_t granted;	/* and with those that are kept */
	void *pending;		/* freed last, and not looked at yet; or NULL */
	struct tlsf_door door;
	uint64_t gets;		/* that it served */
	int64_t moved;		/* blocks that came not by a put, less those
				 * that went not by a get */
	uint8_t hand;		/* the label to be given back next */
	void *slots[CACHE_SLOTS];	/* of a short one, the first */
};

/* How many blocks it has room for, which must be worth what it takes. */
enum tlsf_length { CACHE_SHORT, CACHE_LONG };

/* What threads exchange: a cache of nobody, which is granted what it holds and
 * no more; and the sum of all grants with the bounds they have. */
struct tlsf_depot {
	struct tlsf_cache cache;
	/* In units.  Nobody is granted the last of it for a few big blocks:
	 * what was kept of them, and is not used any more, must not take all
	 * from small ones, which come in greater numbers. */
	uint64_t each;		/* that one cache may be granted, */
	uint64_t shared;	/* and this itself, */
	uint64_t most;		/* and all caches and this together, */
	int64_t left;		/* of which so much is left: less than nothing,
				 * when they have become fewer */
};

/* In bytes. */
static inline uint64_t
tlsf_depot_granted(const struct tlsf_depot *d)
{
	return (d->most - (uint64_t)d->left) * TLSF_ALIGN;
}

/* The label by total units, for plain requests. */
#define LABEL_STEP(e, k) \
	[((8 + (k)) << (e)) + 1 ... (9 + (k)) << (e)] = 8 * (e) + 9 + (k)
#define LABEL_POWER(e) \
	LABEL_STEP(e, 0), LABEL_STEP(e, 1), LABEL_STEP(e, 2), \
	LABEL_STEP(e, 3), LABEL_STEP(e, 4), LABEL_STEP(e, 5), \
	LABEL_STEP(e, 6), LABEL_STEP(e, 7)

static const uint8_t tlsf_label_of_units[LABEL_UNITS + 2] = {
	[0 ... 2] = 2, [3] = 3, [4] = 4, [5] = 5, [6] = 6, [7] = 7, [8] = 8,
	LABEL_POWER(0), LABEL_POWER(1), LABEL_POWER(2), LABEL_POWER(3),
	LABEL_POWER(4), LABEL_POWER(5), LABEL_POWER(6), LABEL_POWER(7),
	[LABEL_UNITS + 1] = LABEL_PLAIN,	/* for who takes one less */
};

/* SIZE is at most LABEL_MOST. */
static inline unsigned
tlsf_label(size_t size)
{
	return tlsf_label_of_units[(size + TLSF_OVERHEAD + TLSF_ALIGN - 1)
	    / TLSF_ALIGN];
}

static inline unsigned
tlsf_log2(size_t v)
{
	return 63 - (unsigned)__builtin_clzll(v);
}

/* ALIGN is a power of two beyond TLSF_ALIGN.  The steps are half a power of
 * two: 32, 48, 64, 96 ... the first not below SIZE. */
static inline unsigned
tlsf_label_aligned(size_t align, size_t size)
{
	unsigned label = tlsf_log2(align) - LABEL_ALIGN_LOG2, power;
	size_t v = size - 1;

	if (label >= LABEL_ALIGNS || size > LABEL_ALIGNED_MOST)
		return LABEL_ALIGNED + label;
	label = LABEL_PLAIN + label * LABEL_STEPS;
	if (size <= 32)
		return label;
	power = tlsf_log2(v);
	return label + 2 * (power - 5) + 1 + (v >> (power - 1) & 1);
}

/* The most that may be asked of a block with this label; 0 when it is not
 * kept. */
size_t tlsf_label_size(unsigned label);

static inline size_t
tlsf_label_align(unsigned label)
{
	if (label < LABEL_PLAIN)
		return TLSF_ALIGN;
	return (size_t)1 << (LABEL_ALIGN_LOG2 + (label >= LABEL_ALIGNED
	    ? label - LABEL_ALIGNED : (label - LABEL_PLAIN) / LABEL_STEPS));
}

/* A fresh block for LABEL from the heap, of SIZE: as much as LABEL serves, if
 * it is kept. */
static inline void *
tlsf_take(struct tlsf *t, unsigned label, size_t size)
{
	void *block;

	if (!label)
		return tlsf_malloc(t, size);
	block = label < LABEL_PLAIN ? tlsf_malloc(t, size)
	    : tlsf_memalign(t, tlsf_label_align(label), size);
	if (block)
		tlsf_header(block)->label = (uint8_t)label;
	return block;
}

/* The label for a block of UNITS whose label was OLD, now that it has another
 * size: what it serves for sure. */
unsigned tlsf_label_resized_aligned(unsigned old, uint64_t units);

/* One more unit would begin the next label, but for those that end a step. */
static inline unsigned
tlsf_label_resized(unsigned old, uint64_t units)
{
	if (old >= LABEL_PLAIN)
		return tlsf_label_resized_aligned(old, units);
	return units <= LABEL_UNITS ? tlsf_label_of_units[units + 1] - 1u : 0;
}

/* What is given to a block of HAD units that grows to UNITS: room to grow
 * again, by an eighth at least, and up to the next of eight steps to a power
 * of two; with the labels, up to LABEL_UNITS. */
static inline uint64_t
tlsf_roomy(uint64_t had, uint64_t units)
{
	uint64_t least = had + had / 8;
	uint64_t most = (units > least ? units : least) - 1;
	unsigned shift = tlsf_log2(most | 8) - 3;

	return ((most >> shift) + 1) << shift;
}

/* Of memory that it needs. */
size_t tlsf_cache_bytes(enum tlsf_length length);

/* Empty, holding nothing, and granted nothing.  A depot's is long. */
void tlsf_cache_init(struct tlsf_cache *c, enum tlsf_length length);
void tlsf_depot_init(struct tlsf_depot *d);

/* All of them may be granted MOST bytes from now on, of that each cache EACH,
 * and the depot itself SHARED.  What they have beyond goes as they are used. */
void tlsf_depot_bound(struct tlsf_depot *d, uint64_t most, uint64_t each,
    uint64_t shared);

/* A block of LABEL's magazine, marked as used; NULL when it has none, or what
 * comes next was freed again last: whoever gets that would lose it when it is
 * looked at. */
static inline void *
tlsf_cache_get(struct tlsf_cache *c, unsigned label)
{
	struct tlsf_magazine *m = &c->magazines[label];
	unsigned top = m->top;
	void *block;

	if (__builtin_expect(top == m->first, 0))
		return NULL;
	block = c->slots[--top];
	if (!block)
		__builtin_unreachable();
	if (__builtin_expect(block == c->pending, 0))
		return NULL;
	m->top = (uint16_t)top;
	c->room += m->units;
	c->gets++;
	tlsf_set(block, TLSF_USED);
	return block;
}

/* For who found none with a plain LABEL: one that is bigger by a step or two,
 * and goes back there.  Which sizes a thread has freed more of than it took
 * varies, but of several together less. */
static inline void *
tlsf_cache_borrow(struct tlsf_cache *c, unsigned label)
{
	for (unsigned i = 1; i <= CACHE_LENT; i++) {
		struct tlsf_magazine *m = &c->magazines[label + i];

		if (m->top != m->first)
			return label + i < LABEL_PLAIN
			    ? tlsf_cache_get(c, label + i) : NULL;
	}
	return NULL;
}

/* Whether BLOCK may be kept by C, whose slots its label is one of: the program
 * has it, it is as big as its label says, and nobody wrote beyond it, into the
 * header behind. */
static inline bool
tlsf_cache_accepts(const struct tlsf_cache *c, const void *block)
{
	size_t bytes = tlsf_to_next(block);
	size_t beyond = bytes / TLSF_ALIGN
	    - c->magazines[tlsf_header(block)->label].units;

	return tlsf_is(block, TLSF_USED) && beyond < LABEL_UNITS
	    && tlsf_is_sound(block, bytes);
}

/* Whatever BLOCK is. */
static inline bool
tlsf_cache_has_room(const struct tlsf_cache *c, const void *block)
{
	const struct tlsf_magazine *m
	    = &c->magazines[tlsf_header(block)->label];

	return __builtin_expect(c->room >= m->units, 1)
	    && __builtin_expect(m->top != m->last, 1);
}

/* Keep BLOCK, which is accepted and for which there is room. */
static inline void
tlsf_cache_put(struct tlsf_cache *c, void *block)
{
	struct tlsf_magazine *m = &c->magazines[tlsf_header(block)->label];
	unsigned top = m->top;

	c->slots[top] = block;
	m->top = (uint16_t)(top + 1);
	c->room -= m->units;
	tlsf_set(block, TLSF_KEPT);
}

/* A header that nobody has used for long takes longer to come than all the
 * rest: what is freed is looked at when the next block is freed, and called
 * meanwhile.  What comes out is put; NULL at first. */
static inline void *
tlsf_cache_defer(struct tlsf_cache *c, void *block)
{
	void *before = c->pending;

	__builtin_prefetch(tlsf_header(block), 1);
	c->pending = block;
	return before;
}

/* False in a signal handler that interrupted who has entered: it goes past the
 * cache then.  For who holds the lock that the heap and the depot share, which
 * nobody closes caches without. */
static inline bool
tlsf_cache_enter_locked(struct tlsf_cache *c)
{
	if (__builtin_expect(memcmp(&c->door.within, &tlsf_door_left.within,
	    sizeof c->door.within) != 0, 0))
		return false;
	atomic_store_explicit(&c->door.within, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

/* False also while another thread has closed it, which is looked at when that
 * one can see that somebody is within. */
static inline bool
tlsf_cache_enter(struct tlsf_cache *c)
{
	if (__builtin_expect(!tlsf_cache_enter_locked(c), 0))
		return false;
	if (__builtin_expect(memcmp(&c->door.open, &tlsf_door_left.open,
	    sizeof c->door.open) == 0, 1)) {
		/* Pairs with the release in tlsf_cache_open(). */
		atomic_thread_fence(memory_order_acquire);
		return true;
	}
	atomic_store_explicit(&c->door.within, false, memory_order_relaxed);
	return false;
}

/* Whether there is one at all, mostly. */
static inline bool
tlsf_cache_is_open(const struct tlsf_cache *c)
{
	return atomic_load_explicit(&c->door.open, memory_order_relaxed);
}

/* Pairs with the acquire in tlsf_cache_is_left(). */
static inline void
tlsf_cache_leave(struct tlsf_cache *c)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&c->door.within, false, memory_order_release);
}

/* Nobody will ever enter it, nor store anything there. */
static inline void
tlsf_cache_bar(struct tlsf_cache *c)
{
	atomic_store_explicit(&c->door.within, true, memory_order_relaxed);
}

/* For another thread: close it, let its thread come by a barrier (that of
 * membarrier(2), which costs who enters nothing), use it if it is left, and
 * open it again, all with that lock held. */
static inline void
tlsf_cache_close(struct tlsf_cache *c)
{
	atomic_store_explicit(&c->door.open, false, memory_order_relaxed);
}

static inline bool
tlsf_cache_is_left(const struct tlsf_cache *c)
{
	return !atomic_load_explicit(&c->door.within, memory_order_acquire);
}

static inline void
tlsf_cache_open(struct tlsf_cache *c)
{
	atomic_store_explicit(&c->door.open, true, memory_order_release);
}

/* The same when the magazine is empty or full, from and to the depot, else
 * the heap, one block at a time.  Bounded time.  What is spilled need not be
 * sound: what is wrong is the answer and in t->fault, and nothing is done. */
void *tlsf_cache_refill(struct tlsf_cache *c, struct tlsf_depot *d,
    struct tlsf *t, unsigned label);
enum tlsf_fault tlsf_cache_spill(struct tlsf_cache *c, struct tlsf_depot *d,
    struct tlsf *t, void *block);

/* tlsf_resize(), but a block that grows is given room to grow again, and if
 * it is LABELLED at all, the label for what it serves now.  Its mark says
 * TLSF_USED, and SIZE is TLSF_MOST at most. */
bool tlsf_cache_resize(struct tlsf *t, void *block, size_t size,
    bool labelled);

/* What these consist of, for exchange.h: a block and more from the depot,
 * which has some; BLOCK kept, for which there is room; and half of what C has
 * to the depot, at most CACHE_PASSED and if that may hold them, then BLOCK to
 * C, or if that has no room for it to the depot too, which may hold one at
 * least. */
void *tlsf_cache_fetch(struct tlsf_cache *c, struct tlsf_depot *d,
    unsigned label);
void tlsf_cache_keep(struct tlsf_cache *c, void *block);
void tlsf_cache_pass_on(struct tlsf_cache *c, struct tlsf_depot *d,
    void *block);

/* In a child of a fork, of a thread that is not there: it may have been in the
 * middle of a call. */
void tlsf_cache_mend(struct tlsf_cache *c);

/* One step of giving everything back, to the heap and to others; false when
 * all is done.  C may be the depot's own. */
bool tlsf_cache_drain(struct tlsf_cache *c, struct tlsf_depot *d,
    struct tlsf *t);

/* What is in it, and how many puts it served; roughly so while its thread
 * runs. */
struct tlsf_kept {
	uint64_t blocks;
	uint64_t bytes;		/* with overhead */
	uint64_t puts;
};
struct tlsf_kept tlsf_cache_kept(const struct tlsf_cache *c);

#endif
