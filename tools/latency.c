/* SPDX-License-Identifier: Apache-2.0 */
#include "latency.h"

#include <math.h>
#include <string.h>

#include "calls.h"
#include "room.h"

static unsigned
bucket_of(uint64_t took)
{
	unsigned shift;

	if (took < LATENCY_STEPS)
		return (unsigned)took;
	shift = 63 - LATENCY_STEPS_LOG2 - (unsigned)__builtin_clzll(took);
	return (shift << LATENCY_STEPS_LOG2) + (unsigned)(took >> shift);
}

/* The most that its bucket holds. */
static uint64_t
end_of(unsigned bucket)
{
	unsigned shift;
	uint64_t first;

	if (bucket < 2 * LATENCY_STEPS)
		return bucket;
	shift = (bucket >> LATENCY_STEPS_LOG2) - 1;
	first = bucket % LATENCY_STEPS + LATENCY_STEPS;
	return (first << shift) + ((UINT64_C(1) << shift) - 1);
}

void
latency_count(struct latency_histogram *h, uint64_t took)
{
	h->count++;
	h->total += (double)took;
	if (h->most < took)
		h->most = took;
	h->buckets[bucket_of(took)]++;
}

uint64_t
latency_quantile(const struct latency_histogram *h, double part)
{
	double wanted = ceil(part * (double)h->count);
	uint64_t sum = 0, end;
	unsigned i = 0;

	for (; i + 1 < LATENCY_BUCKETS; i++) {
		sum += h->buckets[i];
		if (sum && (double)sum >= wanted)
			break;
	}
	end = end_of(i);
	return end < h->most ? end : h->most;
}

/* What came, or what went; of a call that failed only what was asked for. */
static struct latency_slow
slow_of(const struct replay_step *s)
{
	const struct log_event *e = s->event;
	const struct block *block = s->come ? s->come : s->gone;

	return (struct latency_slow){
		.took = e->took, .ticks = s->ticks, .call = e->call,
		.thread = s->thread, .site = block ? block->site : 0,
		.bytes = {
			block || e->kind == LOG_X_FAILED,
			block ? block->requested : e->size,
		},
	};
}

/* Of equal ones the earlier is first. */
static void
note_slow(struct latency *l, const struct replay_step *s)
{
	size_t at = l->slow_count;

	if (at == LATENCY_SLOWEST) {
		if (l->slowest[--at].took >= s->event->took)
			return;
	} else {
		l->slow_count++;
	}
	for (; at && l->slowest[at - 1].took < s->event->took; at--)
		l->slowest[at] = l->slowest[at - 1];
	l->slowest[at] = slow_of(s);
}

void
latency_add(struct latency *l, const struct replay_step *step)
{
	const struct log_event *e = step->event;
	bool lost = step->gone && !step->freed;

	if (!e->took || lost || (int)e->call >= LATENCY_KINDS)
		return;
	latency_count(l->kinds + e->call, e->took);
	note_slow(l, step);
}

double
latency_ns(const struct reader *log)
{
	double units = log->head.h.took_units;

	return units > 0 ? 1e9 / (reader_ticks_per_s(log) * units) : 0;
}

static struct profile_latency
summary_of(const struct latency_histogram *h, const char *call, double ns)
{
	return (struct profile_latency){
		.call = call, .count = h->count, .total_ns = h->total * ns,
		.mean_ns = h->total / (double)h->count * ns,
		.p50_ns = (double)latency_quantile(h, 0.5) * ns,
		.p90_ns = (double)latency_quantile(h, 0.9) * ns,
		.p99_ns = (double)latency_quantile(h, 0.99) * ns,
		.p99_9_ns = (double)latency_quantile(h, 0.999) * ns,
		.max_ns = (double)h->most * ns,
	};
}

static void
give_slow(struct profile_slow *to, const struct latency_slow *s,
    const struct profile *p, const struct reader *log,
    const struct threads *threads, double ns)
{
	*to = (struct profile_slow){
		.call = calls_names[s->call], .bytes = s->bytes,
		.s = reader_seconds(log, s->ticks),
		.ns = (double)s->took * ns,
		.frame = s->site < p->site_frame_count
		    ? p->site_frames[s->site] : 0,
	};
	if (s->thread == REPLAY_NO_THREAD)
		return;
	to->tid = (struct profile_number){
		true, (uint64_t)threads->list[s->thread].tid,
	};
	memcpy(to->name, threads->list[s->thread].name, sizeof to->name);
}

void
latency_give(struct profile *p, const struct latency *l,
    const struct reader *log, const struct threads *threads)
{
	double ns = latency_ns(log);

	p->has_latency = true;
	p->clock_ns = log->head.h.took_least * ns;
	p->latency = room_new(LATENCY_KINDS, sizeof *p->latency);
	for (unsigned i = 0; i < LATENCY_KINDS; i++)
		if (l->kinds[i].count)
			p->latency[p->latency_count++] = summary_of(
			    l->kinds + i, calls_names[i], ns);
	p->slowest = room_new(l->slow_count, sizeof *p->slowest);
	for (; p->slow_count < l->slow_count; p->slow_count++)
		give_slow(p->slowest + p->slow_count,
		    l->slowest + p->slow_count, p, log, threads, ns);
}
