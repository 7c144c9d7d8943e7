/* SPDX-License-Identifier: Apache-2.0 */
#include "branches.h"

#include <stdlib.h>
#include <string.h>

#include "room.h"
#include "signature.h"

static uint32_t
add(struct branches *b, const struct profile_frame *f)
{
	if (b->count == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->list = room_grow(b->list, b->room, sizeof *b->list);
	}
	b->list[b->count] = (struct branch){ .frame = *f };
	return (uint32_t)b->count++;
}

static bool
is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Functions are the same wherever in them a call is. */
static bool
is_same(const struct profile_frame *a, const struct profile_frame *b)
{
	if (a->call->object != b->call->object)
		return false;
	if (!a->function || !b->function)
		return !a->function && !b->function
		    && a->call->address == b->call->address;
	return is_same_text(a->function, b->function)
	    && is_same_text(a->file, b->file);
}

/* The branch of F on the level above FROM, which may have to grow. */
static uint32_t
grow(struct branches *b, uint32_t from, const struct profile_frame *f)
{
	uint32_t at = b->list[from].first;

	while (at && !is_same(&b->list[at].frame, f))
		at = b->list[at].next;
	if (at) {
		if (b->list[at].frame.line != f->line)
			b->list[at].frame.line = 0;
		return at;
	}
	at = add(b, f);
	b->list[at].next = b->list[from].first;
	b->list[from].first = at;
	return at;
}

static void
count(struct branches *b, uint32_t at, const struct profile_site *site)
{
	b->list[at].value += order_value(site, &b->order->by);
	b->list[at].beside += order_value(site, &b->order->beside);
}

/* Behind the outermost frame of the function; 0: it is not in the stack. */
static unsigned
find(const struct branches *b, const struct profile_site *site)
{
	unsigned i = site->depth;

	while (i && !(site->stack[i - 1]->function
	    && signature_is(site->stack[i - 1]->function, b->function)))
		i--;
	return i;
}

static void
climb(struct branches *b, const struct profile_site *site)
{
	unsigned behind = find(b, site);
	uint32_t at = 0;

	if (!behind)
		return;
	if (!b->count)
		add(b, site->stack[behind - 1]);
	count(b, 0, site);
	for (unsigned i = behind; b->callers && i < site->depth; i++) {
		at = grow(b, at, site->stack[i]);
		count(b, at, site);
	}
	for (unsigned i = behind - 1; !b->callers && i > 0; i--) {
		at = grow(b, at, site->stack[i - 1]);
		count(b, at, site);
	}
}

static int
by_value(const void *a, const void *b, void *list)
{
	const struct branch *x = (const struct branch *)list
	    + *(const uint32_t *)a;
	const struct branch *y = (const struct branch *)list
	    + *(const uint32_t *)b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	if (x->beside != y->beside)
		return x->beside < y->beside ? 1 : -1;
	return (x > y) - (x < y);
}

/* The level above FROM; ROOM holds all branches. */
static void
sort(struct branches *b, uint32_t from, uint32_t *room)
{
	uint32_t *next = &b->list[from].first;
	size_t n = 0;

	for (uint32_t at = *next; at; at = b->list[at].next)
		room[n++] = at;
	if (n)
		qsort_r(room, n, sizeof *room, by_value, b->list);
	for (size_t i = 0; i < n; i++) {
		*next = room[i];
		next = &b->list[room[i]].next;
	}
	*next = 0;
}

bool
branches_make(struct branches *b, const struct profile *p,
    const char *function, bool callers, const struct order *order)
{
	uint32_t *room;

	*b = (struct branches){
		.function = function, .callers = callers, .order = order,
	};
	for (size_t i = 0; i < p->site_count; i++) {
		b->all += order_value(p->sites + i, &order->by);
		climb(b, p->sites + i);
	}
	room = room_new(b->count, sizeof *room);
	for (size_t i = 0; i < b->count; i++)
		sort(b, (uint32_t)i, room);
	free(room);
	return b->count;
}

void
branches_free(struct branches *b)
{
	free(b->list);
}
