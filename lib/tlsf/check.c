/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a whole heap, without trusting what it says. */
#include "block.h"

const char *
tlsf_fault_name(enum tlsf_fault fault)
{
	switch (fault) {
	case TLSF_FINE:
		return NULL;
	case TLSF_TWICE:
		return "block freed twice";
	case TLSF_NO_BLOCK:
		return "no block begins there, or its header is overwritten";
	case TLSF_NEXT_SMASHED:
		return "the header behind the block is overwritten";
	case TLSF_LIST_SMASHED:
		return "a free block is overwritten";
	}
	return "unknown fault";
}

void
tlsf_walk(const struct tlsf *t,
    bool (*see)(const struct tlsf_block *block, void *with), void *with)
{
	const struct tlsf_area *area;
	const void *at;

	for (area = t->areas; area; area = area->next) {
		for (at = area_first(area); tlsf_units(at);
		    at = block_behind(at, tlsf_units(at))) {
			struct tlsf_block block = {
				.at = at,
				.bytes = tlsf_usable(at),
				.is_free = block_state(at) == TLSF_FREE,
			};

			if (!see(&block, with))
				return;
		}
	}
}

/* What the areas hold, to compare. */
struct tally {
	uint64_t used;
	uint64_t blocks;
	uint64_t frees;
	uint64_t bytes;
};

/* BEFORE is the free block before it, or NULL. */
static const char *
check_block(const void *block, const void *before)
{
	unsigned state = block_state(block);
	unsigned bits = tlsf_header(block)->bits;

	if (state != TLSF_USED && state != TLSF_KEPT && state != TLSF_FREE
	    && state != TLSF_END)
		return "a header's mark is none";
	if ((state == TLSF_FREE) != (bits & BIT_FREE))
		return "a header's mark and bit disagree";
	if (!before != !(bits & BIT_BEFORE_FREE))
		return "a header is wrong about the block before";
	if (before && *block_before(block) != before)
		return "a free block's end is wrong about its beginning";
	if (before && state == TLSF_FREE)
		return "two free blocks touch";
	if (state == TLSF_END)
		return tlsf_units(block) ? "an area's end has a size" : NULL;
	if (tlsf_units(block) < LEAST_UNITS)
		return "a block is too small";
	return NULL;
}

static void
count_block(struct tally *sum, const void *block)
{
	if (block_state(block) == TLSF_FREE) {
		sum->frees++;
		return;
	}
	sum->blocks++;
	sum->used += tlsf_units(block) * TLSF_ALIGN;
}

static const char *
check_area(const struct tlsf *t, const struct tlsf_area *area,
    struct tally *sum)
{
	const char *block = area_first(area), *last = area_last(area);
	const char *before = NULL, *wrong;

	if (area->start > (uintptr_t)area
	    || (uintptr_t)area - area->start >= 2 * TLSF_ALIGN
	    || area->end - (uintptr_t)last >= 2 * TLSF_ALIGN)
		return "an area's record is not where it begins";
	if (!heap_spans(t, block) || !heap_spans(t, last))
		return "an area lies outside the heap";
	sum->bytes += area->end - area->start;
	for (;;) {
		wrong = check_block(block, before);
		if (wrong)
			return wrong;
		if (block_state(block) == TLSF_END)
			break;
		if (tlsf_units(block) > (uint64_t)(last - block) / TLSF_ALIGN)
			return "a block ends beyond its area";
		count_block(sum, block);
		before = block_state(block) == TLSF_FREE ? block : NULL;
		block = block_behind(block, tlsf_units(block));
	}
	return block == last ? NULL : "an area ends too early";
}

static bool
in_area(const struct tlsf *t, const void *block)
{
	const struct tlsf_area *area = t->areas;

	while (area && (block < area_first(area) || block >= area_last(area)))
		area = area->next;
	return area != NULL;
}

/* At most *LEFT blocks: a ring comes to an end. */
static const char *
check_list(const struct tlsf *t, unsigned list, uint64_t *left)
{
	struct tlsf_free *const *from = &t->lists[list];
	const struct tlsf_free *b;

	if (!*from != !(t->steps[list / STEPS] >> list % STEPS & 1))
		return "a list's bit is wrong";
	for (b = *from; b; from = &b->next, b = b->next) {
		if (!heap_spans(t, b) || !in_area(t, b))
			return "a list leads out of the heap";
		if (block_state(b) != TLSF_FREE)
			return "a block on a list is not free";
		if (list_of(tlsf_units(b)) != list)
			return "a free block is on another size's list";
		if (b->from != from)
			return "a free block's links disagree";
		if (!(*left)--)
			return "a block is on a list twice";
	}
	return NULL;
}

static const char *
check_lists(const struct tlsf *t, uint64_t frees)
{
	const char *wrong = NULL;

	for (unsigned power = 0; power < TLSF_POWERS; power++)
		if (!t->steps[power] != !(t->powers >> power & 1))
			return "a power's bit is wrong";
	for (unsigned i = 0; i < TLSF_LISTS && !wrong; i++)
		wrong = check_list(t, i, &frees);
	if (wrong)
		return wrong;
	return frees ? "a free block is on no list" : NULL;
}

const char *
tlsf_check(const struct tlsf *t)
{
	struct tally sum = { 0, 0, 0, 0 };
	const struct tlsf_area *area;
	const char *wrong;

	for (area = t->areas; area; area = area->next) {
		wrong = check_area(t, area, &sum);
		if (wrong)
			return wrong;
	}
	wrong = check_lists(t, sum.frees);
	if (wrong)
		return wrong;
	if (sum.used != t->used || sum.blocks != t->blocks)
		return "blocks in use are miscounted";
	if (t->peak < t->used)
		return "the peak is below what is in use";
	if (t->total < sum.bytes)
		return "the total is less than the areas";
	return NULL;
}
