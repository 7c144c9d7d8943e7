/* SPDX-License-Identifier: Apache-2.0 */
/* What taking a block and giving it back consists of: for the files of this
 * folder, and for who compiles exchange.h in.
 *
 * Nothing is changed before all that will be touched has been looked at. */
#ifndef TLSF_CORE_H
#define TLSF_CORE_H

#include "block.h"

#define COLD __attribute__((noinline, cold, unused)) static

COLD enum tlsf_fault
blame(struct tlsf *t, enum tlsf_fault fault, const void *block)
{
	if (!t->fault) {
		t->fault = fault;
		t->fault_at = block;
	}
	return fault;
}

/* What is looked for: UNITS, or rather BETTER, where LIST begins. */
struct want {
	uint64_t units;
	uint64_t better;
	unsigned list;
};

/* For SIZE usable bytes, at most TLSF_MOST of them. */
INLINE uint64_t
units_for(size_t size)
{
	uint64_t units = (size + TLSF_OVERHEAD + TLSF_ALIGN - 1) / TLSF_ALIGN;

	return units > LEAST_UNITS ? units : LEAST_UNITS;
}

/* What is rounded up into the next power is that one's first list, which the
 * shift of this one leads to as well. */
INLINE struct want
want_of(uint64_t units)
{
	unsigned shift = list_shift(units);
	uint64_t steps = (units + (UINT64_C(1) << shift) - 1) >> shift;

	return (struct want){ units, steps << shift,
		shift * STEPS + (unsigned)steps };
}

/* The first list from LIST on that has any block; TLSF_LISTS: none. */
INLINE unsigned
first_from(const struct tlsf *t, unsigned list)
{
	unsigned power = list / STEPS;
	uint32_t steps = t->steps[power] & ~UINT32_C(0) << list % STEPS;
	uint64_t powers;

	if (!steps) {
		powers = t->powers & ~UINT64_C(1) << power;
		if (!powers)
			return TLSF_LISTS;
		power = (unsigned)__builtin_ctzll(powers);
		steps = t->steps[power];
	}
	return power * STEPS + (unsigned)__builtin_ctz(steps);
}

/* Put what has no neighbour that is free on its list. */
INLINE void
insert(struct tlsf *t, void *block, uint64_t units)
{
	unsigned list = list_of(units);
	struct tlsf_free *b = block, *next = t->lists[list];
	void *behind = block_behind(block, units);

	block_head(b, TLSF_FREE, units, BIT_FREE);
	*block_before(behind) = b;
	tlsf_header(behind)->bits |= BIT_BEFORE_FREE;

	t->latest = list;
	b->next = next;
	t->lists[list] = b;
	b->from = &t->lists[list];
	if (next) {
		next->from = &b->next;
		return;
	}
	t->steps[list / STEPS] |= UINT32_C(1) << list % STEPS;
	t->powers |= UINT64_C(1) << list / STEPS;
}

/* All but bit I.  As a rotation, which is one instruction. */
INLINE uint32_t
all_but(unsigned i)
{
	return ~UINT32_C(1) << i % 32 | ~UINT32_C(1) >> -i % 32;
}

/* LIST has become empty. */
INLINE void
clear(struct tlsf *t, size_t list)
{
	uint32_t steps = t->steps[list / STEPS] & all_but((unsigned)list);

	t->steps[list / STEPS] = steps;
	if (!steps)
		t->powers &= ~(UINT64_C(1) << list / STEPS);
}

/* Whether what comes after B on its list knows B. */
INLINE bool
is_known(const struct tlsf *t, const struct tlsf_free *b,
    const struct tlsf_free *next)
{
	return heap_spans(t, next) && next->from == &b->next;
}

/* Take a block off its list; false, and nothing done, if its neighbours
 * there do not know it. */
INLINE bool
take_off(struct tlsf *t, struct tlsf_free *b)
{
	struct tlsf_free **from = b->from, *next = b->next;
	size_t list = ((uintptr_t)from - (uintptr_t)t->lists) / sizeof(*from);

	if ((list >= TLSF_LISTS && !heap_spans(t, from)) || *from != b)
		return false;
	if (next) {
		if (!is_known(t, b, next))
			return false;
		next->from = from;
		*from = next;
		return true;
	}
	*from = NULL;
	if (list < TLSF_LISTS)
		clear(t, list);
	return true;
}

/* The same with the first of LIST, which must be a free block besides. */
INLINE bool
take_first(struct tlsf *t, struct tlsf_free *b, unsigned list)
{
	struct tlsf_free **from = &t->lists[list], *next = b->next;

	if (block_state(b) != TLSF_FREE || b->from != from)
		return false;
	if (!next) {
		*from = NULL;
		clear(t, list);
		return true;
	}
	if (!is_known(t, b, next))
		return false;
	next->from = from;
	*from = next;
	return true;
}

/* Undo it: the block's own links still say where it was. */
COLD void
put_back(struct tlsf *t, struct tlsf_free *b)
{
	unsigned list = list_of(tlsf_units(b));

	*b->from = b;
	if (b->next)
		b->next->from = &b->next;
	t->steps[list / STEPS] |= UINT32_C(1) << list % STEPS;
	t->powers |= UINT64_C(1) << list / STEPS;
}

