/* SPDX-License-Identifier: Apache-2.0 */
#include "count.h"

#include "../interpose/head.h"
#include "../interpose/timeline.h"

enum {
	STEP_BYTES_AT_LEAST = 4096,
	STEP_BYTES_BESIDE = 256 * 1024,	/* where events tell all the rest:
					 * threads should not meet here */
	STEP_BYTES_SAMPLED = 16384,	/* where most of what is done is this */
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
	return h->mode == LOG_SUMMARY || h->stop || h->sample_bytes;
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

/* A new window round LIVE.  Alone, a thread need only tell what is more
 * than ever before; but where there are no events, the timeline wants to
 * know more. */
static void
set_window(struct hh_stream *s, struct log_header *h, int64_t live)
{
	uint64_t step = (uint64_t)h->peak >> STEP_PART_SHIFT;

	if (step < STEP_BYTES_AT_LEAST)
		step = STEP_BYTES_AT_LEAST;
	if (h->sample_bytes && step < STEP_BYTES_SAMPLED)
		step = STEP_BYTES_SAMPLED;
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

	if (s->left)
		return;
	hh_count_sync(s);
	live = add_live(h, c->live - c->told);
	c->told = c->live;
	if (live > __atomic_load_n(&h->peak, RELAXED))
		raise_peak(h, live);
	if (counts_alone(h))
		hh_timeline_note(live);
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
