/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "room.h"

enum { FIRST_PLACES = 256 };

struct stacks_mapping {
	uint64_t bias, address, bytes;
	uint32_t object;		/* 0: nobody asked yet; STACKS_OBJECTS:
					 * one too many */
	size_t path_bytes;
	struct stacks_object is;	/* its path, until somebody asks */
};

/* LIST has COUNT, or as many as a power of two; one more fits after. */
static void *
one_more(void *list, size_t count, size_t bytes)
{
	if (count & (count - 1))
		return list;
	return room_grow(list, count ? 2 * count : 1, bytes);
}

static void
index_init(struct stacks_index *x)
{
	x->mask = FIRST_PLACES - 1;
	x->places = room_new(FIRST_PLACES, sizeof *x->places);
}

void
stacks_init(struct stacks *s)
{
	*s = (struct stacks){
		.object_count = 1, .call_count = 1, .frame_count = 1,
		.site_count = 1, .multiplier = UINT64_C(0x9e3779b97f4a7c15),
		.objects = room_new(1, sizeof *s->objects),
		.calls = room_new(1, sizeof *s->calls),
		.frames = room_new(1, sizeof *s->frames),
		.sites = room_new(1, sizeof *s->sites),
	};
	/* Who makes up a log cannot make up collisions. */
	if (getrandom(&s->multiplier, sizeof s->multiplier, GRND_NONBLOCK) < 0)
		s->multiplier ^= (uint64_t)(uintptr_t)s;
	s->multiplier |= 1;
	index_init(&s->calls_index);
	index_init(&s->frames_index);
}

static void
free_mapping(struct stacks_mapping *m)
{
	free(m->is.path);
	free(m);
}

static void
free_numbers(struct stacks *s)
{
	for (size_t i = 0; i < STACKS_GROUPS; i++) {
		free(s->groups[i]);
		s->groups[i] = NULL;
	}
}

void
stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->object_count; i++)
		free(s->objects[i].path);
	for (size_t i = 0; i < s->mapping_count; i++)
		free_mapping(s->mappings[i]);
	free(s->objects);
	free(s->calls);
	free(s->frames);
	free(s->sites);
	free(s->calls_index.places);
	free(s->frames_index.places);
	free_numbers(s);
	free(s->mappings);
	free(s->naming);
}

/* COUNT of ROOM. */
static void *
copy_of(const void *list, size_t count, size_t room, size_t bytes)
{
	void *copy = room_new(room, bytes);

	return count ? memcpy(copy, list, count * bytes) : copy;
}

/* As much room as one_more() believes that there is. */
static void *
copy_list(const void *list, size_t count, size_t bytes)
{
	size_t room = 1;

	while (room < count)
		room *= 2;
	return copy_of(list, count, room, bytes);
}

static struct stacks_mapping *
copy_mapping(const struct stacks_mapping *from)
{
	struct stacks_mapping *to = copy_of(from, 1, 1, sizeof *to);

	if (from->is.path)
		to->is.path = room_text(from->is.path, STACKS_PATH);
	return to;
}

static void
copy_index(struct stacks_index *to, const struct stacks_index *from)
{
	to->places = copy_of(from->places, from->mask + 1, from->mask + 1,
	    sizeof *to->places);
}

void
stacks_copy(struct stacks *to, const struct stacks *from)
{
	*to = *from;
	to->naming = NULL;
	to->objects = copy_list(from->objects, from->object_count,
	    sizeof *to->objects);
	for (size_t i = 1; i < to->object_count; i++)
		to->objects[i].path = room_text(from->objects[i].path,
		    STACKS_PATH);
	to->calls = copy_list(from->calls, from->call_count,
	    sizeof *to->calls);
	to->frames = copy_list(from->frames, from->frame_count,
	    sizeof *to->frames);
	to->sites = copy_list(from->sites, from->site_count,
	    sizeof *to->sites);
	copy_index(&to->calls_index, &from->calls_index);
	copy_index(&to->frames_index, &from->frames_index);
	for (size_t i = 0; i < STACKS_GROUPS; i++)
		if (from->groups[i])
			to->groups[i] = copy_of(from->groups[i], STACKS_GROUP,
			    STACKS_GROUP, sizeof *to->groups[i]);
	to->mappings = copy_of(from->mappings, from->mapping_count,
	    from->mapping_room, sizeof *to->mappings);
	for (size_t i = 0; i < to->mapping_count; i++)
		to->mappings[i] = copy_mapping(from->mappings[i]);
}

void
stacks_begin(struct stacks *s, size_t slots)
{
	free_numbers(s);
	free(s->naming);
	s->naming = room_new(slots, sizeof *s->naming);
	s->first_site = s->site_count;
	s->senseless = s->unknown = 0;
}