INLINE void
count(struct tlsf *t, uint64_t taken, uint64_t given)
{
	t->used += (taken - given) * TLSF_ALIGN;
	if (t->used > t->peak)
		t->peak = t->used;
}

/* As much of ALL units as is wanted: what is left may be a block. */
INLINE uint64_t
share(const struct want *w, uint64_t all)
{
	return w->better <= all ? w->better : w->units;
}

/* Leave to a block in use GET of ALL units.  LOW is what its header says below
 * the size; nothing free lies behind ALL, whatever the header there says.
 * The rest is free, if it can be a block.  What the block has got. */
INLINE uint64_t
cut(struct tlsf *t, void *block, uint64_t low, uint64_t all, uint64_t get)
{
	if (all - get < LEAST_UNITS) {
		tlsf_header(block_behind(block, all))->bits &=
		    (uint8_t)~BIT_BEFORE_FREE;
		word_store(tlsf_header(block), all << TLSF_WORD_SIZE | low);
		return all;
	}
	word_store(tlsf_header(block), get << TLSF_WORD_SIZE | low);
	insert(t, block_behind(block, get), all - get);
	return get;
}

/* A block in use from a free one that is on no list any more and has room
 * for it after GAP. */
INLINE void *
carve(struct tlsf *t, struct tlsf_free *b, uint64_t gap, const struct want *w)
{
	void *block = block_behind(b, gap);
	uint64_t all = tlsf_units(b) - gap;
	uint64_t low = tlsf_mark(block, TLSF_USED);

	if (gap) {
		low |= (uint64_t)BIT_BEFORE_FREE << TLSF_WORD_BITS;
		insert(t, b, gap);
	}
	count(t, cut(t, block, low, all, share(w, all)), 0);
	t->blocks++;
	return block;
}

/* The same from the first of LIST. */
INLINE void *
hand_out(struct tlsf *t, unsigned list, uint64_t gap, const struct want *w)
{
	struct tlsf_free *b = t->lists[list];

	if (take_first(t, b, list))
		return carve(t, b, gap, w);
	blame(t, TLSF_LIST_SMASHED, b);
	return NULL;
}

/* The second chance: the list that UNITS falls into may hold a block that is
 * big enough.  Else NULL. */
void *tlsf_look(struct tlsf *t, uint64_t units, uint64_t better);

INLINE void *
take(struct tlsf *t, struct want w)
{
	unsigned list = first_from(t, w.list);

	return list < TLSF_LISTS ? hand_out(t, list, 0, &w)
	    : tlsf_look(t, w.units, w.better);
}

/* A block in use, and the free ones that touch it or NULL. */
struct around {
	uint64_t units;
	uint64_t units_before;
	struct tlsf_free *before;
	struct tlsf_free *behind;
};

INLINE enum tlsf_fault
look_before(const struct tlsf *t, const void *block, struct around *a)
{
	struct tlsf_free *before;

	a->before = NULL;
	if (!(tlsf_header(block)->bits & BIT_BEFORE_FREE))
		return TLSF_FINE;
	before = *block_before(block);
	if (!heap_spans(t, before) || block_state(before) != TLSF_FREE)
		return TLSF_LIST_SMASHED;
	a->units_before = tlsf_units(before);
	if (block_behind(before, a->units_before) != block)
		return TLSF_LIST_SMASHED;
	a->before = before;
	return TLSF_FINE;
}

INLINE enum tlsf_fault
look_behind(const struct tlsf *t, const void *block, struct around *a)
{
	struct tlsf_free *behind = block_behind(block, a->units);
	unsigned state;

	if (!heap_spans(t, behind))
		return TLSF_NO_BLOCK;
	state = block_state(behind);
	if ((state | TLSF_DIFFER) != TLSF_FREE
	    || tlsf_header(behind)->bits & BIT_BEFORE_FREE)
		return TLSF_NEXT_SMASHED;
	a->behind = state == TLSF_FREE ? behind : NULL;
	return TLSF_FINE;
}

/* At the size of a block whose mark says that it is in use, and behind it. */
INLINE enum tlsf_fault
look_along(const struct tlsf *t, const void *block, struct around *a)
{
	a->units = tlsf_units(block);
	if (a->units < LEAST_UNITS)
		return TLSF_NO_BLOCK;
	return look_behind(t, block, a);
}

/* At the block, which must be in use, and behind it. */
INLINE enum tlsf_fault
look_at(const struct tlsf *t, const void *block, struct around *a)
{
	unsigned state;

	if (!heap_spans(t, block))
		return TLSF_NO_BLOCK;
	state = block_state(block);
	if (state != TLSF_USED && state != TLSF_KEPT)
		return state == TLSF_FREE ? TLSF_TWICE : TLSF_NO_BLOCK;
	return look_along(t, block, a);
}

INLINE enum tlsf_fault
look_around(const struct tlsf *t, const void *block, struct around *a)
{
	enum tlsf_fault fault = look_at(t, block, a);

	return fault ? fault : look_before(t, block, a);
}

