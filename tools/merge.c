/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <stdlib.h>

#include "room.h"

enum {
	JITTER_US = 5,		/* that any clocks may have */
	LITTLE_US = 50,		/* of which nothing is lost by sharing */
};

static uint64_t
time_of(const struct stream *s)
{
	return s->next->ticks + s->shift;
}

/* Ties go to the slot that was made first, unless another is at it. */
static bool
is_before(const struct stream *a, const struct stream *b)
{
	return time_of(a) < time_of(b) || (time_of(a) == time_of(b) && a < b);
}

__attribute__((always_inline)) static inline void
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

static void
fill_all(struct merge *m)
{
	for (size_t i = 0; i < m->streams.count; i++) {
		struct stream *s = m->streams.list + i;

		if (!stream_fill(s))
			continue;
		m->expect(m->who, s->next, (unsigned)(s->end - s->next));
		push(m, s);
	}
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
	m->slip = merge_ticks(m, JITTER_US);
	/* After a pause it is no wonder if a block is unknown. */
	if (!(log->head.h.flags & LOG_FLAG_PAUSED))
		m->patience = merge_ticks(m, MERGE_WRONG_US);
	streams_open(&m->streams, log, cuts);
	m->heap = room_new(m->streams.count, sizeof *m->heap);
	fill_all(m);
}

void
merge_go_on(struct merge *m, const struct stream_place *cuts)
{
	streams_go_on(&m->streams, cuts);
	fill_all(m);
}

void
merge_close(struct merge *m)
{
	streams_close(&m->streams);
	free(m->heap);
}

/* More of the first stream, all of whose batch is taken. */
static void
refill(struct merge *m)
{
	struct stream *s = m->heap[0];

	if (stream_fill(s))
		m->expect(m->who, s->next, (unsigned)(s->end - s->next));
	else
		drop_first(m);
}

/* Back into the heap. */
static void
unpark(struct merge *m, struct merge_parked *p)
{
	push(m, p->stream);
	*p = m->parked[--m->parked_count];
	m->limit = 0;
}

/* Where clocks go to and fro there is no end to it: all begin anew. */
static void
forget_shifts(struct merge *m)
{
	for (size_t i = 0; i < m->streams.count; i++)
		m->streams.list[i].shift = 0;
}

static void
note_slip(struct merge *m, uint64_t slip)
{
	uint64_t most = merge_ticks(m, MERGE_WRONG_US);

	if (m->slip < slip) {
		m->slip = slip;
		m->doubt = true;
	}
	if (m->patience < 2 * m->slip)
		m->patience = 2 * m->slip < most ? 2 * m->slip : most;
}

/* The first stream waited, and what it waited for has come: its clock is
 * behind, or the waker's ahead, by that much at least.  A little is shared,
 * so that clocks which go to and fro carry nobody away. */
static void
learn(struct merge *m)
{
	struct stream *s = m->heap[0];
	uint64_t most = merge_ticks(m, MERGE_WRONG_US), share = 0;
	uint64_t behind = s->woken - time_of(s);

	if (s->woken > time_of(s)) {
		note_slip(m, behind);
		if (behind <= merge_ticks(m, LITTLE_US))
			share = behind / 2;
		s->shift += behind - share;
		s->waker->shift -= share;
		if ((int64_t)s->shift > (int64_t)most)
			forget_shifts(m);
		m->mixed = true;
		m->limit = 0;
	}
	s->woken = 0;
}

static void
wake(struct merge *m, uint64_t address)
{
	for (unsigned i = m->parked_count; i-- > 0; ) {
		struct stream *s = m->parked[i].stream;

		if (!address || m->parked[i].address != address)
			continue;
		s->woken = m->last_time;
		s->waker = m->last;
		m->mixed = true;
		unpark(m, m->parked + i);
	}
}

