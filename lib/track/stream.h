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
 * All of this is the calling thread's own, except where it says shared. */
#ifndef HH_STREAM_H
#define HH_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../log/codec.h"
#include "away.h"
#include "clock.h"

enum {
	STREAM_BYTES = 128,		/* no two in a pair of cache lines */
	STREAM_HALF = 32768,
	STREAMS_A_BLOCK = STREAM_HALF / STREAM_BYTES,

	/* Not at the very same place in its page as what is written in the
	 * first half: processors take such addresses for one at first. */
	STREAM_LIMIT = STREAM_HALF + STREAM_BYTES - (int)sizeof(void *),

	/* With one thread order needs no time, and reading the clock costs
	 * more than all the rest.  It is read when the thread has been away,
	 * for what is big, for each event while they are rare, and every few
	 * of those that are dense. */
	TIME_EVERY = 32,
	TIME_SPARSE_TICKS = 64,		/* from one event to the next */
	TIME_BIG_BYTES = 512,
};

struct hh_stream {
	_Alignas(STREAM_BYTES) struct log_writer w;
	struct log_counters *counters;	/* in the slot; never NULL but in
					 * the stream of nobody */
	uint64_t low, span;		/* live outside of [low, low + span]
					 * is told to the process */
	uint32_t countdown;		/* untimed events until a timed one */
	uint8_t period;			/* what countdown began with */
	bool busy;			/* in the slow path */
	bool nested;			/* writes for a signal handler */
	_Atomic int owner;		/* shared: tid, 0 for nobody */
	uint32_t number;		/* of the slot */
	uint64_t seq;			/* of the chunk */
	unsigned char *end;		/* of the slot; NULL: no events */
	struct log_chunk *chunk;	/* NULL: no slot, counts in others */
	struct hh_stream *inner;	/* for handlers that interrupt us */
};

static_assert(sizeof(struct hh_stream) == STREAM_BYTES, "one stride");

/* This thread's stream, at first that of nobody, which has no room. */
extern _Thread_local struct hh_stream *hh_mine;

/* Shared, set and cleared by one atomic or, and.  0 is the fastest path. */
enum {
	HH_AMONG = 1,	/* other threads may exist: each event is timed */
	HH_PAUSED = 2,	/* between heaphook_pause and heaphook_resume */
	HH_OPAQUE = 4,	/* not started, or usable sizes follow no rule */
};

extern uint8_t hh_mode;

static inline bool
hh_among_threads(void)
{
	return __atomic_load_n(&hh_mode, __ATOMIC_RELAXED) & HH_AMONG;
}

static inline unsigned char *volatile *
hh_stream_limit(struct hh_stream *s)
{
	return (unsigned char *volatile *)((char *)s + STREAM_LIMIT);
}

/* Ticks since the last event that had its time; 0 if the clock slipped. */
static inline uint64_t
hh_stream_clock(struct hh_stream *s)
{
	uint64_t now = hh_ticks(), before = s->w.ticks;
	uint64_t dt = now > before ? now - before : 0;

	s->period = dt > (uint64_t)s->period * TIME_SPARSE_TICKS ? 1
	    : TIME_EVERY;
	s->countdown = s->period;
	hh_away_begin();
	return dt;
}

/* Whether an event of SIZE bytes can go without its time. */
static inline bool
hh_stream_untimed(struct hh_stream *s, size_t size)
{
	return size < TIME_BIG_BYTES && --s->countdown && !hh_away();
}

/* The time step of the next event; 0 when it can do without. */
static inline uint64_t
hh_stream_step(struct hh_stream *s, size_t size)
{
	return !hh_among_threads() && hh_stream_untimed(s, size) ? 0
	    : hh_stream_clock(s);
}

/* The calling thread's stream, busy, with room for BYTES more unless its
 * end is NULL; NULL itself when this process is not watched.  Whatever it
 * takes is done: start, a child's own log, a new slot, a full one. */
struct hh_stream *hh_stream_take(size_t bytes);
void hh_stream_give(struct hh_stream *s);

/* False in a forked child that has no log of its own yet. */
bool hh_stream_alive(void);

/* The I-th stream that was made, whoever's it is; NULL when there is none. */
struct hh_stream *hh_stream_at(uint32_t i);

#endif
