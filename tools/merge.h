/* SPDX-License-Identifier: Apache-2.0 */
/* Many streams, one order.
 *
 * Events come by time; but the clocks of two processors may differ, so
 * whoever takes the events may refuse one that cannot be yet: its stream is
 * parked until an event touches the same address, but not for ever.  Then it
 * must be taken as it is.
 *
 * A stream that waited, and not in vain, has a clock that is behind by as
 * much at least: from then on its events are merged as if so much later.
 * Patience is what waiting has been worth: long at first, for nothing is
 * known, and halved each time nothing came.
 *
 *     while ((event = merge_next(m))) {
 *             if (!possible(event) && !m->forced && merge_park(m, address, us))
 *                     continue;
 *             ... use it ...
 *             merge_taken(m, address, 0);
 *     }
 */
#ifndef TOOLS_MERGE_H
#define TOOLS_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

enum {
	MERGE_PARKED = 64,	/* at once */
	MERGE_WRONG_US = 100000,	/* more no clock is believed to be */
};

struct merge_parked {
	struct stream *stream;
	uint64_t address;	/* that it waits for */
	uint64_t patience;
};

struct merge {
	struct streams streams;
	struct stream **heap;	/* by the time of the next event; the first
				 * may have gone on since it was put there */
	size_t count;
	uint64_t limit;		/* before this time, by its own clock, the
				 * first stays first */
	bool mixed;		/* the heap is not in order */
	bool forced;		/* the event has waited long enough */
	struct merge_parked parked[MERGE_PARKED];
	unsigned parked_count;
	double ticks_per_us;
	uint64_t patience;	/* of whoever waits, in ticks */
	uint64_t slip;		/* what clocks were seen to differ */
	bool doubt;		/* whether they were at all */
	struct stream *last;	/* whose event was taken, if streams wait, */
	uint64_t last_time;	/* and when it was */
	void (*expect)(void *who, const struct log_event *, unsigned n);
	void *who;
};

/* EXPECT is shown events some time before their turn. */
void merge_open(struct merge *m, struct reader *log,
    const struct stream_place *cuts,
    void (*expect)(void *, const struct log_event *, unsigned), void *who);
void merge_close(struct merge *m);

/* After the last event before its cuts: on to others, further on in each
 * slot.  Where handlers interrupted it cannot be. */
void merge_go_on(struct merge *m, const struct stream_place *cuts);

/* The stream of the event that merge_next gave waits for ADDRESS, for US
 * microseconds at least.  False: there is nothing to wait for. */
bool merge_park(struct merge *m, uint64_t address, unsigned us);

/* For those below: when the first stream is no longer the first, or all of
 * its batch is taken; and where streams wait. */
const struct log_event *merge_choose(struct merge *m);
void merge_note(struct merge *m, uint64_t address, uint64_t other);

static inline uint64_t
merge_ticks(const struct merge *m, unsigned us)
{
	return (uint64_t)(us * m->ticks_per_us) + 1;
}

/* When the event that merge_next gave was, by all we know. */
static inline uint64_t
merge_time(const struct merge *m)
{
	const struct stream *s = m->heap[0];
	uint64_t time = s->next->ticks + s->shift;

	return time < s->woken ? s->woken : time;
}

/* The next event, there until it is taken or parked; NULL after the last. */
static inline const struct log_event *
merge_next(struct merge *m)
{
	if (m->limit && m->heap[0]->next->ticks < m->limit)
		return m->heap[0]->next;
	return merge_choose(m);
}

/* The event is done; it freed or took ADDRESS and OTHER, if not 0. */
static inline void
merge_taken(struct merge *m, uint64_t address, uint64_t other)
{
	struct stream *s = m->heap[0];

	if (m->parked_count || s->woken)
		merge_note(m, address, other);
	else
		s->next++;
}

#endif
