/* SPDX-License-Identifier: Apache-2.0 */
/* A value over time in a bounded number of points, however long it takes:
 * when all are in use, neighbours become one and the width doubles.  Each
 * point keeps the most within it, so no spike is lost. */
#ifndef TOOLS_TIMELINE_H
#define TOOLS_TIMELINE_H

#include <stdint.h>

enum { TIMELINE_POINTS = 256 };

struct timeline_point {
	uint64_t live;		/* the value when it ended */
	uint64_t peak;		/* the most within it */
	uint64_t beside;	/* another one, when it ended */
};

struct timeline {
	uint64_t start, width;	/* in ticks */
	unsigned at;		/* the point at work, */
	struct timeline_point *now;	/* which is this, */
	uint64_t end;		/* and when it ends */
	struct timeline_point points[TIMELINE_POINTS];
};

void timeline_begin(struct timeline *t, uint64_t ticks, uint64_t live,
    uint64_t beside);

/* Go on to the point of TICKS. */
void timeline_advance(struct timeline *t, uint64_t ticks);

/* The values are LIVE and BESIDE from TICKS on, which never go back. */
static inline void
timeline_add(struct timeline *t, uint64_t ticks, uint64_t live,
    uint64_t beside)
{
	if (ticks >= t->end)
		timeline_advance(t, ticks);
	t->now->live = live;
	t->now->beside = beside;
	if (t->now->peak < live)
		t->now->peak = live;
}

#endif
