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

#include "block.h"

void
tlsf_init(struct tlsf *t)
{
	memset(t, 0, sizeof(*t));
}

size_t
tlsf_usable(const void *block)
{
	return block_units(block) * TLSF_ALIGN - TLSF_OVERHEAD;
}

static enum tlsf_fault
blame(struct tlsf *t, enum tlsf_fault fault, const void *block)
{
	if (!t->fault) {
		t->fault = fault;
		t->fault_at = block;
	}
	return fault;
}

enum { LOOK_ALIGNED = 3 };	/* lists */

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

/* The first block of the first list that has any, from LIST on. */
INLINE struct tlsf_free *
first_from(const struct tlsf *t, unsigned list)
{
	unsigned power = list / STEPS;
	uint32_t steps = t->steps[power] & ~UINT32_C(0) << list % STEPS;
	uint64_t powers;

	if (!steps) {
		powers = t->powers & ~UINT64_C(1) << power;
		if (!powers)
			return NULL;
		power = (unsigned)__builtin_ctzll(powers);
		steps = t->steps[power];
	}
	return t->lists[power * STEPS + (unsigned)__builtin_ctz(steps)];
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
		if (!heap_spans(t, next) || next->from != &b->next)
			return false;
		next->from = from;
		*from = next;
		return true;
	}
	*from = NULL;
	if (list >= TLSF_LISTS)
		return true;
	t->steps[list / STEPS] &= ~(UINT32_C(1) << list % STEPS);
	if (!t->steps[list / STEPS])
		t->powers &= ~(UINT64_C(1) << list / STEPS);
	return true;
}

