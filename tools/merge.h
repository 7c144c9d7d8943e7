/* SPDX-License-Identifier: Apache-2.0 */
/* Many streams, one order.
 *
 * Events come by time; but the clocks of two processors may differ a
 * little, so whoever takes the events may refuse one that cannot be yet:
 * its stream is parked until an event touches the same address, for at most
 * a millisecond of the log's time.  Then it must be taken as it is.
 *
 *     while ((event = merge_next(m))) {
 *             if (!possible(event) && !m->forced && merge_park(m, address, us))
 *                     continue;
 *             ... use it ...
 *             merge_taken(m, address);
 *     }
 */
#ifndef TOOLS_MERGE_H
#define TOOLS_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

enum { MERGE_PARKED = 64 };	/* at once */

struct merge_parked {
	struct stream *stream;
	uint64_t address;	/* that it waits for */
	uint64_t deadline;
};

struct merge {
	struct streams streams;
	struct stream **heap;	/* by the time of the next event; the first
				 * may have gone on since it was put there */
	size_t count;
	uint64_t limit;		/* before this time the first stays first */
	bool forced;		/* the event has waited long enough */
	struct merge_parked parked[MERGE_PARKED];
	unsigned parked_count;
	double ticks_per_us;
	void (*expect)(void *who, const struct log_event *, unsigned n);
	void *who;
};

/* EXPECT is shown events some time before their turn. */
void merge_open(struct merge *m, struct reader *log,
    const struct stream_place *cuts,
    void (*expect)(void *, const struct log_event *, unsigned), void *who);
void merge_close(struct merge *m);

/* The stream of the event that merge_next gave waits for ADDRESS.  False:
 * there is nothing to wait for. */
bool merge_park(struct merge *m, uint64_t address, unsigned us);

/* For the two below, when the first stream is no longer the first. */
const struct log_event *merge_choose(struct merge *m);
void merge_refill(struct merge *m);
void merge_wake(struct merge *m, uint64_t address);

/* The next event, there until it is taken or parked; NULL after the last. */
static inline const struct log_event *
merge_next(struct merge *m)
{
	const struct log_event *e;

	if (!m->limit)
		return merge_choose(m);
	e = m->heap[0]->batch + m->heap[0]->at;
	return e->ticks < m->limit ? e : merge_choose(m);
}

/* The event is done; it freed or took ADDRESS, if that is not 0. */
static inline void
merge_taken(struct merge *m, uint64_t address)
{
	struct stream *s = m->heap[0];

	if (++s->at == s->filled)
		merge_refill(m);
	if (m->parked_count)
		merge_wake(m, address);
}

#endif
