/* SPDX-License-Identifier: Apache-2.0 */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "room.h"

/* FNV-1a: a text that is made to collide only makes a report slow. */
static uint64_t
hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	while (*text)
		h = (h ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
	return h ^ h >> 32;
}

/* Where TEXT is, or belongs. */
static uint32_t *
place_of(const struct texts *t, const char *text)
{
	size_t at = hash(text) & t->mask;

	while (t->places[at] && strcmp(t->list[t->places[at] - 1], text))
		at = (at + 1) & t->mask;
	return t->places + at;
}

static void
grow(struct texts *t)
{
	size_t room = t->mask ? 2 * (t->mask + 1) : 64;

	free(t->places);
	t->places = room_new(room, sizeof *t->places);
	t->list = room_grow(t->list, room / 2, sizeof *t->list);
	t->mask = room - 1;
	for (size_t i = 0; i < t->count; i++)
		*place_of(t, t->list[i]) = (uint32_t)i + 1;
}

uint32_t
texts_number(struct texts *t, const char *text)
{
	uint32_t *place;

	if (2 * t->count >= t->mask)
		grow(t);
	place = place_of(t, text);
	if (!*place) {
		t->list[t->count++] = room_text(text, strlen(text));
		*place = (uint32_t)t->count;
	}
	return *place;
}

void
texts_free(struct texts *t)
{
	while (t->count)
		free(t->list[--t->count]);
	free(t->list);
	free(t->places);
}
