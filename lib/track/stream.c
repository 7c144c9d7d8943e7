/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stream.h"

#include <pthread.h>
#include <string.h>

#include "../interpose/sys.h"
#include "count.h"
#include "file.h"
#include "head.h"
#include "note.h"
#include "start.h"

enum {
	BLOCKS = 256,			/* 65,536 threads alive at once */
	LOOKS = 16,			/* at owners that may have ended */
	NAME_EVERY = 16,		/* chunks */
	PLACE_BYTES = 48,		/* a long form with a place in it */
	TABLE_SLOTS = LOG_FIRST_SLOT_BYTES / (int)sizeof(struct log_chunk),
};

/* In the half that a fork wipes, so 0 in a child. */
enum fate { FATE_UNKNOWN, FATE_STARTING, FATE_ALIVE };

struct block {
	struct hh_stream streams[STREAMS_A_BLOCK];
	unsigned char limits[STREAM_HALF];
};

static_assert(offsetof(struct block, limits) == STREAM_HALF, "two halves");

/* Never given away and never written to. */
static struct block nobody;

_Thread_local struct hh_stream *hh_mine = &nobody.streams[0];
uint8_t hh_mode = HH_OPAQUE;

static _Atomic(struct block *) blocks[BLOCKS];
static _Atomic uint32_t made;		/* streams, in all blocks */
static _Atomic uint32_t numbers;	/* of slots, given away in this log */
static _Atomic uint32_t threads;	/* that came, ever */
static uint32_t look_from;		/* a hint; races do no harm */
static _Atomic uint32_t first_fate;
static _Atomic uint32_t *fate = &first_fate;
static int starter;			/* tid; while FATE_STARTING */

static struct hh_stream *
stream_at(uint32_t i)
{
	struct block *b = atomic_load_explicit(&blocks[i / STREAMS_A_BLOCK],
	    memory_order_acquire);

	return &b->streams[i % STREAMS_A_BLOCK];
}

struct hh_stream *
hh_stream_at(uint32_t i)
{
	return i < atomic_load(&made) ? stream_at(i) : NULL;
}

/* Without the kernel's help (before Linux 4.14) libc tells of forks. */
static void
wipe(void)
{
	uint32_t count = atomic_load(&made);

	atomic_store(fate, FATE_UNKNOWN);
	for (uint32_t i = 0; i < count; i++)
		*hh_stream_limit(stream_at(i)) = NULL;
}

static void
wipe_on_fork(void *at, size_t bytes)
{
	static bool asked;

	if (hh_sys_wipe_on_fork(at, bytes) || asked)
		return;
	asked = true;
	pthread_atfork(NULL, NULL, wipe);
}

static struct block *
need_block(uint32_t i)
{
	struct block *b, *none = NULL;

	if (i >= BLOCKS)
		return NULL;
	b = atomic_load_explicit(&blocks[i], memory_order_acquire);
	if (b)
		return b;
	b = hh_sys_map_private(sizeof *b);
	if (!b)
		return NULL;
	wipe_on_fork(b->limits, sizeof b->limits);
	/* Pairs with the acquire of stream_at(). */
	if (atomic_compare_exchange_strong(&blocks[i], &none, b))
		return b;
	hh_sys_unmap(b, sizeof *b);
	return none;
}

/* A new one; its block is there before the count says so. */
static struct hh_stream *
make_stream(int tid)
{
	uint32_t i = atomic_load(&made);

	do
		if (!need_block(i / STREAMS_A_BLOCK))
			return NULL;
	while (!atomic_compare_exchange_weak(&made, &i, i + 1));
	atomic_store(&stream_at(i)->owner, tid);
	return stream_at(i);
}

/* No thread tells us that it ends, and none need: its last frees come after
 * every destructor.  Whose owner does not exist any more is free; so is one
 * of a thread of our number, for we have none, unless it is nested. */
static bool
take_over(struct hh_stream *s, int tid, bool nested)
{
	int owner = atomic_load(&s->owner);

	if (s->nested != nested)
		return false;
	if (owner && (owner != tid || nested)
	    && (hh_file_sealed() || hh_sys_thread_exists(owner)))
		return false;
	return atomic_compare_exchange_strong(&s->owner, &owner, tid);
}

static struct hh_stream *
find_stream(int tid, bool nested)
{
	uint32_t count = atomic_load(&made);

	for (uint32_t n = 0; n < count && n < LOOKS; n++) {
		struct hh_stream *s = stream_at(look_from++ % count);

		if (take_over(s, tid, nested))
			return s;
	}
	return NULL;
}

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
	s->w.last = 0;
	s->seq = seq;
	s->chunk = chunk;
	s->end = (unsigned char *)trailer_of(chunk);
	atomic_signal_fence(memory_order_seq_cst);
	s->turning_to = 0;
}

