/* SPDX-License-Identifier: Apache-2.0 */
#include "growth.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "estimate.h"
#include "room.h"

enum {
	FIRST_WIDTH = 1 << 16,		/* ticks; too few for any start-up */
	FEWEST = GROWTH_POINTS / 2,	/* points that can tell anything */
	START_PART = 4,			/* of all points the first quarter */
	THIRDS = 3,
	RISING_PERCENT = 90,		/* of pairs, less those that fall */
	SHARE_PERCENT = 50,		/* of its even share for each third */
	KEPT_PERCENT = 90,		/* of the most, at the end */
};

void
growth_start(struct growth_clock *c, uint64_t ticks)
{
	*c = (struct growth_clock){ .start = ticks, .width = FIRST_WIDTH };
	growth_advance(c, ticks);
}

void
growth_advance(struct growth_clock *c, uint64_t ticks)
{
	uint64_t from_start = ticks - c->start;

	for (; from_start / c->width >= GROWTH_POINTS; c->halvings++)
		c->width *= 2;
	c->at = (uint32_t)(from_start / c->width);
	if (__builtin_mul_overflow(c->width, (uint64_t)c->at + 1, &c->end)
	    || __builtin_add_overflow(c->start, c->end, &c->end))
		c->end = UINT64_MAX;
}

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Two points become one. */
static void
halve(struct growth *g)
{
	for (uint32_t i = 0; i <= g->at / 2; i++) {
		uint32_t next = 2 * i + 1 <= g->at ? 2 * i + 1 : 2 * i;

		g->low[i] = less(g->low[2 * i], g->low[next]);
	}
	g->at /= 2;
	g->halvings++;
}

void
growth_catch_up(struct growth *g, const struct growth_clock *c, uint64_t live)
{
	if (!g->low && !live) {
		g->at = c->at;
		g->halvings = c->halvings;
		return;
	}
	if (!g->low)
		g->low = room_new(GROWTH_POINTS, sizeof *g->low);
	g->low[g->at] = g->least;
	while (g->halvings != c->halvings && g->at)
		halve(g);
	g->halvings = c->halvings;
	if (g->at == c->at) {
		g->least = g->low[g->at];
		return;
	}
	while (++g->at < c->at)
		g->low[g->at] = live;
	g->least = live;
}

void
growth_add(uint64_t *sum, const struct growth *g)
{
	for (uint32_t i = 0; g->low && i < g->at; i++)
		sum[i] += g->low[i];
	sum[g->at] += g->least;
}

static bool
is_kept(const uint64_t *low, unsigned count)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < count; i++)
		if (most < low[i])
			most = low[i];
	return (double)low[count - 1] * 100 >= (double)most * KEPT_PERCENT;
}

static bool
is_rising(const uint64_t *low, unsigned count)
{
	int rise = 0, pairs = (int)(count * (count - 1) / 2);

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = i + 1; j < count; j++)
			rise += (low[j] > low[i]) - (low[j] < low[i]);
	return rise * 100 >= pairs * RISING_PERCENT;
}

static bool
is_even(const uint64_t *low, unsigned count)
{
	double all = (double)low[count - 1] - (double)low[0];

	for (unsigned i = 0; i < THIRDS; i++) {
		unsigned from = i * (count - 1) / THIRDS;
		unsigned to = (i + 1) * (count - 1) / THIRDS;
		double part = (double)low[to] - (double)low[from];

		if (part * THIRDS * 100 < all * SHARE_PERCENT)
			return false;
	}
	return true;
}

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median_slope(const uint64_t *low, unsigned count)
{
	double slopes[GROWTH_POINTS * (GROWTH_POINTS - 1) / 2];
	size_t n = 0;

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = i + 1; j < count; j++)
			slopes[n++] = ((double)low[j] - (double)low[i])
			    / (j - i);
	qsort(slopes, n, sizeof *slopes, by_value);
	return (slopes[(n - 1) / 2] + slopes[n / 2]) / 2;
}

double
growth_slope(const uint64_t *low, unsigned count)
{
	const uint64_t *from = low + count / START_PART;
	unsigned rest = count - count / START_PART;

	if (count < FEWEST || !is_kept(low, count) || !is_rising(from, rest)
	    || !is_even(from, rest))
		return 0;
	return median_slope(from, rest);
}

bool
growth_is_sure(const uint64_t *low, unsigned count, double live, double gone)
{
	unsigned rest = count - count / START_PART;
	uint64_t end = low[count - 1], start = low[count - 1 - rest / THIRDS];
	double then, lost;

	if (end <= start)
		return false;
	then = live * ((double)start / (double)end);
	lost = then < gone ? then : gone;
	return end - start > estimate_error(live - then + 2 * lost);
}
