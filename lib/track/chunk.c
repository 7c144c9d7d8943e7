/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "chunk.h"

#include <pthread.h>
#include <string.h>

#include "../interpose/sys.h"
#include "count.h"
#include "file.h"
#include "../interpose/head.h"

enum {
	NAME_EVERY = 16,		/* chunks */
	WORTH_TRIMMING = LOG_MIDDLE_SLOT_BYTES,	/* for it takes its time */
	TABLE_SLOTS = LOG_FIRST_SLOT_BYTES / (int)sizeof(struct log_chunk),
};

static _Atomic uint32_t numbers;	/* of slots, given away in this log */

/* Names change seldom, and to ask costs more than most of a chunk does. */
static void
describe_owner(struct log_chunk *chunk, struct hh_stream *s)
{
	chunk->tid = atomic_load(&s->owner);
	chunk->self = (uint64_t)pthread_self();
	if ((s->unnamed || s->seq % NAME_EVERY == 0) && !hh_file_sealed())
		hh_sys_thread_name(chunk->name);
	s->unnamed = false;
}

static struct log_trailer *
trailer_of(struct log_chunk *chunk)
{
	return (struct log_trailer *)((char *)chunk + chunk->bytes) - 1;
}

/* From here on the stream writes into CHUNK, as number SEQ of its slot. */
static void
begin_chunk(struct hh_stream *s, struct log_chunk *chunk, uint64_t seq)
{
	describe_owner(chunk, s);
	chunk->flags = s->nested ? LOG_CHUNK_NESTED : 0;
	chunk->base_ticks = s->w.ticks;
	chunk->events[0] = LOG_END;
	chunk->seq = seq;
	atomic_thread_fence(memory_order_release);
	chunk->magic = LOG_CHUNK_MAGIC;

	s->w.at = chunk->events;
	s->w.last = s->w.size = 0;
	s->seq = seq;
	s->chunk = chunk;
	s->end = (unsigned char *)trailer_of(chunk);
	atomic_signal_fence(memory_order_seq_cst);
	s->turning_to = 0;
}

/* The space of the first slot came with the header. */
static struct log_chunk *
first_chunk(void)
{
	return (struct log_chunk *)(hh_head + 1);
}

static struct log_chunk *
summary_slot(uint32_t number)
{
	struct log_chunk *table = first_chunk();
	struct log_chunk *chunk = number < TABLE_SLOTS
	    ? (struct log_chunk *)((char *)table + number * sizeof *table)
	    : NULL;

	if (chunk) {
		chunk->bytes = sizeof *chunk;
		chunk->slot = number;
		chunk->seq = 1;
		chunk->magic = LOG_CHUNK_MAGIC;
	}
	return chunk;
}

/* Where pages are larger a small slot is one page. */
static size_t
small_bytes(void)
{
	return hh_head->h.page_size > LOG_SMALL_SLOT_BYTES
	    ? hh_head->h.page_size : LOG_SMALL_SLOT_BYTES;
}

static struct log_chunk *
events_slot(uint32_t number)
{
	struct log_chunk *chunk = first_chunk();

	if (number)
		return hh_file_slot(small_bytes(), number);
	chunk->bytes = LOG_FIRST_SLOT_BYTES;
	return chunk;
}

void
hh_chunk_give_slot(struct hh_stream *s)
{
	s->number = atomic_fetch_add(&numbers, 1);
	if (hh_head->h.mode == LOG_SUMMARY) {
		s->chunk = summary_slot(s->number);
		if (s->chunk)
			describe_owner(s->chunk, s);
	} else {
		s->chunk = events_slot(s->number);
		if (s->chunk)
			begin_chunk(s, s->chunk, 1);
	}
	/* Only now: who is killed before has no slot that could be missed. */
	__atomic_fetch_add(&hh_head->h.slots, 1, __ATOMIC_RELEASE);
}

/* The slot goes on with another thread's events. */
void
hh_chunk_change_thread(struct hh_stream *s)
{
	struct log_long l;
	uint64_t dt = hh_stream_since(s);
	char name[LOG_NAME_BYTES] = "";

	if (!s->end || (size_t)(s->end - s->w.at) < sizeof l.bytes)
		return;
	if (!hh_file_sealed())
		hh_sys_thread_name(name);
	log_long_begin(&l, LOG_X_THREAD, dt);
	log_long_uint(&l, (uint64_t)atomic_load(&s->owner));
	log_long_uint(&l, (uint64_t)pthread_self());
	log_long_text(&l, name, strlen(name));
	log_put_long(&s->w, &l, dt);
}

/* The whole chunk, with its sum. */
static void
close_chunk(struct hh_stream *s)
{
	struct log_trailer *t = trailer_of(s->chunk);

	t->sum = log_sum(s->chunk, s->chunk->bytes);
	atomic_thread_fence(memory_order_release);
	t->seq = s->seq;
}

