/* SPDX-License-Identifier: Apache-2.0 */
/* Taking blocks from the heap and giving them back.
 *
 * A request is rounded up to where the next list begins, and the block that
 * is handed out is cut to just that.  So whatever was handed out lies, when
 * it is freed, in the very list where the next request of that size looks
 * first; the price is 1/32 of the size at most.
 *
 * Nothing is changed before all that will be touched has been looked at. */
#include "tlsf.h"

#include <string.h>

#include "core.h"

void
tlsf_init(struct tlsf *t)
{
	memset(t, 0, sizeof(*t));
}

enum { LOOK_ALIGNED = 2 };	/* lists */

void *
tlsf_look(struct tlsf *t, uint64_t units, uint64_t better)
{
	const struct want w = { units, better, 0 };
	struct tlsf_free *b = t->lists[list_of(units)];
	int left = TLSF_LOOK;

	while (b && tlsf_word(tlsf_header(b)) < units << TLSF_WORD_SIZE)
		b = --left ? b->next : NULL;
	if (!b)
		return NULL;
	if (block_state(b) == TLSF_FREE && take_off(t, b))
		return carve(t, b, 0, &w);
	blame(t, TLSF_LIST_SMASHED, b);
	return NULL;
}

void *
tlsf_malloc(struct tlsf *t, size_t size)
{
	return size <= TLSF_MOST ? take(t, want_of(units_for(size))) : NULL;
}

/* From the block's first unit to the first multiple of ALIGN that leaves
 * nothing before it, or a block. */
static uint64_t
gap_to(const void *block, size_t align)
{
	uint64_t gap = (-(uintptr_t)block & (align - 1)) / TLSF_ALIGN;

	return gap && gap < LEAST_UNITS ? gap + align / TLSF_ALIGN : gap;
}

/* The most that a gap takes. */
static uint64_t
gap_most(size_t align)
{
	return align / TLSF_ALIGN + LEAST_UNITS - 1;
}

/* As it happens to lie. */
INLINE bool
has_room(const struct tlsf_free *b, size_t align, uint64_t units)
{
	return b && tlsf_units(b) >= gap_to(b, align) + units;
}

/* A list whose first block has room as it happens to lie, of the first from
 * LIST on: what was freed last is first.  TLSF_LISTS: none. */
INLINE unsigned
look_aligned(const struct tlsf *t, unsigned list, size_t align,
    uint64_t units)
{
	for (int left = LOOK_ALIGNED; left && list < TLSF_LISTS; left--) {
		list = first_from(t, list);
		if (list == TLSF_LISTS)
			break;
		if (has_room(t->lists[list], align, units))
			return list;
		list++;
	}
	return TLSF_LISTS;
}

/* A block that was freed may lie aligned already, and then serves without
 * a gap and without room for one: so these are looked at first. */
void *
tlsf_memalign(struct tlsf *t, size_t align, size_t size)
{
	unsigned list;
	struct want w;

	if (align <= TLSF_ALIGN)
		return tlsf_malloc(t, size);
	if (size > TLSF_MOST || align > TLSF_MOST / 4)
		return NULL;
	w = want_of(units_for(size));
	list = look_aligned(t, list_of(w.units), align, w.units);
	if (list == TLSF_LISTS
	    && w.better <= TLSF_MOST / TLSF_ALIGN - gap_most(align))
		list = first_from(t, want_of(w.better + gap_most(align)).list);
	/* What was freed last may have become a part of something else. */
	if (list == TLSF_LISTS
	    && has_room(t->lists[t->latest], align, w.units))
		list = t->latest;
	return list < TLSF_LISTS
	    ? hand_out(t, list, gap_to(t->lists[list], align), &w) : NULL;
}

bool
tlsf_area_serves(size_t bytes, size_t align, size_t size)
{
	uint64_t units, room;

	if (bytes < TLSF_AREA_OVERHEAD || bytes > TLSF_MOST
	    || size > TLSF_MOST || align > TLSF_MOST / 4)
		return false;
	room = (bytes - TLSF_AREA_OVERHEAD) / TLSF_ALIGN;
	units = units_for(size);
	if (align > TLSF_ALIGN)
		units = want_of(want_of(units).better + gap_most(align)).better;
	return units <= room;
}