static struct log_chunk *
summary_slot(uint32_t number)
{
	struct log_chunk *table = (struct log_chunk *)(hh_head + 1);
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

/* The space of the first slot came with the header. */
static struct log_chunk *
events_slot(uint32_t number)
{
	struct log_chunk *chunk = (struct log_chunk *)(hh_head + 1);

	if (number)
		return hh_file_slot(LOG_SLOT_BYTES, number);
	chunk->bytes = LOG_FIRST_SLOT_BYTES;
	return chunk;
}

static void
give_slot(struct hh_stream *s)
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
static void
change_thread(struct hh_stream *s)
{
	struct log_long l;
	uint64_t now = hh_ticks();
	uint64_t dt = now > s->w.ticks ? now - s->w.ticks : 0;
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

/* Its events have ended, but its counters go on: no sum of it would hold. */
static void
reopen(struct log_trailer *t)
{
	t->seq = 0;
	t->sum = 0;	/* also the zero byte that ends the events */
}

/* The slot is full: it is appended and used again, or stays where it is. */
static void
next_chunk(struct hh_stream *s)
{
	struct log_chunk *old = s->chunk, *chunk = old;
	struct log_trailer *t = trailer_of(old);

	s->end = NULL;
	s->turning_to = s->seq + 1;
	t->sum = log_sum(old, old->bytes);
	atomic_thread_fence(memory_order_release);
	t->seq = s->seq;
	if (hh_file_sealed()) {
		chunk = hh_file_slot(LOG_SLOT_BYTES, s->number);
		if (!chunk) {
			reopen(t);
			return;
		}
		chunk->counters = old->counters;
		memcpy(chunk->name, old->name, sizeof chunk->name);
		begin_chunk(s, chunk, s->seq + 1);
		return;
	}
	if (!hh_file_append(old)) {
		reopen(t);
		return;
	}
	hh_head_touch();
	begin_chunk(s, chunk, s->seq + 1);
}

static int
own_tid(void)
{
	/* Sealed: any number will do that no other thread has. */
	return hh_file_sealed() ? INT32_MAX - (int)atomic_load(&made)
	    : hh_sys_gettid();
}

static struct hh_stream *
acquire(bool nested)
{
	int tid = own_tid();
	struct hh_stream *s = find_stream(tid, nested);

	if (!s) {
		s = make_stream(tid);
		if (!s)
			return NULL;
		s->nested = nested;
		s->unnamed = true;
		s->w.ticks = hh_ticks();
	}
	if (!nested && atomic_fetch_add(&threads, 1))
		__atomic_fetch_or(&hh_mode, HH_AMONG, __ATOMIC_RELAXED);
	if (s->chunk) {
		if (s->end && (size_t)(s->end - s->w.at) < LOG_LONG_MAX + 1)
			next_chunk(s);
		change_thread(s);
	} else if (!hh_file_stopped()) {
		give_slot(s);
	}
	s->sparse = true;
	s->inner = NULL;
	s->unnamed = s->chunk && s->chunk->tid != tid;
	if (s->chunk)
		hh_count_begin(s);
	hh_stream_set_near(s);
	return s;
}

/* Signals wait: a handler would take a second stream for this thread. */
static struct hh_stream *
acquire_mine(void)
{
	uint64_t kept;
	bool sealed = hh_file_sealed();
	struct hh_stream *s;

	if (!sealed)
		hh_sys_block_signals(&kept);
	s = acquire(false);
	if (s) {
		hh_stream_unbar(s);
		hh_mine = s;
	}
	if (!sealed)
		hh_sys_restore_signals(&kept);
	return s;
}

static bool
is_busy(struct hh_stream *s)
{
	return s->busy || (s->end && !*hh_stream_limit(s));
}

static struct hh_stream *
inner_of(struct hh_stream *s)
{
	if (!s->inner) {
		struct hh_stream *inner = acquire(true);

		if (inner)
			hh_stream_unbar(inner);
		s->inner = inner;
	}
	return s->inner;
}

/* A record of one place in a log. */
static void
put_place(struct hh_stream *s, enum log_kind kind, uint32_t slot,
    uint64_t seq, uint64_t offset)
{
	struct log_long l;

	if (!s->end || (size_t)(s->end - s->w.at) < PLACE_BYTES)
		return;
	log_long_begin(&l, kind, 0);
	log_long_uint(&l, slot);
	log_long_uint(&l, seq);
	log_long_uint(&l, offset);
	log_put_long(&s->w, &l, 0);
}

static uint64_t
offset_of(const struct hh_stream *s)
{
	return (uint64_t)(s->w.at - (unsigned char *)s->chunk);
}

/* While a chunk ends nothing of it is to come, and the next has no event. */
static void
put_outer(struct hh_stream *s, const struct hh_stream *outer)
{
	if (outer->turning_to)
		put_place(s, LOG_X_NESTED, outer->number, outer->turning_to, 0);
	else
		put_place(s, LOG_X_NESTED, outer->number, outer->seq,
		    offset_of(outer));
}

/* How far each thread of the parent had come, kept while we start over. */
struct cut {
	uint32_t slot;
	uint64_t seq, offset;
};

struct inheritance {
	struct hh_head_origin origin;
	char path[4096];
	int64_t live;
	uint32_t cuts;
	struct cut cut[];
};

static size_t
inheritance_bytes(void)
{
	return sizeof(struct inheritance)
	    + atomic_load(&made) * sizeof(struct cut);
}

/* The stream of a thread of the parent that is not in this process: note
 * how far it came, and forget it. */
static void
inherit_stream(struct inheritance *from, struct hh_stream *s)
{
	if (s->chunk)
		from->live += hh_count_live(s) - s->chunk->counters.told;
	if (s->chunk && hh_head->h.mode == LOG_EVENTS) {
		from->cut[from->cuts++] = (struct cut){s->number,
		    s->seq, offset_of(s)};
		if (s->number)
			hh_sys_unmap(s->chunk, s->chunk->bytes);
	}
	*hh_stream_limit(s) = NULL;
	memset(s, 0, sizeof *s);
}

static struct inheritance *
inherit(void)
{
	struct inheritance *from = hh_sys_map_private(inheritance_bytes());
	uint32_t count = atomic_load(&made);

	if (!from)
		return NULL;
	strncpy(from->path, hh_file_path(), sizeof from->path - 1);
	from->origin = (struct hh_head_origin){from->path, hh_head->h.pid,
	    hh_head->h.process_start};
	from->live = hh_head->h.live;
	for (uint32_t i = 0; i < count; i++)
		inherit_stream(from, stream_at(i));
	hh_sys_unmap(hh_head, sizeof *hh_head + LOG_FIRST_SLOT_BYTES);
	hh_head = NULL;
	hh_file_forget();
	atomic_store(&numbers, 0);
	hh_mine = &nobody.streams[0];
	hh_mode &= (uint8_t)~HH_AMONG;
	atomic_store(&threads, 0);
	return from;
}

static void
tell_inheritance(const struct inheritance *from)
{
	struct hh_stream *s = acquire_mine();

	hh_head->h.live = hh_head->h.peak = from->live > 0 ? from->live : 0;
	if (!s || !s->chunk)
		return;
	hh_count_begin(s);
	for (uint32_t i = 0; i < from->cuts && s->end; i++) {
		const struct cut *c = &from->cut[i];

		if ((size_t)(s->end - s->w.at) < PLACE_BYTES)
			next_chunk(s);
		put_place(s, LOG_X_INHERIT, c->slot, c->seq, c->offset);
	}
	hh_stream_set_near(s);
	hh_stream_unbar(s);
}

/* Ours is a forked child's first event. */
static bool
start_child(void)
{
	struct inheritance *from = inherit();
	size_t bytes = inheritance_bytes();

	if (!from || !hh_start(&from->origin)) {
		hh_off = true;
		return false;
	}
	tell_inheritance(from);
	hh_sys_unmap(from, bytes);
	return true;
}

static bool
start_image(void)
{
	static const struct hh_head_origin none = {"", 0, 0};
	_Atomic uint32_t *page = hh_sys_map_private(LOG_PAGE);

	if (!page || !hh_start(&none)) {
		hh_off = true;
		return false;
	}
	wipe_on_fork(page, LOG_PAGE);
	fate = page;
	return true;
}

/* One thread starts, others wait, and what it calls meanwhile that
 * allocates is not the program's. */
static bool
come_alive(void)
{
	uint32_t unknown = FATE_UNKNOWN;
	bool alive;

	if (!atomic_compare_exchange_strong(fate, &unknown, FATE_STARTING)) {
		if (unknown == FATE_STARTING && starter == hh_sys_gettid())
			return false;
		while (atomic_load(fate) == FATE_STARTING && !hh_off)
			hh_sys_yield();
		return !hh_off;
	}
	starter = hh_sys_gettid();
	alive = hh_head ? start_child() : start_image();
	atomic_store(fate, FATE_ALIVE);
	if (alive && hh_mode & HH_PAUSED)
		hh_note_pause(true);
	return alive;
}

bool
hh_stream_alive(void)
{
	return atomic_load_explicit(fate, memory_order_relaxed) == FATE_ALIVE;
}

struct hh_stream *
hh_stream_take(size_t bytes)
{
	struct hh_stream *s, *outer = NULL;

	if (hh_off || (!hh_stream_alive() && !come_alive()))
		return NULL;
	s = hh_mine == &nobody.streams[0] ? acquire_mine() : hh_mine;
	while (s && is_busy(s)) {
		outer = s;
		s = inner_of(s);
	}
	if (!s)
		return NULL;
	s->busy = true;
	hh_stream_bar(s);
	if (s->end && (size_t)(s->end - s->w.at) < bytes + PLACE_BYTES)
		next_chunk(s);
	if (outer && outer->chunk)
		put_outer(s, outer);
	return s;
}

void
hh_stream_give(struct hh_stream *s)
{
	hh_stream_set_near(s);
	atomic_signal_fence(memory_order_seq_cst);
	s->busy = false;
	hh_stream_unbar(s);
}