/* Its events have ended, but its counters go on: no sum of it would hold. */
static void
end_events(struct hh_stream *s)
{
	struct log_trailer *t = trailer_of(s->chunk);

	t->seq = 0;
	t->sum = 0;	/* also the zero byte that ends the events */
	hh_count_tell(s);
}

bool
hh_chunk_is_in_head(const struct log_chunk *chunk)
{
	return (size_t)((const char *)chunk - (const char *)first_chunk())
	    < LOG_FIRST_SLOT_BYTES;
}

void
hh_chunk_unmap(struct log_chunk *chunk)
{
	if (!hh_chunk_is_in_head(chunk))
		hh_sys_unmap(chunk, chunk->bytes);
}

/* The full slot stays where it is, and S goes on in a larger one. */
static bool
leave_slot(struct hh_stream *s)
{
	struct log_chunk *old = s->chunk;
	size_t bytes = old->bytes < LOG_MIDDLE_SLOT_BYTES
	    ? LOG_MIDDLE_SLOT_BYTES : LOG_SLOT_BYTES;
	struct log_chunk *chunk = hh_file_slot(bytes, s->number);

	if (!chunk || s->left)
		return false;
	chunk->counters = old->counters;
	memcpy(chunk->name, old->name, sizeof chunk->name);
	begin_chunk(s, chunk, s->seq + 1);
	if (!hh_file_sealed())
		hh_chunk_unmap(old);
	return true;
}

/* The full slot is appended and used again. */
static bool
append_slot(struct hh_stream *s)
{
	if (!hh_file_append(s->chunk) || s->left)
		return false;
	hh_head_touch();
	begin_chunk(s, s->chunk, s->seq + 1);
	return true;
}

void
hh_chunk_next(struct hh_stream *s)
{
	bool leaves = hh_file_sealed() || s->chunk->bytes < LOG_SLOT_BYTES;
	bool turns;

	s->end = NULL;
	s->turning_to = s->seq + 1;
	close_chunk(s);
	turns = !s->left && (leaves ? leave_slot(s) : append_slot(s));
	/* A handler may have forked meanwhile: the parent turns, too. */
	if (s->left && s->turning_to)
		begin_chunk(s, s->chunk, s->turning_to);
	else if (!turns)
		end_events(s);
}

/* A record of one place in a log. */
void
hh_chunk_put_place(struct hh_stream *s, enum log_kind kind, uint32_t slot,
    uint64_t seq, uint64_t offset)
{
	struct log_long l;

	if (!s->end || (size_t)(s->end - s->w.at) < CHUNK_PLACE_BYTES)
		return;
	log_long_begin(&l, kind, 0);
	log_long_uint(&l, slot);
	log_long_uint(&l, seq);
	log_long_uint(&l, offset);
	log_put_long(&s->w, &l, 0);
}

bool
hh_chunk_put_long(struct hh_stream *s, struct log_long *l, uint64_t dt)
{
	size_t bytes = log_long_bytes(l) + sizeof l->bytes;

	if (s->end && (size_t)(s->end - s->w.at) < bytes)
		hh_chunk_next(s);
	if (!s->end)
		return false;
	log_put_long(&s->w, l, dt);
	return true;
}

uint64_t
hh_chunk_offset(const struct hh_stream *s)
{
	return (uint64_t)(s->w.at - (unsigned char *)s->chunk);
}

/* While a chunk ends nothing of it is to come, and the next has no event. */
void
hh_chunk_put_outer(struct hh_stream *s, const struct hh_stream *outer)
{
	if (outer->turning_to)
		hh_chunk_put_place(s, LOG_X_NESTED, outer->number,
		    outer->turning_to, 0);
	else
		hh_chunk_put_place(s, LOG_X_NESTED, outer->number, outer->seq,
		    hh_chunk_offset(outer));
}

void
hh_chunk_forget(void)
{
	atomic_store(&numbers, 0);
}

/* What is left of the chunk, but for some room for the last events. */
void
hh_chunk_trim(struct hh_stream *s)
{
	struct log_chunk *chunk = s->chunk;
	uint32_t page = hh_head->h.page_size, bytes = chunk->bytes;
	uint32_t kept = ((uint32_t)hh_chunk_offset(s) + page) / page * page
	    + page;

	if (!s->end || bytes - kept < WORTH_TRIMMING || kept >= bytes)
		return;
	/* Whoever is killed in between leaves a smaller chunk and a gap. */
	chunk->bytes = kept;
	*trailer_of(chunk) = (struct log_trailer){0, 0};
	if (!hh_file_trim(chunk, bytes, kept)) {
		chunk->bytes = bytes;
		return;
	}
	s->end = (unsigned char *)trailer_of(chunk);
	hh_sys_unmap((char *)chunk + kept, bytes - kept);
}
