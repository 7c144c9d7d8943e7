/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is handed in becomes an area, or part of one that it touches.
 *
 * What lies between two areas' blocks, once they are one, is a block again:
 * the end of the first, the record of the second, and what no grid held. */
#include "block.h"

enum {
	AREA_LEAST = TLSF_AREA_OVERHEAD + LEAST_UNITS * TLSF_ALIGN,
};

static uintptr_t
grid_up(uintptr_t at)
{
	return (at + TLSF_ALIGN - 1) / TLSF_ALIGN * TLSF_ALIGN;
}

static uintptr_t
grid_down(uintptr_t at)
{
	return at / TLSF_ALIGN * TLSF_ALIGN;
}

/* The heap spans this area too. */
static void
widen(struct tlsf *t, const struct tlsf_area *area)
{
	uintptr_t first = (uintptr_t)area_first(area);
	uintptr_t last = (uintptr_t)area_last(area);
	uintptr_t high = t->low + t->span * TLSF_ALIGN - TLSF_ALIGN;

	if (!t->span || first < t->low)
		t->low = first;
	if (!t->span || last > high)
		high = last;
	t->span = (high - t->low) / TLSF_ALIGN + 1;
}

static bool
found(struct tlsf *t, uintptr_t start, uintptr_t end)
{
	struct tlsf_area *area = (struct tlsf_area *)grid_up(start);
	void *last = (void *)grid_down(end);
	uint64_t units;

	if (end - start < AREA_LEAST
	    || (uintptr_t)last - (uintptr_t)area < AREA_LEAST)
		return false;
	*area = (struct tlsf_area){ t->areas, start, end };
	t->areas = area;
	block_head(last, TLSF_END, 0, 0);
	widen(t, area);

	units = ((uintptr_t)last - (uintptr_t)area - TLSF_AREA_OVERHEAD)
	    / TLSF_ALIGN;
	block_head(area_first(area), TLSF_USED, units, 0);
	return tlsf_join(t, area_first(area), units);
}

/* Up to END.  A single unit stays as it is until it has something to join:
 * then there is no header at the very end. */
static bool
append(struct tlsf *t, struct tlsf_area *area, uintptr_t end)
{
	void *block = area_last(area), *last = (void *)grid_down(end);
	uint64_t units = ((uintptr_t)last - (uintptr_t)block) / TLSF_ALIGN;
	unsigned bits = tlsf_header(block)->bits & BIT_BEFORE_FREE;

	area->end = end;
	if (!units)
		return false;
	if (units < LEAST_UNITS && !bits) {
		tlsf_header(last)->mark = 0;
		return false;
	}
	block_head(last, TLSF_END, 0, 0);
	block_head(block, TLSF_USED, units, bits);
	widen(t, area);
	return tlsf_join(t, block, units);
}

/* Down to START: *LINK, the record, moves there, but for a single unit that
 * has nothing to join. */
static bool
prepend(struct tlsf *t, struct tlsf_area **link, uintptr_t start)
{
	struct tlsf_area *area = *link, kept;
	uint64_t units = ((uintptr_t)area - grid_up(start)) / TLSF_ALIGN;

	area->start = start;
	if (!units)
		return false;
	if (units < LEAST_UNITS && block_state(area_first(area)) != TLSF_FREE)
		return false;
	kept = *area;
	area = (struct tlsf_area *)grid_up(start);
	*area = kept;
	*link = area;
	block_head(area_first(area), TLSF_USED, units, 0);
	widen(t, area);
	return tlsf_join(t, area_first(area), units);
}

/* AREA goes on into the one at LINK, whose record is given up. */
static bool
bridge(struct tlsf *t, struct tlsf_area *area, struct tlsf_area **link)
{
	void *block = area_last(area), *first = area_first(*link);
	uint64_t units = ((uintptr_t)first - (uintptr_t)block) / TLSF_ALIGN;
	unsigned bits = tlsf_header(block)->bits & BIT_BEFORE_FREE;

	area->end = (*link)->end;
	*link = (*link)->next;
	block_head(block, TLSF_USED, units, bits);
	return tlsf_join(t, block, units);
}

/* The area that ends, or begins, at SEAM; not if it is one of more than
 * TLSF_MOST together with BYTES. */
static struct tlsf_area **
touching(struct tlsf *t, uintptr_t seam, bool ends, size_t bytes)
{
	struct tlsf_area **link = &t->areas;

	while (*link && (ends ? (*link)->end : (*link)->start) != seam)
		link = &(*link)->next;
	return *link && (*link)->end - (*link)->start <= TLSF_MOST - bytes
	    ? link : NULL;
}

static void
join_piece(struct tlsf *t, uintptr_t *start, uintptr_t *end)
{
	if (!t->piece_bytes || *end - *start > TLSF_MOST - t->piece_bytes)
		return;
	if (t->piece + t->piece_bytes == *start)
		*start = t->piece;
	else if (t->piece == *end)
		*end += t->piece_bytes;
	else
		return;
	t->piece_bytes = 0;
}

bool
tlsf_add(struct tlsf *t, void *at, size_t bytes)
{
	uintptr_t start = (uintptr_t)at, end = start + bytes;
	struct tlsf_area **before, **behind;

	if (!bytes || bytes > TLSF_MOST || end < start)
		return false;
	t->total += bytes;
	join_piece(t, &start, &end);
	before = touching(t, start, true, end - start);
	if (before)
		start = (*before)->start;
	behind = touching(t, end, false, end - start);
	if (before && behind)
		return bridge(t, *before, behind);
	if (before)
		return append(t, *before, end);
	if (behind)
		return prepend(t, behind, start);
	if (found(t, start, end))
		return true;
	t->piece = start;
	t->piece_bytes = end - start;
	return false;
}