/* Undo it: the block's own links still say where it was. */
static void
put_back(struct tlsf *t, struct tlsf_free *b)
{
	unsigned list = list_of(block_units(b));

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

/* Leave to a block in use as much of ALL units as it wants.  LOW is what its
 * header says below the size; nothing free lies behind ALL, whatever the
 * header there says.  The rest is free, if it can be a block.  What the block
 * has got. */
INLINE uint64_t
cut(struct tlsf *t, void *block, uint64_t low, uint64_t all,
    const struct want *w)
{
	uint64_t get = w->better <= all ? w->better : w->units;

	if (all - get < LEAST_UNITS) {
		tlsf_header(block_behind(block, all))->bits &=
		    (uint8_t)~BIT_BEFORE_FREE;
		word_store(tlsf_header(block), all << WORD_SIZE | low);
		return all;
	}
	word_store(tlsf_header(block), get << WORD_SIZE | low);
	insert(t, block_behind(block, get), all - get);
	return get;
}

/* A block in use from a free one that has room for it after GAP. */
INLINE void *
hand_out(struct tlsf *t, struct tlsf_free *b, uint64_t gap,
    const struct want *w)
{
	void *block = block_behind(b, gap);
	uint64_t all, low = tlsf_mark(block, TLSF_USED);

	if (block_state(b) != TLSF_FREE || !take_off(t, b)) {
		blame(t, TLSF_LIST_SMASHED, b);
		return NULL;
	}
	all = block_units(b) - gap;
	if (gap) {
		low |= (uint64_t)BIT_BEFORE_FREE << WORD_BITS;
		insert(t, b, gap);
	}
	count(t, cut(t, block, low, all, w), 0);
	t->blocks++;
	return block;
}

/* The second chance: the list that UNITS falls into may hold a block that is
 * big enough. */
INLINE struct tlsf_free *
look(struct tlsf *t, uint64_t units)
{
	struct tlsf_free *b = t->lists[list_of(units)];
	int left = TLSF_LOOK;

	while (b && word_load(tlsf_header(b)) < units << WORD_SIZE)
		b = --left ? b->next : NULL;
	return b;
}

void *
tlsf_malloc(struct tlsf *t, size_t size)
{
	struct tlsf_free *b;
	struct want w;

	if (size > TLSF_MOST)
		return NULL;
	w = want_of(units_for(size));
	b = first_from(t, w.list);
	if (!b)
		b = look(t, w.units);
	return b ? hand_out(t, b, 0, &w) : NULL;
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

/* A block that has room as it happens to lie: the first of one of the first
 * lists from LIST on, since what was freed last is first. */
INLINE struct tlsf_free *
look_aligned(const struct tlsf *t, unsigned list, size_t align,
    uint64_t units)
{
	struct tlsf_free *b;

	for (int left = LOOK_ALIGNED; left && list < TLSF_LISTS; left--) {
		b = first_from(t, list);
		if (!b || block_units(b) >= gap_to(b, align) + units)
			return b;
		list = list_of(block_units(b)) + 1;
	}
	return NULL;
}

/* A block that was freed may lie aligned already, and then serves without
 * a gap and without room for one: so these are looked at first. */
void *
tlsf_memalign(struct tlsf *t, size_t align, size_t size)
{
	struct tlsf_free *b;
	struct want w;

	if (align <= TLSF_ALIGN)
		return tlsf_malloc(t, size);
	if (size > TLSF_MOST || align > TLSF_MOST / 4)
		return NULL;
	w = want_of(units_for(size));
	b = look_aligned(t, list_of(w.units), align, w.units);
	if (!b && w.better <= TLSF_MOST / TLSF_ALIGN - gap_most(align))
		b = first_from(t, want_of(w.better + gap_most(align)).list);
	return b ? hand_out(t, b, gap_to(b, align), &w) : NULL;
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

/* A block in use, and the free ones that touch it or NULL. */
struct around {
	uint64_t units;
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
	if (!heap_spans(t, before) || block_state(before) != TLSF_FREE
	    || block_behind(before, block_units(before)) != block)
		return TLSF_LIST_SMASHED;
	a->before = before;
	return TLSF_FINE;
}

INLINE enum tlsf_fault
look_behind(const struct tlsf *t, const void *block, struct around *a)
{
	struct tlsf_free *behind = block_behind(block, a->units);
	unsigned state;

	a->behind = NULL;
	if (!heap_spans(t, behind))
		return TLSF_NO_BLOCK;
	if (tlsf_header(behind)->bits & BIT_BEFORE_FREE)
		return TLSF_NEXT_SMASHED;
	state = block_state(behind);
	if (state == TLSF_FREE) {
		a->behind = behind;
		return TLSF_FINE;
	}
	return state == TLSF_USED || state == TLSF_KEPT || state == TLSF_END
	    ? TLSF_FINE : TLSF_NEXT_SMASHED;
}

INLINE enum tlsf_fault
look_around(const struct tlsf *t, const void *block, struct around *a)
{
	enum tlsf_fault fault;
	unsigned state;

	if (!heap_spans(t, block))
		return TLSF_NO_BLOCK;
	state = block_state(block);
	if (state != TLSF_USED && state != TLSF_KEPT)
		return state == TLSF_FREE ? TLSF_TWICE : TLSF_NO_BLOCK;
	a->units = block_units(block);
	if (a->units < LEAST_UNITS)
		return TLSF_NO_BLOCK;
	fault = look_behind(t, block, a);
	return fault ? fault : look_before(t, block, a);
}

/* Both, or none. */
INLINE bool
take_off_both(struct tlsf *t, const struct around *a)
{
	if (a->behind && !take_off(t, a->behind))
		return false;
	if (!a->before || take_off(t, a->before))
		return true;
	if (a->behind)
		put_back(t, a->behind);
	return false;
}

/* Free the block with both that touch it, which are on no list any more. */
INLINE void
release(struct tlsf *t, void *block, const struct around *a)
{
	uint64_t units = a->units;

	if (a->behind)
		units += block_units(a->behind);
	if (a->before) {
		/* No block from now on: who frees it again is told. */
		tlsf_set(block, TLSF_FREE);
		units += block_units(a->before);
		block = a->before;
	}
	insert(t, block, units);
}

bool
tlsf_join(struct tlsf *t, void *block, uint64_t units)
{
	struct around a = { .units = units };
	enum tlsf_fault fault = look_behind(t, block, &a);

	if (!fault)
		fault = look_before(t, block, &a);
	if (!fault && !take_off_both(t, &a))
		fault = TLSF_LIST_SMASHED;
	if (fault) {
		blame(t, fault, block);
		return false;
	}
	release(t, block, &a);
	return true;
}

enum tlsf_fault
tlsf_free(struct tlsf *t, void *block)
{
	enum tlsf_fault fault;
	struct around a;

	fault = look_around(t, block, &a);
	if (!fault && !take_off_both(t, &a))
		fault = TLSF_LIST_SMASHED;
	if (fault)
		return blame(t, fault, block);
	t->used -= a.units * TLSF_ALIGN;
	t->blocks--;
	release(t, block, &a);
	return TLSF_FINE;
}

/* False if it cannot be; or if what is behind is smashed, which is noted. */
INLINE bool
resize(struct tlsf *t, void *block, const struct around *a,
    const struct want *w)
{
	uint64_t low = word_load(tlsf_header(block))
	    & ((UINT64_C(1) << WORD_SIZE) - 1);
	uint64_t all = a->units;

	if (w->units <= all && all < w->better + LEAST_UNITS)
		return true;
	if (a->behind)
		all += block_units(a->behind);
	if (w->units > all)
		return false;
	if (a->behind && !take_off(t, a->behind)) {
		blame(t, TLSF_LIST_SMASHED, block);
		return false;
	}
	count(t, cut(t, block, low, all, w), a->units);
	return true;
}

bool
tlsf_resize(struct tlsf *t, void *block, size_t size)
{
	enum tlsf_fault fault;
	struct around a;
	struct want w;

	if (size > TLSF_MOST)
		return false;
	fault = look_around(t, block, &a);
	if (fault) {
		blame(t, fault, block);
		return false;
	}
	w = want_of(units_for(size));
	return resize(t, block, &a, &w);
}

/* To the beginning of the free block before, if it has room with what is
 * free behind. */
static void *
slide(struct tlsf *t, void *block, const struct around *a, size_t align,
    const struct want *w)
{
	uint64_t label = tlsf_header(block)->label;
	uint64_t keep = a->units < w->units ? a->units : w->units;
	uint64_t all = a->units;
	void *to = a->before;

	if (!to || (uintptr_t)to & (align - 1))
		return NULL;
	all += block_units(to) + (a->behind ? block_units(a->behind) : 0);
	if (all < w->units)
		return NULL;
	if (!take_off_both(t, a)) {
		blame(t, TLSF_LIST_SMASHED, block);
		return NULL;
	}
	tlsf_set(block, TLSF_FREE);
	memmove(to, block, keep * TLSF_ALIGN - TLSF_OVERHEAD);
	count(t, cut(t, to, label << WORD_LABEL | tlsf_mark(to, TLSF_USED),
	    all, w), a->units);
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
		if (block_units(b) > most)
			most = block_units(b);
	return most * TLSF_ALIGN - TLSF_OVERHEAD;
}
