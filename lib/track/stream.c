/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stream.h"

#include <pthread.h>
#include <string.h>

#include "../interpose/sys.h"
#include "chunk.h"
#include "count.h"
#include "file.h"
#include "../interpose/head.h"
#include "inherit.h"
#include "note.h"
#include "start.h"

enum {
	BLOCKS = 256,			/* 65,536 threads alive at once */
	LOOKS = 16,			/* at owners that may have ended */
	INVENTED = INT32_MAX - BLOCKS * STREAMS_A_BLOCK - 1,	/* tids above */
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
static _Atomic uint32_t made;		/* streams, in all blocks; */
static uint32_t left;			/* so many are our ancestors' */
static _Atomic uint32_t threads;	/* that came, ever */
static uint32_t look_from;		/* a hint; races do no harm */
static struct life {
	_Atomic uint32_t fate;
	int pid;			/* 0: not known */
} first_life, *life = &first_life;
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
	i += left;
	return i < atomic_load(&made) ? stream_at(i) : NULL;
}

static void
end_room(struct hh_stream *s)
{
	*hh_stream_limit(s) = NULL;
	*hh_stream_near(s) = NULL;
}

/* Without the kernel's help (before Linux 4.14) libc tells of forks. */
static void
wipe(void)
{
	uint32_t count = atomic_load(&made);

	atomic_store(&life->fate, FATE_UNKNOWN);
	life->pid = 0;
	for (uint32_t i = 0; i < count; i++)
		end_room(stream_at(i));
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

/* By libc, whoever called it, and before other handlers that may allocate. */
static void
forked(void)
{
	if (!hh_file_filtered())
		hh_stream_forked();
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

/* A new one; its block is there before the count says so.  From then on
 * another thread may be quicker to take it. */
static struct hh_stream *
make_stream(int tid)
{
	for (;;) {
		uint32_t i = atomic_load(&made);
		int none = 0;

		if (!need_block(i / STREAMS_A_BLOCK))
			return NULL;
		if (atomic_compare_exchange_strong(&made, &i, i + 1)
		    && atomic_compare_exchange_strong(&stream_at(i)->owner,
		        &none, tid))
			return stream_at(i);
	}
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
	    && (hh_file_sealed() || owner > INVENTED
	    || hh_sys_thread_exists(owner)))
		return false;
	return atomic_compare_exchange_strong(&s->owner, &owner, tid);
}

static struct hh_stream *
find_stream(int tid, bool nested)
{
	uint32_t count = atomic_load(&made) - left;

	for (uint32_t n = 0; n < count && n < LOOKS; n++) {
		struct hh_stream *s = stream_at(left + look_from++ % count);

		if (take_over(s, tid, nested))
			return s;
	}
	return NULL;
}

static int
own_tid(void)
{
	/* Any number will do that no other thread has. */
	return hh_file_sealed() ? INT32_MAX - (int)atomic_load(&made)
	    : hh_sys_gettid();
}

static struct hh_stream *
acquire(bool nested)
{
	int tid = own_tid();
	struct hh_stream *s = find_stream(tid, nested);

	if (!s && !(s = make_stream(tid)))
		return NULL;
	if (!s->chunk) {
		s->nested = nested;
		s->unnamed = true;
		s->w.ticks = hh_ticks();
	}
	if (!nested && atomic_fetch_add(&threads, 1))
		__atomic_fetch_or(&hh_mode, HH_AMONG, __ATOMIC_RELAXED);
	if (s->chunk) {
		if (s->end && s->end - s->w.at <= LOG_LONG_MAX)
			hh_chunk_next(s);
		hh_chunk_change_thread(s);
	} else if (!hh_file_stopped()) {
		hh_chunk_give_slot(s);
	}
	s->sparse = true;
	*hh_stream_holds(s) = false;
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

bool
hh_stream_within(void)
{
	return is_busy(hh_mine);
}

/* The threads of the parent are not in this process. */
static void
forget_streams(void)
{
	struct hh_stream *s;

	for (uint32_t i = 0; (s = hh_stream_at(i)); i++)
		end_room(s);
	left = atomic_load(&made);
	hh_mine = &nobody.streams[0];
	hh_mode &= (uint8_t)~HH_AMONG;
	atomic_store(&threads, 0);
}

/* Ours is a forked child's first event. */
static bool
start_child(void)
{
	struct hh_inheritance *from = hh_inherit_take();
	struct hh_stream *s;

	forget_streams();
	if (!from || !hh_start(hh_inherit_origin(from)))
		return false;
	s = acquire_mine();
	if (!s)
		return false;
	hh_stream_bar(s);
	hh_inherit_put(from, s);
	hh_stream_set_near(s);
	hh_stream_unbar(s);
	return true;
}

static bool
start_image(void)
{
	static const struct hh_head_origin none = {"", 0, 0};
	struct life *page = hh_sys_map_private(LOG_PAGE);

	if (!page || !hh_start(&none))
		return false;
	wipe_on_fork(page, LOG_PAGE);
	life = page;
	pthread_atfork(NULL, NULL, forked);
	return true;
}

/* Behind a filter no child begins a log; and no vfork child the one of a child
 * that it has the memory of. */
static bool
may_come(void)
{
	hh_off = hh_off || hh_file_filtered();
	return !hh_off && (!life->pid || life->pid == hh_sys_getpid());
}

/* One thread starts, others wait, and what it calls meanwhile that
 * allocates is not the program's. */
static bool
come_alive(void)
{
	uint32_t unknown = FATE_UNKNOWN;
	bool alive;

	if (!may_come())
		return false;
	if (!atomic_compare_exchange_strong(&life->fate, &unknown,
	    FATE_STARTING)) {
		if (unknown == FATE_STARTING && starter == hh_sys_gettid())
			return false;
		while (atomic_load(&life->fate) == FATE_STARTING && !hh_off)
			hh_sys_yield();
		return !hh_off;
	}
	starter = hh_sys_gettid();
	alive = hh_head ? start_child() : start_image();
	hh_off = !alive;
	atomic_store(&life->fate, FATE_ALIVE);
	if (alive && hh_mode & HH_PAUSED)
		hh_note_pause(true);
	return alive;
}

bool
hh_stream_alive(void)
{
	return atomic_load_explicit(&life->fate, memory_order_relaxed)
	    == FATE_ALIVE;
}

bool
hh_stream_cloned(void)
{
	return !life->pid;
}

void
hh_stream_forked(void)
{
	life->pid = hh_sys_getpid();
}

/* The stream, busy, and the one that it is nested in.  False: a handler has
 * forked meanwhile, and this is the child. */
static bool
take(struct hh_stream **s, struct hh_stream **outer)
{
	*outer = NULL;
	*s = hh_mine == &nobody.streams[0] ? acquire_mine() : hh_mine;
	while (*s && is_busy(*s)) {
		if (!hh_stream_alive())
			return false;
		*outer = *s;
		*s = inner_of(*s);
	}
	if (!*s)
		return true;
	(*s)->busy = true;
	hh_stream_bar(*s);
	if (hh_stream_alive())
		return true;
	(*s)->busy = false;
	return false;
}

struct hh_stream *
hh_stream_take(size_t bytes)
{
	struct hh_stream *s, *outer;

	do
		if (hh_off || (!hh_stream_alive() && !come_alive()))
			return NULL;
	while (!take(&s, &outer));
	if (!s)
		return NULL;
	if (s->end && (size_t)(s->end - s->w.at) < bytes + CHUNK_PLACE_BYTES)
		hh_chunk_next(s);
	if (outer && outer->chunk)
		hh_chunk_put_outer(s, outer);
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

void
hh_stream_come(void)
{
	struct hh_stream *s = hh_stream_take(0);

	if (s)
		hh_stream_give(s);
}
