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

/* Units for SIZE usable bytes, at most TLSF_MOST of them. */
static uint64_t
units_for(size_t size)
{
	uint64_t units = (size + TLSF_OVERHEAD + TLSF_ALIGN - 1) / TLSF_ALIGN;

	return units > LEAST_UNITS ? units : LEAST_UNITS;
}

/* Up to where a list begins. */
static uint64_t
rounded(uint64_t units)
{
	uint64_t rest = (UINT64_C(1) << list_shift(units)) - 1;

	return (units + rest) & ~rest;
}

/* The first block of the first list that has any, from LIST on. */
static struct tlsf_free *
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
	return t->lists[power][__builtin_ctz(steps)];
}

/* Put what has no neighbour that is free on its list. */
static void
insert(struct tlsf *t, void *block, uint64_t units)
{
	unsigned list = list_of(units);
	struct tlsf_free *b = block;
	struct tlsf_free **head = list_head(t, list);
	void *behind = block_behind(block, units);

	block_head(b, TLSF_FREE, units, BIT_FREE);
	*block_before(behind) = b;
	tlsf_header(behind)->bits |= BIT_BEFORE_FREE;

	b->next = *head;
	b->from = head;
	if (b->next)
		b->next->from = &b->next;
	*head = b;
	t->steps[list / STEPS] |= UINT32_C(1) << list % STEPS;
	t->powers |= UINT64_C(1) << list / STEPS;
}

/* Take a block of UNITS that its list knows off it. */
static void
unlink_free(struct tlsf *t, struct tlsf_free *b, uint64_t units)
{
	unsigned list = list_of(units);

	*b->from = b->next;
	if (b->next) {
		b->next->from = b->from;
		return;
	}
	if (*list_head(t, list))
		return;
	t->steps[list / STEPS] &= ~(UINT32_C(1) << list % STEPS);
	if (!t->steps[list / STEPS])
		t->powers &= ~(UINT64_C(1) << list / STEPS);
}

static void
count(struct tlsf *t, uint64_t taken, uint64_t given)
{
	t->used += (taken - given) * TLSF_ALIGN;
	if (t->used > t->peak)
		t->peak = t->used;
}

/* Leave WANT of ALL units to a block in use, whose header has its low bits;
 * the rest is free, if it can be a block.  Nothing free lies behind ALL,
 * whatever the header there says.  What the block has got. */
static uint64_t
cut(struct tlsf *t, void *block, uint64_t all, uint64_t want)
{
	unsigned bits = tlsf_header(block)->bits & BIT_BEFORE_FREE;

	if (all - want < LEAST_UNITS) {
		tlsf_header(block_behind(block, all))->bits &=
		    (uint8_t)~BIT_BEFORE_FREE;
		block_size(block, all, bits);
		return all;
	}
	block_size(block, want, bits);
	insert(t, block_behind(block, want), all - want);
	return want;
}

/* A block in use of UNITS, better rounded up to BETTER, from a free block
 * that has room for them after GAP. */
static void *
hand_out(struct tlsf *t, struct tlsf_free *b, uint64_t gap, uint64_t units,
    uint64_t better)
{
	void *block = block_behind(b, gap);
	uint64_t all;

	if (block_state(b) != TLSF_FREE || !list_knows(t, b)) {
		blame(t, TLSF_LIST_SMASHED, b);
		return NULL;
	}
	all = block_units(b);
	unlink_free(t, b, all);
	all -= gap;
	block_head(block, TLSF_USED, all, 0);
	if (gap)
		insert(t, b, gap);
	count(t, cut(t, block, all, better <= all ? better : units), 0);
	t->blocks++;
	return block;
}

/* The second chance: the list that UNITS falls into may hold a block that is
 * big enough.  All its sizes are the same above 32 bits. */
static struct tlsf_free *
look(struct tlsf *t, uint64_t units)
{
	struct tlsf_free *b = *list_head(t, list_of(units));
	int left = TLSF_LOOK;

	while (b && tlsf_header(b)->units < (uint32_t)units)
		b = --left ? b->next : NULL;
	return b;
}

