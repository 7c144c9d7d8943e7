/* SPDX-License-Identifier: Apache-2.0 */
/* Whose live bytes rise steadily: a leak that the program can still reach is
 * seen by its slope, and by nothing else.
 *
 * A history has at most GROWTH_POINTS points; when all are in use,
 * neighbours become one.  A point keeps the least that was live within it:
 * what is allocated and given back all the time is noise above that.
 *
 * Of the points after the start, nearly all pairs must rise (H. B. Mann,
 * "Nonparametric tests against trend", Econometrica 13, 1945), and each
 * third must have its share: what stops growing, comes back down or grows by
 * a few steps is no leak.  The slope is then the median of those of all
 * pairs (P. K. Sen, "Estimates of the regression coefficient based on
 * Kendall's tau", Journal of the American Statistical Association 63,
 * 1968). */
#ifndef TOOLS_GROWTH_H
#define TOOLS_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

enum { GROWTH_POINTS = 64 };

/* The points of all histories are those of one clock. */
struct growth_clock {
	uint64_t start, width;	/* in ticks */
	uint64_t end;		/* of the point at work */
	uint32_t at;		/* the point at work */
	uint32_t halvings;	/* so often the width doubled */
};

/* All zeros: nothing was ever live. */
struct growth {
	uint64_t *low;		/* the least of each point before AT.  NULL:
				 * it is 0 for all */
	uint64_t least;		/* in the point AT, up to now */
	uint32_t at, halvings;	/* of the clock, when live bytes last
				 * changed */
};

void growth_start(struct growth_clock *c, uint64_t ticks);

/* Go on to the point of TICKS. */
void growth_advance(struct growth_clock *c, uint64_t ticks);

static inline void
growth_now(struct growth_clock *c, uint64_t ticks)
{
	if (ticks >= c->end)
		growth_advance(c, ticks);
}

/* LIVE bytes it was from the last change to now. */
void growth_catch_up(struct growth *g, const struct growth_clock *c,
    uint64_t live);

static inline void
growth_before(struct growth *g, const struct growth_clock *c, uint64_t live)
{
	if (g->at != c->at || g->halvings != c->halvings)
		growth_catch_up(g, c, live);
}

/* LIVE bytes it is from now on. */
static inline void
growth_after(struct growth *g, uint64_t live)
{
	if (g->least > live)
		g->least = live;
}

/* Add the history of G, caught up, to SUM, which has GROWTH_POINTS. */
void growth_add(uint64_t *sum, const struct growth *g);

/* By how much LOW, a history of COUNT points, rises from one to the next;
 * 0: it does not, or not steadily. */
double growth_slope(const uint64_t *low, unsigned count);

/* Whether LOW, which has a slope and is a sample's estimate, rises in its
 * last third by more than chance gives.  LIVE is the variance of what is
 * live at the end, GONE that of what went.  What is live throughout is no
 * doubt: those are what came and, at most, as much as is gone instead. */
bool growth_is_sure(const uint64_t *low, unsigned count, double live,
    double gone);

#endif