bool
tlsf_join(struct tlsf *t, void *block, uint64_t units)
{
	struct around a = { .units = units };
	enum tlsf_fault fault = look_behind(t, block, &a);

	if (!fault)
		fault = look_before(t, block, &a);
	units = fault ? 0 : take_off_both(t, &a);
	if (!units) {
		blame(t, fault ? fault : TLSF_LIST_SMASHED, block);
		return false;
	}
	release(t, block, &a, units);
	return true;
}

enum tlsf_fault
tlsf_free(struct tlsf *t, void *block)
{
	return give(t, block);
}

bool
tlsf_resize(struct tlsf *t, void *block, size_t size)
{
	enum tlsf_fault fault;
	struct around a;
	struct want w;

	if (size > TLSF_MOST)
		return false;
	fault = look_at(t, block, &a);
	if (fault) {
		blame(t, fault, block);
		return false;
	}
	w = want_of(units_for(size));
	return resize(t, block, &a, &w) != 0;
}

/* To where ALIGN allows it first in the free block before, if there is room
 * with what is free behind. */
static void *
slide(struct tlsf *t, void *block, const struct around *a, size_t align,
    const struct want *w)
{
	uint64_t low = (uint64_t)tlsf_header(block)->label << TLSF_WORD_LABEL;
	uint64_t keep = a->units < w->units ? a->units : w->units;
	uint64_t all = a->units + (a->behind ? tlsf_units(a->behind) : 0);
	uint64_t gap;
	void *to;

	if (!a->before)
		return NULL;
	gap = gap_to(a->before, align);
	all += tlsf_units(a->before) - gap;
	if (gap >= tlsf_units(a->before) || all < w->units)
		return NULL;
	if (!take_off_both(t, a)) {
		blame(t, TLSF_LIST_SMASHED, block);
		return NULL;
	}
	to = block_behind(a->before, gap);
	low |= tlsf_mark(to, TLSF_USED);
	tlsf_set(block, TLSF_FREE);
	memmove(to, block, keep * TLSF_ALIGN - TLSF_OVERHEAD);
	if (gap) {
		low |= (uint64_t)BIT_BEFORE_FREE << TLSF_WORD_BITS;
		insert(t, a->before, gap);
	}
	count(t, cut(t, to, low, all, share(w, all)), a->units);
	return to;
}

static void *
move(struct tlsf *t, void *block, size_t align, size_t size)
{
	void *to = tlsf_memalign(t, align, size);
	size_t had = tlsf_usable(block);

	if (!to)
		return NULL;
	memcpy(to, block, had < size ? had : size);
	tlsf_header(to)->label = tlsf_header(block)->label;
	if (!tlsf_free(t, block))
		return to;
	tlsf_free(t, to);
	return NULL;
}

void *
tlsf_realloc(struct tlsf *t, void *block, size_t align, size_t size)
{
	enum tlsf_fault fault;
	struct around a;
	struct want w;
	void *to;

	if (size > TLSF_MOST)
		return NULL;
	fault = look_around(t, block, &a);
	if (fault) {
		blame(t, fault, block);
		return NULL;
	}
	w = want_of(units_for(size));
	if (!((uintptr_t)block & (align - 1)) && resize(t, block, &a, &w))
		return block;
	to = slide(t, block, &a, align, &w);
	return to ? to : move(t, block, align, size);
}

size_t
tlsf_largest(const struct tlsf *t)
{
	const struct tlsf_free *b;
	uint64_t most = 0;
	unsigned power;

	if (!t->powers)
		return 0;
	power = 63 - (unsigned)__builtin_clzll(t->powers);
	b = t->lists[power * STEPS + 31
	    - (unsigned)__builtin_clz(t->steps[power])];
	for (int left = TLSF_LOOK; b && left; left--, b = b->next)
		if (tlsf_units(b) > most)
			most = tlsf_units(b);
	return most * TLSF_ALIGN - TLSF_OVERHEAD;
}