void *
tlsf_malloc(struct tlsf *t, size_t size)
{
	struct tlsf_free *b;
	uint64_t units, better;

	if (size > TLSF_MOST)
		return NULL;
	units = units_for(size);
	better = rounded(units);
	b = first_from(t, list_of(better));
	if (!b)
		b = look(t, units);
	return b ? hand_out(t, b, 0, units, better) : NULL;
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

/* One of the first blocks of B's list that has room, as it happens to lie. */
static struct tlsf_free *
look_aligned(struct tlsf_free *b, size_t align, uint64_t units)
{
	int left = TLSF_LOOK / 2;

	while (b && block_units(b) < gap_to(b, align) + units)
		b = --left ? b->next : NULL;
	return b;
}

/* A block that was freed may lie aligned already, and then serves without
 * a gap and without room for one: so these are looked at first. */
void *
tlsf_memalign(struct tlsf *t, size_t align, size_t size)
{
	struct tlsf_free *b;
	uint64_t units, better;

	if (align <= TLSF_ALIGN)
		return tlsf_malloc(t, size);
	if (size > TLSF_MOST || align > TLSF_MOST / 4)
		return NULL;
	units = units_for(size);
	better = rounded(units);
	b = look_aligned(first_from(t, list_of(better)), align, units);
	if (!b && better <= TLSF_MOST / TLSF_ALIGN - gap_most(align))
		b = first_from(t, list_of(rounded(better + gap_most(align))));
	if (!b)
		b = look_aligned(*list_head(t, list_of(units)), align, units);
	return b ? hand_out(t, b, gap_to(b, align), units, better) : NULL;
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
		units = rounded(rounded(units) + gap_most(align));
	return units <= room;
}

/* What lies around a block in use. */
struct around {
	uint64_t units;			/* of the block itself */
	struct tlsf_free *before;	/* NULL if not free, as the next */
	struct tlsf_free *behind;
};

static enum tlsf_fault
look_before(struct tlsf *t, const void *block, struct around *a)
{
	struct tlsf_free *before;

	a->before = NULL;
	if (!(tlsf_header(block)->bits & BIT_BEFORE_FREE))
		return TLSF_FINE;
	before = *block_before(block);
	if (!heap_spans(t, before) || block_state(before) != TLSF_FREE
	    || block_behind(before, block_units(before)) != block
	    || !list_knows(t, before))
		return TLSF_LIST_SMASHED;
	a->before = before;
	return TLSF_FINE;
}

static enum tlsf_fault
look_behind(struct tlsf *t, const void *block, struct around *a)
{
	struct tlsf_free *behind = block_behind(block, a->units);
	unsigned state;

	a->behind = NULL;
	if (!heap_spans(t, behind))
		return TLSF_NO_BLOCK;
	state = block_state(behind);
	if (tlsf_header(behind)->bits & BIT_BEFORE_FREE)
		return TLSF_NEXT_SMASHED;
	if (state == TLSF_USED || state == TLSF_KEPT || state == STATE_END)
		return TLSF_FINE;
	if (state != TLSF_FREE)
		return TLSF_NEXT_SMASHED;
	if (!list_knows(t, behind))
		return TLSF_LIST_SMASHED;
	a->behind = behind;
	return TLSF_FINE;
}

static enum tlsf_fault
look_around(struct tlsf *t, const void *block, struct around *a)
{
	enum tlsf_fault fault;
	unsigned state;

	if (!heap_spans(t, block))
		return blame(t, TLSF_NO_BLOCK, block);
	state = block_state(block);
	if (state != TLSF_USED && state != TLSF_KEPT)
		return blame(t, state == TLSF_FREE ? TLSF_TWICE
		    : TLSF_NO_BLOCK, block);
	a->units = block_units(block);
	if (a->units < LEAST_UNITS)
		return blame(t, TLSF_NO_BLOCK, block);
	fault = look_behind(t, block, a);
	if (!fault)
		fault = look_before(t, block, a);
	return fault ? blame(t, fault, block) : TLSF_FINE;
}

static void
release(struct tlsf *t, void *block, const struct around *a)
{
	uint64_t units = a->units, more;

	/* Should it not stay a block: who frees it again is told. */
	tlsf_header(block)->mark = tlsf_mark(block, TLSF_FREE);
	if (a->behind) {
		more = block_units(a->behind);
		unlink_free(t, a->behind, more);
		units += more;
	}
	if (a->before) {
		more = block_units(a->before);
		unlink_free(t, a->before, more);
		units += more;
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
	if (fault)
		return fault;
	count(t, 0, a.units);
	t->blocks--;
	release(t, block, &a);
	return TLSF_FINE;
}

static bool
resize(struct tlsf *t, void *block, const struct around *a, uint64_t units)
{
	uint64_t better = rounded(units), all = a->units, more;

	if (units <= all && all < better + LEAST_UNITS)
		return true;
	more = a->behind ? block_units(a->behind) : 0;
	if (units > all + more)
		return false;
	if (more)
		unlink_free(t, a->behind, more);
	all += more;
	count(t, cut(t, block, all, better <= all ? better : units),
	    a->units);
	return true;
}

bool
tlsf_resize(struct tlsf *t, void *block, size_t size)
{
	struct around a;

	return size <= TLSF_MOST && !look_around(t, block, &a)
	    && resize(t, block, &a, units_for(size));
}

/* To the beginning of the free block before, if it has room with what is
 * free behind. */
static void *
slide(struct tlsf *t, void *block, const struct around *a, size_t align,
    uint64_t units)
{
	uint64_t before, behind, all, better = rounded(units);
	uint8_t label = tlsf_header(block)->label;
	void *to = a->before;

	if (!to || (uintptr_t)to & (align - 1))
		return NULL;
	before = block_units(to);
	behind = a->behind ? block_units(a->behind) : 0;
	all = before + a->units + behind;
	if (all < units)
		return NULL;
	unlink_free(t, to, before);
	if (behind)
		unlink_free(t, a->behind, behind);

	tlsf_header(block)->mark = tlsf_mark(block, TLSF_FREE);
	memmove(to, block,
	    (a->units < units ? a->units : units) * TLSF_ALIGN - TLSF_OVERHEAD);
	block_head(to, TLSF_USED, all, 0);
	tlsf_header(to)->label = label;
	count(t, cut(t, to, all, better <= all ? better : units), a->units);
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
	tlsf_free(t, block);
	return to;
}

void *
tlsf_realloc(struct tlsf *t, void *block, size_t align, size_t size)
{
	struct around a;
	uint64_t units;
	void *to;

	if (size > TLSF_MOST || look_around(t, block, &a))
		return NULL;
	units = units_for(size);
	if (!((uintptr_t)block & (align - 1)) && resize(t, block, &a, units))
		return block;
	to = slide(t, block, &a, align, units);
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
	b = t->lists[power][31 - __builtin_clz(t->steps[power])];
	for (int left = TLSF_LOOK; b && left; left--, b = b->next)
		if (block_units(b) > most)
			most = block_units(b);
	return most * TLSF_ALIGN - TLSF_OVERHEAD;
}
