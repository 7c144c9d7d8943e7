/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "inherit.h"

#include <string.h>

#include "../interpose/sys.h"
#include "chunk.h"
#include "count.h"
#include "file.h"
#include "frame.h"
#include "object.h"
#include "pool.h"
#include "../interpose/create.h"
#include "../interpose/head.h"

enum { ASIDE_BYTES = 4096 };	/* for an event, and the frames before it */

/* How far one thread of the parent had come. */
struct cut {
	uint32_t slot;
	uint64_t seq, offset;
};

struct hh_inheritance {
	struct hh_head_origin origin;
	char path[4096];
	int64_t live;
	size_t bytes;		/* of all this */
	uint32_t cuts;
	struct cut cut[];
};

/* An event that our fork came in the middle of, if a signal handler forked,
 * goes on here, but not in the parent's log.  If it had not begun to write, it
 * finds a place in a copy of the chunk's head; */
static struct {
	struct hh_stream *stream;	/* whose chunk and place are, NULL: */
	struct log_chunk *chunk;	/* none are: these */
	uint64_t seq, offset;
	_Alignas(64) unsigned char copy[ASIDE_BYTES];
} aside;

/* else all that it may write to is ours, and has no file behind it. */
static bool parted;

/* What was live when this process began. */
static int64_t live_at_first;

static uint32_t
count_streams(void)
{
	uint32_t count = 0;

	while (hh_stream_at(count))
		count++;
	return count;
}

void
hh_inherit_aside(void)
{
	struct hh_stream *s = hh_mine;
	struct log_chunk *copy = (struct log_chunk *)aside.copy;
	size_t room = s->end ? (size_t)(s->end - s->w.at) : 0;

	if (!s->chunk || s->left)
		return;
	aside.stream = s;
	aside.chunk = s->chunk;
	aside.seq = s->seq;
	aside.offset = hh_chunk_offset(s);
	memcpy(copy, s->chunk, sizeof *copy);
	copy->bytes = sizeof aside.copy;
	s->left = true;
	s->chunk = copy;
	s->w.at = copy->events;
	/* No more room than the parent has: the event goes as it does there. */
	if (room > sizeof aside.copy - sizeof *copy)
		room = sizeof aside.copy - sizeof *copy;
	if (s->end)
		s->end = s->w.at + room;
}

/* What lies there, as far as KEPT, is no file's any more but ours alone. */
static bool
part(void *at, size_t bytes, size_t kept)
{
	void *copy = hh_sys_map_private(bytes);

	if (!copy)
		return false;
	memcpy(copy, at, kept);
	if (hh_sys_move(copy, bytes, at) == 0)
		return true;
	hh_sys_unmap(copy, bytes);
	return false;
}

static bool
part_stream(struct hh_stream *s)
{
	struct log_chunk *chunk = s->chunk;

	if (!chunk)
		return true;
	s->left = true;
	if (hh_chunk_is_in_head(chunk))
		return true;
	if (!part(chunk, chunk->bytes, sizeof *chunk))
		return false;
	chunk->magic = 0;	/* wherever it were written, it is none */
	return true;
}

bool
hh_inherit_part(void)
{
	struct hh_stream *s = hh_mine;

	if (aside.stream || parted)
		return true;
	hh_file_part();
	if (!part(hh_head, LOG_HEADER_BYTES, LOG_PAGE)
	    || !part(hh_head + 1, LOG_FIRST_SLOT_BYTES, LOG_FIRST_SLOT_BYTES))
		return false;
	while (s && part_stream(s))
		s = s->inner;
	return parted = !s;
}

static void
take_stream(struct hh_inheritance *from, const struct hh_stream *s)
{
	struct cut cut = {s->number, s->seq, 0};

	if (!s->chunk)
		return;
	from->live += hh_count_live(s);
	if (hh_head->h.mode != LOG_EVENTS)
		return;
	cut.offset = hh_chunk_offset(s);
	if (s == aside.stream && s->seq == aside.seq)
		cut.offset += aside.offset - sizeof *s->chunk;
	from->cut[from->cuts++] = cut;
}

/* The slots of threads that are not here are none of ours. */
static void
let_go(struct hh_stream *s)
{
	s->end = NULL;
	if (s == aside.stream)
		hh_chunk_unmap(aside.chunk);
	else if (s->chunk && !s->left)
		hh_chunk_unmap(s->chunk);
}

struct hh_inheritance *
hh_inherit_take(void)
{
	uint32_t count = count_streams();
	size_t bytes = sizeof(struct hh_inheritance)
	    + count * sizeof(struct cut);
	struct hh_inheritance *from = hh_sys_map_private(bytes);

	if (!from || !hh_inherit_part())
		return NULL;
	from->bytes = bytes;
	strncpy(from->path, hh_create_path(), sizeof from->path - 1);
	from->origin = (struct hh_head_origin){from->path, hh_head->h.pid,
	    hh_head->h.process_start};
	/* By what was in our memory at the fork: what stands in the log is the
	 * parent's, who goes on with it. */
	from->live = live_at_first + hh_head->h.others.live;
	for (uint32_t i = 0; i < count; i++)
		take_stream(from, hh_stream_at(i));
	for (uint32_t i = 0; i < count; i++)
		let_go(hh_stream_at(i));
	hh_pool_record(NULL);
	if (!parted) {
		hh_sys_unmap(hh_head, LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES);
		hh_head = NULL;
	}
	hh_file_forget(hh_stream_cloned());
	hh_chunk_forget();
	hh_frame_forget();
	hh_object_forget();
	aside.stream = NULL;
	parted = false;
	return from;
}

const struct hh_head_origin *
hh_inherit_origin(const struct hh_inheritance *from)
{
	return &from->origin;
}

void
hh_inherit_put(struct hh_inheritance *from, struct hh_stream *s)
{
	live_at_first = from->live > 0 ? from->live : 0;
	hh_head->h.live = hh_head->h.peak = live_at_first;
	if (s->chunk)
		hh_count_begin(s);
	for (uint32_t i = 0; i < from->cuts && s->end; i++) {
		const struct cut *c = &from->cut[i];

		if (s->end - s->w.at < CHUNK_PLACE_BYTES)
			hh_chunk_next(s);
		hh_chunk_put_place(s, LOG_X_INHERIT, c->slot, c->seq,
		    c->offset);
	}
	hh_sys_unmap(from, from->bytes);
}
