/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one slot, in the order in which they happened.
 *
 * Chunks are read in the order of their numbers, through a small window
 * each.  What a signal handler did in the middle of an event stands in a
 * slot of its own, with the place it belongs to; it is put in there.  Each
 * chunk begins with LOG_X_THREAD, also where the log only says so in the
 * chunk's head; LOG_X_TIME, LOG_X_NESTED, LOG_X_INHERIT and kinds of later
 * versions do not come out.  LOG_X_TOOK becomes a part of the event that it
 * belongs to. */
#ifndef TOOLS_STREAM_H
#define TOOLS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/decode.h"
#include "reader.h"

enum {
	STREAM_BATCH = 32,
	STREAM_DEPTH = 8,	/* handlers that interrupt each other */
};

/* A place in a slot; events at OFFSET and after are beyond it. */
struct stream_place {
	uint64_t seq;
	uint32_t offset;
};

static inline bool
stream_is_before(struct stream_place a, struct stream_place b)
{
	return a.seq < b.seq || (a.seq == b.seq && a.offset < b.offset);
}

/* What stands from OFFSET on was done by a handler, when the event WHERE in
 * slot HOST was about to be stored. */
struct stream_splice {
	uint32_t host, slot;		/* in reader.slots */
	struct stream_place where;
	uint64_t last, size, ticks;
	size_t chunk;			/* in reader.chunks */
	uint32_t offset;
	bool used;
};

/* One chunk after another of one slot. */
struct stream_lane {
	uint32_t slot;			/* in reader.slots */
	bool guest;			/* a handler's, up to its next place */
	size_t next;			/* chunk to look at after this one */
	uint64_t seq;			/* of the last one seen */
	const struct reader_chunk *chunk;	/* NULL: between chunks */
	const struct reader_chunk *last;	/* that it was in, or is */
	struct log_reader at;		/* in the window */
	const unsigned char *window;	/* the buffer, or the chunk as kept */
	uint32_t window_at;		/* where in the chunk it begins */
	uint32_t window_bytes;
	uint32_t room;			/* end of the chunk's events at most, */
	uint32_t end;			/* and where the last may begin */
	struct stream_place limit;	/* of the lane */
	size_t splice, splice_end;	/* who interrupts us, still to come */
	unsigned char *buffer;
	uint32_t buffer_bytes;
};

struct streams;

struct stream {
	struct streams *all;
	struct log_event *next, *end;	/* in the batch; behind the last one is
					 * one at UINT64_MAX */
	struct log_event batch[STREAM_BATCH + 1];
	struct log_event held;		/* it awaits its LOG_X_TOOK and comes
					 * next; kind 0: none */
	struct log_event *whole;	/* in the batch: what is before is
					 * before what is missing, so awaits
					 * nothing */
	uint64_t time;			/* of the last event; never back */
	/* The merge's: */
	uint64_t shift;			/* to be added to its time; as good
					 * as signed */
	uint64_t woken;			/* when the wait for its next event
					 * was over; 0: there was none */
	struct stream *waker;
	unsigned depth;
	struct stream_lane lanes[STREAM_DEPTH];
	int32_t tid;			/* who is at work */
	uint64_t self;
	char name[LOG_NAME_BYTES];
};

struct streams {
	struct reader *log;
	struct stream *list;
	size_t count;
	struct stream_splice *splices;	/* by host and place */
	size_t splice_count, splice_room;
	const struct stream_place *cuts;	/* one for each slot, or NULL */
};

/* Of all slots of LOG, as far as CUTS, which may be NULL: no limit. */
void streams_open(struct streams *s, struct reader *log,
    const struct stream_place *cuts);
void streams_close(struct streams *s);

/* All that came before the cuts was given: on to others.  No handler may have
 * interrupted. */
void streams_go_on(struct streams *s, const struct stream_place *cuts);

/* Decode the next events into the batch.  Texts in it last until the next
 * call; slot is the place in reader.slots.  False: there are no more. */
bool stream_fill(struct stream *s);

/* How far the log of FROM, whose child wrote LOG, had come when it forked:
 * a place for each slot of FROM.  The caller frees it. */
struct stream_place *stream_inherited(struct reader *log,
    const struct reader *from);

#endif