void
merge_note(struct merge *m, uint64_t address, uint64_t other)
{
	struct stream *s = m->heap[0];

	m->last = s;
	m->last_time = merge_time(m);
	if (s->woken)
		learn(m);
	if (++s->next == s->end)
		refill(m);
	wake(m, address);
	wake(m, other);
}

bool
merge_park(struct merge *m, uint64_t address, unsigned us)
{
	uint64_t patience = merge_ticks(m, us);

	if (m->count + m->parked_count == 1 || m->parked_count == MERGE_PARKED)
		return false;
	m->heap[0]->woken = 0;
	m->parked[m->parked_count++] = (struct merge_parked){
		.stream = m->heap[0], .address = address,
		.patience = patience > m->patience ? patience : m->patience,
	};
	drop_first(m);
	return true;
}

static uint64_t
deadline(const struct merge_parked *p)
{
	uint64_t from = time_of(p->stream), to = from + p->patience;

	return to < from ? UINT64_MAX : to;
}

static struct merge_parked *
first_deadline(struct merge *m)
{
	struct merge_parked *first = NULL;

	for (unsigned i = 0; i < m->parked_count; i++)
		if (!first || deadline(m->parked + i) < deadline(first))
			first = m->parked + i;
	return first;
}

static bool
will_touch(const struct stream *s, uint64_t address)
{
	for (const struct log_event *e = s->next + 1; e < s->end; e++)
		if (e->address == address)
			return true;
	return false;
}

static bool
others_will(const struct merge *m, const struct merge_parked *p)
{
	for (unsigned i = 0; i < m->parked_count; i++)
		if (m->parked + i != p
		    && will_touch(m->parked[i].stream, p->address))
			return true;
	return false;
}

/* All wait: who waits for itself or, as far as can be seen, for nothing must
 * go on; else, FIRST. */
static struct merge_parked *
stuck(struct merge *m, struct merge_parked *first)
{
	for (unsigned i = 0; i < m->parked_count; i++)
		if (will_touch(m->parked[i].stream, m->parked[i].address))
			return m->parked + i;
	if (!others_will(m, first))
		return first;
	for (unsigned i = 0; i < m->parked_count; i++)
		if (!others_will(m, m->parked + i))
			return m->parked + i;
	return first;
}

/* The first may have gone on, and others have been moved. */
static void
settle(struct merge *m)
{
	for (size_t i = m->mixed ? m->count : m->count != 0; i-- > 0; )
		sink(m, i);
	m->mixed = false;
}

/* The first stream stays so until LIMIT, or until another would be. */
static inline const struct log_event *
give_first(struct merge *m, uint64_t limit)
{
	for (size_t i = 1; i <= 2 && i < m->count; i++)
		if (time_of(m->heap[i]) < limit)
			limit = time_of(m->heap[i]);
	m->limit = limit == UINT64_MAX ? limit
	    : limit + 1 - m->heap[0]->shift;
	m->forced = false;
	return m->heap[0]->next;
}

/* Where streams wait, or are none. */
static const struct log_event *
choose_or_force(struct merge *m)
{
	struct merge_parked *parked = first_deadline(m);
	uint64_t limit = parked ? deadline(parked) : UINT64_MAX;

	if (!m->count && !parked)
		return NULL;
	settle(m);
	if (!m->count) {
		parked = stuck(m, parked);
		m->doubt = true;
	}
	if (!parked || (m->count && time_of(m->heap[0]) <= limit))
		return give_first(m, limit);
	/* Older than all others, so it becomes the first; limit is left at
	 * 0, for the next event is not forced. */
	m->forced = true;
	if (m->count && m->patience / 4 > m->slip)
		m->patience /= 2;
	unpark(m, parked);
	return m->heap[0]->next;
}

const struct log_event *
merge_choose(struct merge *m)
{
	if (m->count && m->heap[0]->next == m->heap[0]->end) {
		refill(m);
		return merge_next(m);
	}
	if (m->parked_count || m->mixed || !m->count)
		return choose_or_force(m);
	sink(m, 0);
	return give_first(m, UINT64_MAX);
}
