/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include "clock.h"
#include "head.h"

/* The width doubles whenever the points are used up: pairs become one. */
static void
halve_timeline(struct log_header *h)
{
	struct log_timeline_point *p = hh_head->timeline;

	for (unsigned i = 0; i < LOG_TIMELINE_POINTS / 2; i++) {
		int64_t a = p[2 * i].peak, b = p[2 * i + 1].peak;

		p[i] = (struct log_timeline_point){p[2 * i + 1].live,
		    a > b ? a : b};
	}
	h->timeline_used = LOG_TIMELINE_POINTS / 2;
	h->timeline_ticks *= 2;
}

void
hh_timeline_note(int64_t live)
{
	struct log_header *h = &hh_head->h;
	struct log_timeline_point *p = hh_head->timeline;
	uint64_t since = hh_ticks() - h->start.ticks;

	if (!h->timeline_ticks)
		h->timeline_ticks = h->ticks_per_s / 1000 + 1;
	while (since / h->timeline_ticks >= LOG_TIMELINE_POINTS)
		halve_timeline(h);
	for (uint64_t i = since / h->timeline_ticks; h->timeline_used <= i;) {
		uint32_t at = h->timeline_used++;
		int64_t before = at ? p[at - 1].live : 0;

		p[at] = (struct log_timeline_point){before, before};
	}
	p += h->timeline_used - 1;
	p->live = live;
	if (p->peak < live)
		p->peak = live;
}
