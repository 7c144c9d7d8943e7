/* SPDX-License-Identifier: Apache-2.0 */
#include "count.h"

#include "head.h"

enum {
	STEP_BYTES_AT_LEAST = 4096,
	STEP_BYTES_BESIDE = 256 * 1024,	/* where events tell all the rest:
					 * threads should not meet here */
	STEP_PART_SHIFT = 17,	/* of the peak: 64 threads are 0.05 % of it */
};

#define RELAXED __ATOMIC_RELAXED

static int64_t
add_live(struct log_header *h, int64_t change)
{
	if (hh_among_threads())
		return __atomic_add_fetch(&h->live, change, RELAXED);
	return h->live += change;
}

/* Whether there are no events that tell more than the counters. */
static bool
counts_alone(const struct log_header *h)
{
	return h->mode == LOG_SUMMARY || h->stop;
}

/* A maximum is raised, never assigned. */
static void
raise_peak(struct log_header *h, int64_t live)
{
	int64_t seen = __atomic_load_n(&h->peak, RELAXED);

	if (!hh_among_threads())
		h->peak = live;
	else
		while (seen < live
		    && !__atomic_compare_exchange_n(&h->peak, &seen, live,
		        true, RELAXED, RELAXED))
			;
	if (counts_alone(h))
		h->peak_ticks = hh_ticks();
}

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

/* Only where there are no events to tell it.  Threads that meet here may
 * lose a point's last value to each other, never its order. */
static void
note_timeline(struct log_header *h, int64_t live)
{
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

/* A new window round LIVE.  Alone, a thread need only tell what is more
 * than ever before; but where there are no events, the timeline wants to
 * know more. */
static void
set_window(struct hh_stream *s, struct log_header *h, int64_t live)
{
	uint64_t step = (uint64_t)h->peak >> STEP_PART_SHIFT;

	if (step < STEP_BYTES_AT_LEAST)
		step = STEP_BYTES_AT_LEAST;
	if (!counts_alone(h) && step < STEP_BYTES_BESIDE)
		step = STEP_BYTES_BESIDE;
	s->headroom = step;
	s->headroom_most = 2 * step;
	if (hh_among_threads()) {
		h->peak_error = h->slots * step;
	} else {
		uint64_t below_peak = (uint64_t)(h->peak - h->live);

		if (!counts_alone(h) || below_peak < step)
			s->headroom = below_peak;
		if (!counts_alone(h))
			s->headroom_most = INT64_MAX;
	}
	s->top = live + (int64_t)s->headroom;
}

void
hh_count_begin(struct hh_stream *s)
{
	hh_count_sync(s);
	set_window(s, &hh_head->h, s->chunk->counters.live);
}

void
hh_count_tell(struct hh_stream *s)
{
	struct log_header *h = &hh_head->h;
	struct log_counters *c = &s->chunk->counters;
	int64_t live;

	hh_count_sync(s);
	live = add_live(h, c->live - c->told);
	c->told = c->live;
	if (live > __atomic_load_n(&h->peak, RELAXED))
		raise_peak(h, live);
	if (counts_alone(h))
		note_timeline(h, live);
	set_window(s, h, c->live);
}

void
hh_count_others(uint64_t allocations, uint64_t frees, uint64_t failed,
    int64_t change)
{
	struct log_header *h = &hh_head->h;

	__atomic_fetch_add(&h->others.allocations, allocations, RELAXED);
	__atomic_fetch_add(&h->others.frees, frees, RELAXED);
	__atomic_fetch_add(&h->others.failed, failed, RELAXED);
	__atomic_fetch_add(&h->others.live, change, RELAXED);
	__atomic_fetch_add(&h->others.told, change, RELAXED);
	raise_peak(h, __atomic_add_fetch(&h->live, change, RELAXED));
}
