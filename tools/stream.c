/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"
#include "room.h"
#include "took.h"

enum { WINDOW_BYTES = 16384 };

static const struct stream_place NO_LIMIT = { UINT64_MAX, UINT32_MAX };

static struct reader_slot *
slot_of(const struct streams *s, const struct stream_lane *l)
{
	return s->log->slots + l->slot;
}

/* What is wrong in handlers' slots was said when their places were read. */
static struct problems *
problems_of(const struct streams *s, const struct stream_lane *l)
{
	return l->guest ? NULL : &s->log->problems;
}

static void
move_window(struct streams *s, struct stream_lane *l, uint32_t offset)
{
	uint32_t left = offset < l->room ? l->room - offset : 0;

	if (l->chunk->kept) {
		l->window = l->chunk->kept;
		l->window_at = 0;
		l->window_bytes = offset + left;
	} else {
		uint32_t want = left < l->buffer_bytes ? left : l->buffer_bytes;

		l->window = l->buffer;
		l->window_at = offset;
		l->window_bytes = (uint32_t)reader_read(s->log,
		    l->chunk->at + offset, l->buffer, want);
		if (l->window_bytes < want)
			l->room = offset + l->window_bytes;
	}
	l->at.at = l->window + (offset - l->window_at);
	l->at.end = l->window + l->window_bytes;
}

static void
enter_chunk(struct streams *s, struct stream_lane *l,
    const struct reader_chunk *c, uint64_t ticks)
{
	uint32_t want = c->bytes < WINDOW_BYTES ? c->bytes : WINDOW_BYTES;

	if (!c->kept && l->buffer_bytes < want) {
		l->buffer = room_grow(l->buffer, want, 1);
		l->buffer_bytes = want;
	}
	l->chunk = l->last = c;
	l->seq = c->seq;
	l->at = (struct log_reader){
		.ticks = ticks,
		.usable_rule = s->log->head.h.usable_rule,
		.sizes = log_size_bits(s->log->head.h.version),
	};
	lane_set_end(l);
}

static bool
has_equal(const struct streams *s, const struct stream_lane *l)
{
	const struct reader_chunk *next = s->log->chunks + l->next;

	return l->next < slot_of(s, l)->end && next->seq == next[-1].seq;
}

/* Begin the lane's next good chunk; its head goes to *HEAD. */
static bool
next_chunk(struct streams *s, struct stream_lane *l, struct log_chunk *head)
{
	const struct reader_slot *slot = slot_of(s, l);
	struct problems *p = problems_of(s, l);

	while (l->next < slot->end) {
		const struct reader_chunk *c = s->log->chunks + l->next;

		if (c->seq > l->limit.seq || (l->guest && c->seq > l->seq + 1))
			return false;
		l->next++;
		if (c->seq == l->seq)
			continue;
		s->log->done += c->bytes;
		if (!reader_check(s->log, c, head)) {
			if (has_equal(s, l))
				continue;
			reader_say_missing(p, c->slot, l->seq + 1, c->seq - 1);
			reader_say_damaged(p, c, "is damaged and left out");
			l->seq = c->seq;
			continue;
		}
		reader_say_missing(p, c->slot, l->seq + 1, c->seq - 1);
		if (c->cut)
			reader_say_damaged(p, c,
			    "is cut by the end of the log");
		else if (!c->whole && l->next < slot->end && !has_equal(s, l))
			reader_say_damaged(p, c, "is not whole");
		enter_chunk(s, l, c, head->base_ticks);
		move_window(s, l, sizeof *head);
		return true;
	}
	return false;
}

/* Have at least one more event of the chunk in the window. */
static void
refill(struct streams *s, struct stream_lane *l)
{
	if (l->at.end - l->at.at < LOG_LONG_MAX
	    && l->window_at + l->window_bytes < l->room)
		move_window(s, l, lane_offset(l));
}

