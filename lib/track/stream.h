/* SPDX-License-Identifier: Apache-2.0 */
/* One thread's window on the log.
 *
 * A stream has two halves, HALF bytes apart.  The first holds where the
 * thread writes; the second only where it must stop.  The kernel fills the
 * second with zeros in a child of any fork that copies memory: there it has
 * no room, comes to the slow path, and finds in the first half how far each
 * thread of its parent had come.  A vfork child shares both and goes on in
 * its parent's log.
 *
 * While an event is being put down its stream has no room either, so that a
 * signal handler that comes between takes the slow path too and writes into
 * a nested stream.
 *
 * The limit is near: the thread comes past it every few events, to look at
 * the clock, and whenever it may not go on as it did.  So the usual path has
 * one comparison for all of that.
 *
 * All of this is the calling thread's own, except where it says shared. */
#ifndef HH_STREAM_H
#define HH_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../log/codec.h"
#include "away.h"
#include "../interpose/clock.h"

enum {
	STREAM_BYTES = 128,		/* no two in a pair of cache lines */
	STREAM_HALF = 32768,
	STREAMS_A_BLOCK = STREAM_HALF / STREAM_BYTES,

	/* Not at the very same place in its page as what is written in the
	 * first half: processors take such addresses for one at first. */
	STREAM_LIMIT = STREAM_HALF + STREAM_BYTES - (int)sizeof(void *),
	STREAM_NEAR = STREAM_LIMIT - (int)sizeof(void *),

	/* With one thread order needs no time, and reading the clock costs
	 * more than all the rest.  It is read when the thread has been away,
	 * for what is big, for each event while they are rare, and every few
	 * of those that are dense. */
	TIME_EVERY_BYTES = 1024,	/* some 200 events */
	TIME_SPARSE_TICKS = 49152,	/* for so many bytes: they are rare, */
	TIME_RARE_TICKS = 256,		/* and for one while they are */
	TIME_BIG_BYTES = 32768,

	/* What signal handlers may still put down, each before the one that
	 * it interrupts, after the limit was looked at. */
	STREAM_SLACK = 8 * LOG_EVENT_ROOM,
};

struct hh_walks;

struct hh_stream {
	_Alignas(STREAM_BYTES) struct log_writer w;
	uint64_t headroom;		/* see count.h, as the next three */
	uint64_t headroom_most;
	uint32_t allocations, frees;

	int64_t top;			/* see count.h */
	unsigned char *end;		/* of the slot; NULL: no events */
	struct log_chunk *chunk;	/* NULL: no slot, counts in others */
	struct hh_stream *inner;	/* for handlers that interrupt us */
	uint64_t seq;			/* of the chunk */
	uint64_t turning_to;		/* the next one's while it is made */
	uint32_t number;		/* of the slot */
	_Atomic int owner;		/* shared: tid, 0 for nobody */
	bool busy;			/* in the slow path */
	bool nested;			/* writes for a signal handler */
	bool sparse;			/* events are rare: all are timed */
	bool unnamed;			/* the chunk has not the owner's name */
	bool left;			/* a parent's, in a forked child */
};

static_assert(sizeof(struct hh_stream) == STREAM_BYTES, "one stride");

/* This thread's stream, at first that of nobody, which has no room. */
extern HH_OWN _Thread_local struct hh_stream *hh_mine;

/* Shared, set and cleared by one atomic or, and.  0 is the fastest path. */
enum {
	HH_AMONG = 1,	/* other threads may exist: each event is timed */
	HH_PAUSED = 2,	/* between heaphook_pause and heaphook_resume */
	HH_OPAQUE = 4,	/* not started, or usable sizes follow no rule */
	HH_SAMPLED = 8,	/* only some blocks are recorded; all are counted */
	HH_MEASURED = 16,	/* how long the next allocator takes, too */
};

extern HH_OWN uint8_t hh_mode;