/* The first mapping that begins after ADDRESS. */
static size_t
after(const struct stacks *s, uint64_t address)
{
	size_t low = 0, high = s->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->mappings[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: nothing is mapped there. */
static struct stacks_mapping *
mapping_at(const struct stacks *s, uint64_t address)
{
	size_t i = after(s, address);
	struct stacks_mapping *m = i ? s->mappings[i - 1] : NULL;

	return m && address - m->address < m->bytes ? m : NULL;
}

/* Those from FIRST to before END are no more. */
static void
remove_mappings(struct stacks *s, size_t first, size_t end)
{
	if (first == end)
		return;
	for (size_t i = first; i < end; i++)
		free_mapping(s->mappings[i]);
	memmove(s->mappings + first, s->mappings + end,
	    (s->mapping_count - end) * sizeof *s->mappings);
	s->mapping_count -= end - first;
}

/* Room for a mapping at E: whatever was there has gone, said or not.  Where
 * it belongs is returned. */
static size_t
make_way(struct stacks *s, const struct log_event *e)
{
	size_t at = after(s, e->address), end = at;

	if (at && e->address - s->mappings[at - 1]->address
	    < s->mappings[at - 1]->bytes)
		at--;
	while (end < s->mapping_count
	    && s->mappings[end]->address - e->address < e->size)
		end++;
	remove_mappings(s, at, end);
	return at;
}

static void
name_more(struct stacks_mapping *m, const struct log_event *e)
{
	size_t bytes = e->text_bytes;

	if (m->object || bytes > STACKS_PATH - m->path_bytes)
		return;
	m->is.path = room_grow(m->is.path, m->path_bytes + bytes + 1, 1);
	memcpy(m->is.path + m->path_bytes, e->text, bytes);
	m->path_bytes += bytes;
	m->is.path[m->path_bytes] = '\0';
}

static void
map(struct stacks *s, const struct log_event *e)
{
	struct stacks_mapping *m;
	size_t at;

	if (!e->size || e->address + e->size < e->address) {
		s->senseless++;
		return;
	}
	at = make_way(s, e);
	if (s->mapping_count == STACKS_MAPPINGS)
		return;
	if (s->mapping_count == s->mapping_room) {
		s->mapping_room = s->mapping_room ? 2 * s->mapping_room : 64;
		s->mappings = room_grow(s->mappings, s->mapping_room,
		    sizeof *s->mappings);
	}
	m = room_new(1, sizeof *m);
	m->bias = e->old;
	m->address = e->address;
	m->bytes = e->size;
	m->is.build_id_bytes = e->build_id_bytes;
	memcpy(m->is.build_id, e->build_id, e->build_id_bytes);
	name_more(m, e);
	memmove(s->mappings + at + 1, s->mappings + at,
	    (s->mapping_count++ - at) * sizeof *s->mappings);
	s->mappings[at] = m;
	s->naming[e->slot] = e->address;
}

static void
unmap(struct stacks *s, uint64_t address)
{
	size_t i = after(s, address);

	if (i && s->mappings[i - 1]->address == address)
		remove_mappings(s, i - 1, i);
}

static bool
is_same(const struct stacks_object *a, const struct stacks_object *b)
{
	return a->build_id_bytes == b->build_id_bytes
	    && !memcmp(a->build_id, b->build_id, a->build_id_bytes)
	    && a->imprint == b->imprint && !strcmp(a->path, b->path);
}

/* The number of what is mapped at M, which has all of its name by now. */
static uint32_t
object_of(struct stacks *s, struct stacks_mapping *m)
{
	uint32_t i = 1;

	if (m->object)
		return m->object % STACKS_OBJECTS;
	while (i < s->object_count && !is_same(s->objects + i, &m->is))
		i++;
	m->object = i;
	if (i == STACKS_OBJECTS)
		return 0;
	if (i == s->object_count) {
		s->objects = one_more(s->objects, s->object_count++,
		    sizeof *s->objects);
		s->objects[i] = m->is;
		m->is.path = NULL;
	}
	return i;
}

/* The object may also be one that comes in a moment, where clocks differ. */
static void
place(struct stacks *s, struct stacks_number *n)
{
	struct stacks_mapping *m = mapping_at(s, n->address - 1);

	if (!m)
		return;
	n->object = object_of(s, m);
	if (n->object)
		n->address -= m->bias;
}

static struct stacks_number *
need_number(struct stacks *s, uint32_t number)
{
	struct stacks_number **group = s->groups + number / STACKS_GROUP;

	if (!*group)
		*group = room_new(STACKS_GROUP, sizeof **group);
	return *group + number % STACKS_GROUP;
}

/* Callers have lower numbers, for they were met before: no stack is a
 * circle. */
static void
take_frame(struct stacks *s, const struct log_event *e)
{
	struct stacks_number *n;

	if (e->caller >= e->stack || !e->address) {
		s->senseless++;
		return;
	}
	n = need_number(s, e->stack);
	if (n->address) {
		s->senseless++;
		return;
	}
	n->address = e->address;
	n->caller = e->caller;
	place(s, n);
}

void
stacks_take(struct stacks *s, const struct log_event *e)
{
	struct stacks_mapping *m;

	switch (e->kind) {
	case LOG_X_FRAME:
		take_frame(s, e);
		return;
	case LOG_X_OBJECT:
		map(s, e);
		return;
	case LOG_X_PATH:
		m = mapping_at(s, s->naming[e->slot]);
		if (m)
			name_more(m, e);
		return;
	case LOG_X_IMPRINT:
		m = mapping_at(s, s->naming[e->slot]);
		if (m)
			m->is.imprint = e->old;
		return;
	case LOG_X_UNLOAD:
		unmap(s, e->address);
		return;
	default:
		return;
	}
}

uint32_t
stacks_new_site(struct stacks *s, uint32_t number)
{
	struct stacks_number *n = need_number(s, number);
	uint32_t site = (uint32_t)s->site_count;

	if (site == STACKS_SITES)
		return 0;
	s->sites = one_more(s->sites, s->site_count++, sizeof *s->sites);
	s->sites[site] = number;
	n->site = site;
	return site;
}

/* The place of what has these two words: SAME tells whether the one of some
 * number has. */
static uint32_t *
find(const struct stacks *s, const struct stacks_index *x, uint64_t a,
    uint64_t b, bool (*same)(const struct stacks *, uint32_t, uint64_t,
    uint64_t))
{
	uint64_t hash = (a * s->multiplier ^ b) * s->multiplier;
	size_t i = (size_t)(hash >> 20) & x->mask;

	while (x->places[i] && !same(s, x->places[i], a, b))
		i = (i + 1) & x->mask;
	return x->places + i;
}

static bool
same_call(const struct stacks *s, uint32_t i, uint64_t address, uint64_t object)
{
	return s->calls[i].address == address && s->calls[i].object == object;
}

static bool
same_frame(const struct stacks *s, uint32_t i, uint64_t call, uint64_t caller)
{
	return s->frames[i].call == call && s->frames[i].caller == caller;
}

static void
more_calls(struct stacks *s)
{
	struct stacks_index *x = &s->calls_index;

	free(x->places);
	x->mask = 2 * x->mask + 1;
	x->places = room_new(x->mask + 1, sizeof *x->places);
	for (uint32_t i = 1; i < s->call_count; i++)
		*find(s, x, s->calls[i].address, s->calls[i].object,
		    same_call) = i;
}

static void
more_frames(struct stacks *s)
{
	struct stacks_index *x = &s->frames_index;

	free(x->places);
	x->mask = 2 * x->mask + 1;
	x->places = room_new(x->mask + 1, sizeof *x->places);
	for (uint32_t i = 1; i < s->frame_count; i++)
		*find(s, x, s->frames[i].call, s->frames[i].caller,
		    same_frame) = i;
}

static uint32_t
call_of(struct stacks *s, const struct stacks_number *n)
{
	struct stacks_call call = { n->address - 1, n->object };
	uint32_t *place;

	if (s->call_count > s->calls_index.mask / 2)
		more_calls(s);
	place = find(s, &s->calls_index, call.address, call.object, same_call);
	if (!*place) {
		*place = (uint32_t)s->call_count;
		s->calls = one_more(s->calls, s->call_count++,
		    sizeof *s->calls);
		s->calls[*place] = call;
	}
	return *place;
}

static uint32_t
frame_of(struct stacks *s, uint32_t call, uint32_t caller)
{
	struct stacks_frame frame = {
		call, caller, s->frames[caller].depth + 1,
	};
	uint32_t *place;

	if (frame.depth > STACKS_DEEPEST)
		return caller;
	if (s->frame_count > s->frames_index.mask / 2)
		more_frames(s);
	place = find(s, &s->frames_index, call, caller, same_frame);
	if (!*place) {
		*place = (uint32_t)s->frame_count;
		s->frames = one_more(s->frames, s->frame_count++,
		    sizeof *s->frames);
		s->frames[*place] = frame;
	}
	return *place;
}

/* Frames of our own libraries are nobody's business. */
static bool
is_ours(const struct stacks *s, uint32_t object)
{
	static const char ours[] = "libheaphook-";
	const char *path = object ? s->objects[object].path : "";
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, ours, sizeof ours - 1);
}

static void
settle(struct stacks *s, struct stacks_number *n)
{
	const struct stacks_number *caller = stacks_number(s, n->caller);
	uint32_t frame = caller ? caller->frame : 0;

	if (!n->address)
		return;
	if (!n->object)
		place(s, n);
	n->frame = is_ours(s, n->object) ? frame
	    : frame_of(s, call_of(s, n), frame);
}

/* In the order of the numbers, so that callers come before. */
void
stacks_settle(struct stacks *s)
{
	for (size_t i = 0; i < STACKS_GROUPS; i++)
		for (size_t j = 0; s->groups[i] && j < STACKS_GROUP; j++)
			settle(s, s->groups[i] + j);
	for (size_t i = s->first_site; i < s->site_count; i++) {
		const struct stacks_number *n = stacks_number(s, s->sites[i]);

		s->unknown += !n || !n->address;
		s->sites[i] = n ? n->frame : 0;
	}
}