/* Up to where events can be taken without a look at anything else. */
static const unsigned char *
stop_of(const struct streams *s, const struct stream_lane *l)
{
	const unsigned char *stop = l->at.end;
	const struct stream_place *splice;

	if (l->window_at + l->window_bytes < l->room)
		stop -= LOG_LONG_MAX - 1;
	if (l->end < l->window_at + (stop - l->window))
		stop = l->window + (l->end < l->window_at ? 0
		    : l->end - l->window_at);
	if (l->splice == l->splice_end)
		return stop;
	splice = &s->splices[l->splice].where;
	if (splice->seq == l->seq
	    && splice->offset < l->window_at + (stop - l->window))
		stop = l->window + (splice->offset - l->window_at);
	return stop;
}

/* Long forms that matter to this file.  True: the event is for others. */
static bool
take_long(struct stream *s, const struct log_event *e)
{
	switch (e->kind) {
	case LOG_X_TIME:
	case LOG_X_NESTED:
	case LOG_X_INHERIT:
		return false;
	case LOG_X_TOOK:
		took_give(s->whole, (unsigned)(s->end - s->whole), e);
		return false;
	case LOG_X_THREAD:
		if (s->depth)
			return false;
		s->tid = e->tid;
		s->self = e->self;
		memset(s->name, 0, sizeof s->name);
		memcpy(s->name, e->text, e->text_bytes < sizeof s->name
		    ? e->text_bytes : sizeof s->name);
		return true;
	default:
		return e->kind < LOG_X_KINDS;
	}
}

static inline void
stamp(struct stream *s, struct log_event *e, uint32_t slot)
{
	if (s->time < e->ticks)
		s->time = e->ticks;
	e->ticks = s->time;
	e->slot = slot;
}

/* Events up to STOP.  False: they end before it. */
static bool
decode(struct stream *s, struct stream_lane *l, const unsigned char *stop)
{
	while (s->end < s->batch + STREAM_BATCH && l->at.at < stop) {
		struct log_event *e = s->end;
		bool is_long = !(*l->at.at & 3);
		int got;

		if (is_long && l->guest && *l->at.at == LOG_X_NESTED) {
			l->limit = lane_place(l);
			return false;
		}
		got = log_get(&l->at, e);
		if (got < 0) {
			reader_say_damaged(problems_of(s->all, l), l->chunk,
			    "cannot be understood to its end");
			s->whole = e;
		}
		if (got <= 0)
			return false;
		stamp(s, e, l->slot);
		s->end += !is_long || take_long(s, e);
	}
	return true;
}

/* Handlers' events belong to the thread that they interrupted. */
static void
introduce(struct stream *s, uint32_t slot, uint64_t ticks)
{
	struct log_event *e = s->end++;

	*e = (struct log_event){
		.kind = LOG_X_THREAD, .ticks = ticks,
		.tid = s->tid, .self = s->self,
		.text = s->name, .text_bytes = sizeof s->name,
	};
	stamp(s, e, slot);
}