static inline bool
hh_among_threads(void)
{
	return __atomic_load_n(&hh_mode, __ATOMIC_RELAXED) & HH_AMONG;
}

/* Where the usual path ends: NULL while busy and in another process. */
static inline unsigned char *volatile *
hh_stream_limit(struct hh_stream *s)
{
	return (unsigned char *volatile *)((char *)s + STREAM_LIMIT);
}

/* What the limit is when not busy.  Beside it, so that a child whose fork came
 * in the middle of an event finds no room after that either. */
static inline unsigned char **
hh_stream_near(struct hh_stream *s)
{
	return (unsigned char **)(void *)((char *)s + STREAM_NEAR);
}

/* What the thread's stacks are compared with, beside that limit: a forked
 * child has none. */
static inline struct hh_walks **
hh_stream_walks(struct hh_stream *s)
{
	return (struct hh_walks **)(void *)((char *)s + STREAM_HALF);
}

/* A call of the thread is at work with them. */
static inline volatile bool *
hh_stream_holds(struct hh_stream *s)
{
	return (volatile bool *)((char *)s + STREAM_HALF + sizeof(void *));
}

/* How many bytes are left to the thread's next sample; see sample.h.  A
 * forked child's has none, and so no seed. */
struct hh_luck {
	int64_t left;
	uint64_t seed;
};

static inline struct hh_luck *
hh_stream_luck(struct hh_stream *s)
{
	return (struct hh_luck *)(void *)((char *)s + STREAM_HALF
	    + 2 * sizeof(void *));
}

/* The usual path is over: whatever ends it may change that. */
static inline void
hh_stream_bar(struct hh_stream *s)
{
	*hh_stream_limit(s) = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void
hh_stream_unbar(struct hh_stream *s)
{
	atomic_signal_fence(memory_order_seq_cst);
	*hh_stream_limit(s) = *hh_stream_near(s);
}

/* How far events may go untimed from here; at least a place, so that the
 * limit is not NULL, if there are events at all. */
static inline void
hh_stream_set_near(struct hh_stream *s)
{
	unsigned char *most = s->end - STREAM_SLACK;
	unsigned char *near = s->end && !s->left ? s->w.at : NULL;

	if (near && hh_mode == 0 && !s->sparse && near < most)
		near = most - near < TIME_EVERY_BYTES ? most
		    : near + TIME_EVERY_BYTES;
	*hh_stream_near(s) = near;
}

/* Ticks since the last event that had its time, 0 if the clock slipped. */
static inline uint64_t
hh_stream_since(const struct hh_stream *s)
{
	uint64_t now = hh_ticks(), before = s->w.ticks;

	return now > before ? now - before : 0;
}

/* Look at the clock: the same, for an event. */
static inline uint64_t
hh_stream_clock(struct hh_stream *s)
{
	uint64_t dt = hh_stream_since(s);

	s->sparse = dt > (s->sparse ? TIME_RARE_TICKS : TIME_SPARSE_TICKS);
	hh_away_begin();
	return dt;
}

/* The calling thread's stream, busy, with room for BYTES more unless its
 * end is NULL; NULL itself when this process is not watched.  Whatever it
 * takes is done: start, a child's own log, a new slot, a full one. */
struct hh_stream *hh_stream_take(size_t bytes);
void hh_stream_give(struct hh_stream *s);

/* The log is there, and the thread has a stream, if that can be. */
void hh_stream_come(void);

/* This is a forked child, which allocates nothing yet. */
void hh_stream_forked(void);

/* Of a child: nobody told us that it was forked. */
bool hh_stream_cloned(void);

/* False in a forked child that has no log of its own yet. */
bool hh_stream_alive(void);

/* The calling thread is in the middle of an event. */
bool hh_stream_within(void);

/* The I-th stream of this process, whoever's it is; NULL when there is none.
 * In a forked child, until it has a log, those of its parent. */
struct hh_stream *hh_stream_at(uint32_t i);

#endif