/* Both, or none.  What they and the block have together; 0 if their
 * neighbours on the lists do not know them. */
INLINE uint64_t
take_off_both(struct tlsf *t, const struct around *a)
{
	uint64_t units = a->units;

	if (a->behind) {
		if (!take_off(t, a->behind))
			return 0;
		units += tlsf_units(a->behind);
	}
	if (!a->before)
		return units;
	if (take_off(t, a->before))
		return units + a->units_before;
	if (a->behind)
		put_back(t, a->behind);
	return 0;
}

/* Free UNITS, which the block and those that touch it have, if those are on
 * no list any more. */
INLINE void
release(struct tlsf *t, void *block, const struct around *a, uint64_t units)
{
	if (a->before) {
		/* No block from now on: who frees it again is told. */
		tlsf_set(block, TLSF_FREE);
		block = a->before;
	}
	insert(t, block, units);
}

/* A free block's beginning moves to where it is of UNITS, and its list does
 * not change, where it is the first. */
INLINE bool
move_first(struct tlsf *t, struct tlsf_free *b, void *to, uint64_t units)
{
	struct tlsf_free **from = b->from, *next = b->next, *moved = to;

	if (*from != b || (next && !is_known(t, b, next)))
		return false;
	block_head(moved, TLSF_FREE, units, BIT_FREE);
	*block_before(block_behind(moved, units)) = moved;
	moved->next = next;
	moved->from = from;
	*from = moved;
	if (next)
		next->from = &moved->next;
	return true;
}

/* What the header of a block in use says below its size. */
INLINE uint64_t
low_of(const void *block)
{
	return tlsf_word(tlsf_header(block))
	    & ((UINT64_C(1) << TLSF_WORD_SIZE) - 1);
}

/* Take what is free behind and leave all but GET of ALL units to it.  What the
 * block has got; 0, and nothing done, if what is behind is smashed. */
INLINE uint64_t
recut(struct tlsf *t, void *block, const struct around *a, uint64_t all,
    uint64_t get)
{
	uint64_t low = low_of(block), rest = all - get;
	unsigned list = list_of(rest);

	if (rest >= LEAST_UNITS && a->behind->from == &t->lists[list]) {
		if (!move_first(t, a->behind, block_behind(block, get), rest))
			return 0;
		word_store(tlsf_header(block), get << TLSF_WORD_SIZE | low);
	} else {
		if (!take_off(t, a->behind))
			return 0;
		get = cut(t, block, low, all, get);
	}
	count(t, get, a->units);
	return get;
}

/* Into what is free behind.  What the block has now; 0 if there is too little,
 * or if it is smashed, which is noted. */
INLINE uint64_t
lengthen(struct tlsf *t, void *block, const struct around *a,
    const struct want *w)
{
	uint64_t all, got;

	if (!a->behind)
		return 0;
	all = a->units + tlsf_units(a->behind);
	if (w->units > all)
		return 0;
	got = recut(t, block, a, all, share(w, all));
	if (!got)
		blame(t, TLSF_LIST_SMASHED, block);
	return got;
}

/* If what is left over can be a block.  What this one has now; 0 if what is
 * behind is smashed, which is noted. */
INLINE uint64_t
shorten(struct tlsf *t, void *block, const struct around *a, uint64_t get)
{
	uint64_t rest = a->units - get;

	if (a->units < get + LEAST_UNITS)
		return a->units;
	if (a->behind) {
		if (!take_off(t, a->behind)) {
			blame(t, TLSF_LIST_SMASHED, block);
			return 0;
		}
		rest += tlsf_units(a->behind);
	}
	word_store(tlsf_header(block), get << TLSF_WORD_SIZE | low_of(block));
	insert(t, block_behind(block, get), rest);
	t->used -= (a->units - get) * TLSF_ALIGN;
	return get;
}

INLINE uint64_t
resize(struct tlsf *t, void *block, const struct around *a,
    const struct want *w)
{
	return w->units <= a->units ? shorten(t, block, a, w->better)
	    : lengthen(t, block, a, w);
}

/* BLOCK, of which A is what was seen. */
INLINE enum tlsf_fault
give_seen(struct tlsf *t, void *block, const struct around *a,
    enum tlsf_fault fault)
{
	uint64_t units = fault ? 0 : take_off_both(t, a);

	if (!units)
		return blame(t, fault ? fault : TLSF_LIST_SMASHED, block);
	t->used -= a->units * TLSF_ALIGN;
	t->blocks--;
	release(t, block, a, units);
	return TLSF_FINE;
}

INLINE enum tlsf_fault
give(struct tlsf *t, void *block)
{
	struct around a;
	enum tlsf_fault fault = look_around(t, block, &a);

	return give_seen(t, block, &a, fault);
}

/* The same with a block whose mark was looked at. */
INLINE enum tlsf_fault
give_used(struct tlsf *t, void *block)
{
	struct around a;
	enum tlsf_fault fault = look_along(t, block, &a);

	if (!fault)
		fault = look_before(t, block, &a);
	return give_seen(t, block, &a, fault);
}

#endif
