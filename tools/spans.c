/* SPDX-License-Identifier: Apache-2.0 */
#include "spans.h"

#include <stdlib.h>

#include "room.h"

static void
add(struct spans *s, uint64_t from, uint64_t to, void *of, bool open)
{
	if (from >= to)
		return;
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->list = room_grow(s->list, s->room, sizeof *s->list);
	}
	s->list[s->count] = (struct span){ from, to, 0, s->count, open, of };
	s->count++;
	s->sorted = false;
}

void
spans_add(struct spans *s, uint64_t from, uint64_t to, void *of)
{
	add(s, from, to, of, false);
}

void
spans_add_open(struct spans *s, uint64_t from, uint64_t most, void *of)
{
	add(s, from, most, of, true);
}

/* Where several begin, the first added comes last and is found first. */
static int
by_start(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->order < b->order) - (a->order > b->order);
}

static void
close_open(struct spans *s)
{
	uint64_t start = UINT64_MAX, next = UINT64_MAX;

	for (size_t i = s->count; i--;) {
		if (s->list[i].from != start)
			next = start;
		start = s->list[i].from;
		if (s->list[i].open && s->list[i].to > next)
			s->list[i].to = next;
	}
}

static void
sort(struct spans *s)
{
	uint64_t reach = 0;

	if (s->count)
		qsort(s->list, s->count, sizeof *s->list, by_start);
	close_open(s);
	for (size_t i = 0; i < s->count; i++) {
		if (reach < s->list[i].to)
			reach = s->list[i].to;
		s->list[i].reach = reach;
	}
	s->sorted = true;
}

void *
spans_find(struct spans *s, uint64_t address)
{
	size_t low = 0, high;

	if (!s->sorted)
		sort(s);
	for (high = s->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- && s->list[low].reach > address)
		if (s->list[low].to > address)
			return s->list[low].of;
	return NULL;
}

void
spans_free(struct spans *s)
{
	free(s->list);
	*s = (struct spans){ 0 };
}
