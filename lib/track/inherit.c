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

/* What was live when this process began. */
static int64_t live_at_first;

static void
take_stream(struct hh_inheritance *from, const struct hh_stream *s)
{
	if (!s->chunk)
		return;
	from->live += hh_count_live(s);
	if (hh_head->h.mode != LOG_EVENTS)
		return;
	from->cut[from->cuts++] = (struct cut){s->number, s->seq,
	    hh_chunk_offset(s)};
	hh_chunk_unmap(s->chunk);
}

static uint32_t
count_streams(void)
{
	uint32_t count = 0;

	while (hh_stream_at(count))
		count++;
	return count;
}

struct hh_inheritance *
hh_inherit_take(void)
{
	uint32_t count = count_streams();
	size_t bytes = sizeof(struct hh_inheritance)
	    + count * sizeof(struct cut);
	struct hh_inheritance *from = hh_sys_map_private(bytes);

	if (!from)
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
	hh_pool_record(NULL);
	hh_sys_unmap(hh_head, sizeof *hh_head + LOG_FIRST_SLOT_BYTES);
	hh_head = NULL;
	hh_file_forget();
	hh_chunk_forget();
	hh_frame_forget();
	hh_object_forget();
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
