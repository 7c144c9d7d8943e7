/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <stdlib.h>

#include "room.h"

static uint64_t
time_of(const struct stream *s)
{
	return s->batch[s->at].ticks;
}

/* Ties go to the slot that was made first, unless another is at it. */
static bool
is_before(const struct stream *a, const struct stream *b)
{
	return time_of(a) < time_of(b) || (time_of(a) == time_of(b) && a < b);
}

static void
sink(struct merge *m, size_t i)
{
	struct stream *s = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < m->count
		    && is_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (child >= m->count || !is_before(m->heap[child], s))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = s;
}

static void
push(struct merge *m, struct stream *s)
{
	size_t i = m->count++;

	for (; i && is_before(s, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = s;
}

static void
drop_first(struct merge *m)
{
	m->heap[0] = m->heap[--m->count];
	m->limit = 0;
}

void
merge_open(struct merge *m, struct reader *log,
    const struct stream_place *cuts,
    void (*expect)(void *, const struct log_event *, unsigned), void *who)
{
	*m = (struct merge){
		.ticks_per_us = reader_ticks_per_s(log) / 1e6,
		.expect = expect, .who = who,
	};
	streams_open(&m->streams, log, cuts);
	m->heap = room_new(m->streams.count, sizeof *m->heap);
	for (size_t i = 0; i < m->streams.count; i++) {
		struct stream *s = m->streams.list + i;

		if (!stream_fill(s))
			continue;
		expect(who, s->batch, s->filled);
		push(m, s);
	}
}

void
merge_close(struct merge *m)
{
	streams_close(&m->streams);
	free(m->heap);
}

void
merge_refill(struct merge *m)
{
	struct stream *s = m->heap[0];

	if (stream_fill(s))
		m->expect(m->who, s->batch, s->filled);
	else
		drop_first(m);
}

/* Back into the heap, whose first has its place again. */
static void
unpark(struct merge *m, struct merge_parked *p)
{
	push(m, p->stream);
	*p = m->parked[--m->parked_count];
	m->limit = 0;
}

void
merge_wake(struct merge *m, uint64_t address)
{
	bool settled = false;

	for (unsigned i = m->parked_count; i-- > 0; ) {
		if (!address || m->parked[i].address != address)
			continue;
		if (!settled && m->count)
			sink(m, 0);
		settled = true;
		unpark(m, m->parked + i);
	}
}

bool
merge_park(struct merge *m, uint64_t address, unsigned us)
{
	struct stream *s = m->heap[0];
	uint64_t ticks = time_of(s);
	uint64_t patience = (uint64_t)(us * m->ticks_per_us) + 1;

	if (m->count + m->parked_count == 1 || m->parked_count == MERGE_PARKED)
		return false;
	m->parked[m->parked_count++] = (struct merge_parked){
		.stream = s, .address = address,
		.deadline = ticks + patience < ticks ? UINT64_MAX
		    : ticks + patience,
	};
	drop_first(m);
	return true;
}

static struct merge_parked *
first_deadline(struct merge *m)
{
	struct merge_parked *first = NULL;

	for (unsigned i = 0; i < m->parked_count; i++)
		if (!first || m->parked[i].deadline < first->deadline)
			first = m->parked + i;
	return first;
}

const struct log_event *
merge_choose(struct merge *m)
{
	struct merge_parked *parked = first_deadline(m);
	uint64_t limit = parked ? parked->deadline : UINT64_MAX;

	if (!m->count && !parked)
		return NULL;
	if (m->count)
		sink(m, 0);
	m->forced = parked && (!m->count || time_of(m->heap[0]) > limit);
	if (m->forced) {
		/* Older than all others, so it becomes the first; limit is
		 * left at 0, for the next event is not forced. */
		unpark(m, parked);
		return m->heap[0]->batch + m->heap[0]->at;
	}
	for (size_t i = 1; i <= 2 && i < m->count; i++)
		if (time_of(m->heap[i]) < limit)
			limit = time_of(m->heap[i]);
	m->limit = limit == UINT64_MAX ? limit : limit + 1;
	return m->heap[0]->batch + m->heap[0]->at;
}
