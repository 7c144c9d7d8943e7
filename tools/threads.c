/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"

enum { FIRST_PLACES = 64 };	/* twice the threads that fit */

static const uint32_t NONE = UINT32_MAX;

static uint64_t
key_of(const struct thread *t, bool both)
{
	uint64_t key = both ? t->self ^ (uint64_t)t->tid << 40 : t->self;

	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

static bool
is_same(const struct thread *a, const struct thread *b, bool both)
{
	return a->self == b->self && (!both || a->tid == b->tid);
}

/* The place of a thread like WHO, or the empty one where it belongs. */
static uint32_t *
place_of(const struct threads *t, bool both, const struct thread *who)
{
	const struct threads_index *x = both ? &t->by_both : &t->by_self;
	size_t i = key_of(who, both) & x->mask;

	while (x->places[i] != NONE
	    && !is_same(t->list + x->places[i], who, both))
		i = (i + 1) & x->mask;
	return x->places + i;
}

static void
make_index(struct threads *t, bool both, size_t places)
{
	struct threads_index *x = both ? &t->by_both : &t->by_self;

	free(x->places);
	x->mask = places - 1;
	x->places = room_new(places, sizeof *x->places);
	memset(x->places, 0xff, places * sizeof *x->places);
	for (size_t i = 0; i < t->count; i++)
		*place_of(t, both, t->list + i) = (uint32_t)i;
}

static void
make_room(struct threads *t, size_t places)
{
	t->room = places / 2;
	t->list = room_grow(t->list, t->room, sizeof *t->list);
	make_index(t, true, places);
	make_index(t, false, places);
}

void
threads_init(struct threads *t)
{
	*t = (struct threads){ 0 };
	make_room(t, FIRST_PLACES);
}

void
threads_free(struct threads *t)
{
	free(t->list);
	free(t->by_both.places);
	free(t->by_self.places);
}

static void
copy_name(char *to, const char *name, size_t bytes)
{
	size_t n = strnlen(name, bytes < THREAD_NAME_BYTES - 1
	    ? bytes : THREAD_NAME_BYTES - 1);

	memcpy(to, name, n);
	to[n] = '\0';
}

/* An introduction repeats a name that may be old by now: only one that
 * changed is news. */
uint32_t
threads_meet(struct threads *t, int32_t tid, uint64_t self, const char *name,
    size_t bytes)
{
	struct thread who = { .tid = tid, .self = self }, *known;
	uint32_t *place;

	copy_name(who.said, name, bytes);
	memcpy(who.name, who.said, sizeof who.name);
	if (t->count == t->room)
		make_room(t, 4 * t->room);
	place = place_of(t, true, &who);
	if (*place == NONE) {
		*place = (uint32_t)t->count;
		t->list[t->count++] = who;
	}
	known = t->list + *place;
	*place_of(t, false, &who) = *place;
	if (strcmp(known->said, who.said)) {
		memcpy(known->name, who.name, sizeof known->name);
		memcpy(known->said, who.said, sizeof known->said);
	}
	return *place;
}

void
threads_rename(struct threads *t, uint64_t self, const char *name,
    size_t bytes)
{
	const struct thread who = { .self = self };
	uint32_t number = *place_of(t, false, &who);

	if (number != NONE)
		copy_name(t->list[number].name, name, bytes);
}