/* The first splice in HOST that is not before WHERE. */
static size_t
first_splice(const struct streams *s, uint32_t host, struct stream_place where)
{
	size_t low = 0, high = s->splice_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct stream_splice *m = s->splices + middle;

		if (m->host < host
		    || (m->host == host && stream_is_before(m->where, where)))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
begin_lane(struct streams *s, struct stream_lane *l, uint32_t slot,
    struct stream_place from)
{
	l->slot = slot;
	l->next = s->log->slots[slot].first;
	l->seq = 0;
	l->chunk = NULL;
	l->limit = s->cuts ? s->cuts[slot] : NO_LIMIT;
	l->splice = first_splice(s, slot, from);
	l->splice_end = first_splice(s, slot + 1, (struct stream_place){ 0 });
}

static bool
splice_is_due(const struct streams *s, const struct stream_lane *l,
    struct stream_place at)
{
	return l->splice < l->splice_end
	    && !stream_is_before(at, s->splices[l->splice].where);
}

static void
enter_guest(struct stream *s, struct stream_splice *splice)
{
	struct stream_lane *l = s->lanes + s->depth + 1;
	struct streams *all = s->all;
	const struct reader_chunk *chunk = all->log->chunks + splice->chunk;

	if (splice->used)
		return;
	splice->used = true;
	if (s->depth + 1 == STREAM_DEPTH) {
		problems_loss(&all->log->problems, "signal handlers interrupt "
		    "each other too deeply: the innermost are left out");
		return;
	}
	s->depth++;
	l->guest = true;
	begin_lane(all, l, splice->slot,
	    (struct stream_place){ chunk->seq, splice->offset });
	if (chunk->seq > l->limit.seq)
		return;
	l->next = splice->chunk + 1;
	enter_chunk(all, l, chunk, splice->ticks);
	move_window(all, l, splice->offset);
	l->at.last = splice->last;
	l->at.size = splice->size;
	introduce(s, l->slot, splice->ticks);
}

static bool
next_host_chunk(struct stream *s, struct stream_lane *l)
{
	struct log_chunk head;
	uint64_t before = l->seq;

	if (!next_chunk(s->all, l, &head))
		return false;
	if (l->seq != before + 1)
		s->whole = s->end;
	if (l->guest)
		return true;
	s->tid = head.tid;
	s->self = head.self;
	memcpy(s->name, head.name, sizeof s->name);
	introduce(s, l->slot, head.base_ticks);
	return true;
}

/* Do one thing.  False: the stream is at its end. */
static bool
step(struct stream *s)
{
	struct stream_lane *l = s->lanes + s->depth;
	struct stream_splice *splices = s->all->splices;

	if (l->chunk && splice_is_due(s->all, l, lane_place(l))) {
		enter_guest(s, splices + l->splice++);
		return true;
	}
	if (l->chunk) {
		refill(s->all, l);
		if (!decode(s, l, stop_of(s->all, l))
		    || lane_is_at_end(l))
			l->chunk = NULL;
		return true;
	}
	if (next_host_chunk(s, l))
		return true;
	if (splice_is_due(s->all, l, l->limit)) {
		enter_guest(s, splices + l->splice++);
		return true;
	}
	if (!s->depth)
		return false;
	s->depth--;
	return true;
}

/* What is first may still await its LOG_X_TOOK, if the log has such. */
static bool
is_short(const struct stream *s)
{
	return s->end == s->batch || (s->all->log->head.h.took_units
	    && s->end < s->batch + STREAM_BATCH / 2 && took_awaits(s->batch));
}

/* What is last is held back then. */
static void
hold(struct stream *s)
{
	const struct log_event *last = s->end - 1;

	if (!s->all->log->head.h.took_units || !took_awaits(last))
		return;
	s->held = *last;
	s->end--;
}

bool
stream_fill(struct stream *s)
{
	s->next = s->end = s->whole = s->batch;
	if (s->held.kind)
		*s->end++ = s->held;
	s->held.kind = LOG_END;
	while (is_short(s) && step(s))
		;
	if (s->end > s->batch + 1)
		hold(s);
	s->end->ticks = UINT64_MAX;
	return s->end > s->batch;
}

/* One event after the other, without a batch.  False: the lane is over. */
static bool
next_event(struct streams *s, struct stream_lane *l, struct log_event *e)
{
	struct log_chunk head;

	for (;;) {
		int got = 0;

		if (!l->chunk && !next_chunk(s, l, &head))
			return false;
		refill(s, l);
		if (!lane_is_at_end(l))
			got = log_get(&l->at, e);
		if (got > 0)
			return true;
		if (got < 0)
			reader_say_damaged(problems_of(s, l), l->chunk,
			    "cannot be understood to its end");
		l->chunk = NULL;
	}
}

static void
add_splice(struct streams *s, const struct stream_lane *l,
    const struct log_event *e)
{
	size_t host = reader_find_slot(s->log, e->slot);

	if (host == s->log->slot_count) {
		problems_loss(&s->log->problems, "slot %" PRIu32 ", which "
		    "signal handlers interrupted, is missing", e->slot);
		return;
	}
	if (s->splice_count == s->splice_room) {
		s->splice_room = s->splice_room ? 2 * s->splice_room : 64;
		s->splices = room_grow(s->splices, s->splice_room,
		    sizeof *s->splices);
	}
	s->splices[s->splice_count++] = (struct stream_splice){
		.host = (uint32_t)host, .slot = l->slot,
		.where = { e->seq, e->offset },
		.last = l->at.last, .size = l->at.size, .ticks = e->ticks,
		.chunk = (size_t)(l->chunk - s->log->chunks),
		.offset = lane_offset(l),
	};
}

static int
by_place(const void *a, const void *b)
{
	const struct stream_splice *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (stream_is_before(x->where, y->where))
		return -1;
	if (stream_is_before(y->where, x->where))
		return 1;
	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void
find_splices(struct streams *s)
{
	struct stream_lane l = { 0 };
	struct log_event e;

	for (uint32_t i = 0; i < s->log->slot_count; i++) {
		if (!s->log->slots[i].nested)
			continue;
		begin_lane(s, &l, i, (struct stream_place){ 0 });
		while (next_event(s, &l, &e))
			if (e.kind == LOG_X_NESTED)
				add_splice(s, &l, &e);
	}
	free(l.buffer);
	if (s->splice_count)
		qsort(s->splices, s->splice_count, sizeof *s->splices,
		    by_place);
}

void
streams_open(struct streams *s, struct reader *log,
    const struct stream_place *cuts)
{
	*s = (struct streams){ .log = log, .cuts = cuts };
	find_splices(s);
	log->done = 0;
	s->list = room_new(log->slot_count, sizeof *s->list);
	for (uint32_t i = 0; i < log->slot_count; i++) {
		struct stream *stream = s->list + s->count;

		if (log->slots[i].nested)
			continue;
		s->count++;
		stream->all = s;
		begin_lane(s, stream->lanes, i, (struct stream_place){ 0 });
	}
}

void
streams_go_on(struct streams *s, const struct stream_place *cuts)
{
	s->cuts = cuts;
	for (size_t i = 0; i < s->count; i++) {
		struct stream_lane *l = s->list[i].lanes;
		bool within = l->last && l->last->seq == l->limit.seq;

		l->limit = cuts[l->slot];
		if (!within)
			continue;
		l->chunk = l->last;
		lane_set_end(l);
	}
}

void
streams_close(struct streams *s)
{
	for (size_t i = 0; i < s->count; i++)
		for (int j = 0; j < STREAM_DEPTH; j++)
			free(s->list[i].lanes[j].buffer);
	free(s->list);
	free(s->splices);
}

struct stream_place *
stream_inherited(struct reader *log, const struct reader *from)
{
	struct streams s = { .log = log };
	struct stream_place *places = room_new(from->slot_count,
	    sizeof *places);
	struct stream_lane l = { .guest = true };
	struct log_event e;

	for (uint32_t i = 0; i < log->slot_count; i++) {
		begin_lane(&s, &l, i, (struct stream_place){ 0 });
		while (next_event(&s, &l, &e) && (e.kind == LOG_X_INHERIT
		    || e.kind == LOG_X_THREAD || e.kind == LOG_X_TIME)) {
			size_t slot = e.kind == LOG_X_INHERIT
			    ? reader_find_slot(from, e.slot)
			    : from->slot_count;

			if (slot < from->slot_count)
				places[slot] = (struct stream_place){
				    e.seq, e.offset };
		}
	}
	free(l.buffer);
	return places;
}
