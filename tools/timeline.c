/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

void
timeline_begin(struct timeline *t, uint64_t ticks, uint64_t live,
    uint64_t beside)
{
	*t = (struct timeline){
		.start = ticks, .width = 1, .now = t->points,
		.end = ticks == UINT64_MAX ? ticks : ticks + 1,
	};
	*t->now = (struct timeline_point){ live, live, beside };
}

/* Two points become one. */
static void
halve(struct timeline *t)
{
	for (unsigned i = 0; i <= t->at / 2; i++) {
		struct timeline_point a = t->points[2 * i], b = a;

		if (2 * i + 1 <= t->at)
			b = t->points[2 * i + 1];
		if (b.peak < a.peak)
			b.peak = a.peak;
		t->points[i] = b;
	}
	t->at /= 2;
	t->width *= 2;
}

void
timeline_advance(struct timeline *t, uint64_t ticks)
{
	const struct timeline_point last = *t->now;
	uint64_t from_start = ticks - t->start;

	while (from_start / t->width >= TIMELINE_POINTS)
		halve(t);
	while (t->at < from_start / t->width)
		t->points[++t->at] = (struct timeline_point){
			last.live, last.live, last.beside,
		};
	t->now = t->points + t->at;
	if (__builtin_mul_overflow(t->width, t->at + 1, &t->end)
	    || __builtin_add_overflow(t->start, t->end, &t->end))
		t->end = UINT64_MAX;
}
