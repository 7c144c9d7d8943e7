/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "origin.h"
#include "room.h"

/* No address space holds more. */
static const uint64_t MAX_BLOCK = UINT64_C(1) << 57;

enum {
	PROGRESS_EVENTS = 1 << 16,
	MAX_ANCESTORS = 64,

	/* How long an event that cannot be yet waits for others. */
	ALLOC_WAITS_US = 10,
	FREE_WAITS_US = 1000,
	SLIP_US = 5,
};

static void
expect(void *who, const struct log_event *events, unsigned n)
{
	const struct replay *r = who;

	for (unsigned i = 0; i < n; i++)
		blocks_expect(&r->blocks, events[i].address);
}

static void
show(struct replay *r)
{
	if (r->watch && r->watch->step)
		r->watch->step(r->watch->who, &r->step);
}

static uint64_t
ticks_of_us(const struct replay *r, unsigned us)
{
	return (uint64_t)(us * r->merge.ticks_per_us) + 1;
}

/* A block goes without a free, for another has come to its address. */
static void
lose(struct replay *r, const struct block *block)
{
	struct replay_step kept = r->step;

	r->step.allocated = r->step.freed = false;
	r->step.known = true;
	r->step.gone = *block;
	r->lost++;
	show(r);
	r->step = kept;
}

static void
drop_double(struct replay *r, unsigned i)
{
	r->double_count--;
	memmove(r->doubles + i, r->doubles + i + 1,
	    (r->double_count - i) * sizeof *r->doubles);
}

/* BLOCK makes room for another at its address, and is live beside it until
 * the free comes that is its own: clocks slip by less than a microsecond,
 * but whose stamp came too early can wait for one that waits for it. */
static void
set_aside(struct replay *r, struct block *block)
{
	if (r->double_count == REPLAY_DOUBLES) {
		lose(r, r->doubles);
		drop_double(r, 0);
	}
	r->doubles[r->double_count++] = *block;
	blocks_remove(&r->blocks, block);
}

/* The block is in the way of another that comes to its address. */
static void
make_way(struct replay *r, struct block *block, const struct log_event *e)
{
	const struct block lost = *block;

	if (r->merge.streams.count > 1 && (uint32_t)e->ticks - block->when
	    <= ticks_of_us(r, ALLOC_WAITS_US + SLIP_US)) {
		set_aside(r, block);
		return;
	}
	blocks_remove(&r->blocks, block);
	lose(r, &lost);
}

/* A new block at the event's address. */
static bool
come(struct replay *r, const struct log_event *e, bool force)
{
	struct block *block = blocks_place(&r->blocks, e->address);

	r->address = e->address;
	if (block->address) {
		if (!force)
			return false;
		make_way(r, block, e);
		block = blocks_place(&r->blocks, e->address);
	}
	block = blocks_take(&r->blocks, block, e->address);
	block->requested = e->size;
	block->usable = e->usable;
	block->owner = r->step.thread;
	block->when = (uint32_t)e->ticks;
	r->step.come = *block;
	r->step.allocated = true;
	return true;
}

/* The older of two at one address goes first. */
static bool
go_double(struct replay *r, uint64_t address)
{
	for (unsigned i = 0; i < r->double_count; i++)
		if (r->doubles[i].address == address) {
			r->step.gone = r->doubles[i];
			drop_double(r, i);
			return true;
		}
	return false;
}

static bool
go(struct replay *r, uint64_t address, bool force)
{
	struct block *block = blocks_find(&r->blocks, address);

	r->address = address;
	if (!block && !force)
		return false;
	r->step.freed = true;
	r->step.known = block;
	if (!block || (r->double_count && go_double(r, address)))
		return true;
	r->step.gone = *block;
	blocks_remove(&r->blocks, block);
	return true;
}

static bool
realloc_at_once(struct replay *r, const struct log_event *e, bool force)
{
	if (!force && e->old != e->address
	    && blocks_find(&r->blocks, e->address)) {
		r->address = e->address;
		return false;
	}
	if (!go(r, e->old, force))
		return false;
	r->old = e->old;
	return come(r, e, true);
}

/* The block that the innermost realloc took up is still there, or again. */
static void
put_back(struct replay *r, struct replay_transit *t)
{
	const struct replay_moving *m;
	struct block *block;

	if (!t->depth)
		return;
	m = &t->moving[--t->depth];
	if (!m->known)
		return;
	block = blocks_find(&r->blocks, m->block.address);
	if (block) {
		const struct block lost = *block;

		blocks_remove(&r->blocks, block);
		lose(r, &lost);
	}
	block = blocks_place(&r->blocks, m->block.address);
	*blocks_take(&r->blocks, block, m->block.address) = m->block;
}

static void
put_all_back(struct replay *r, struct replay_transit *t)
{
	while (t->depth)
		put_back(r, t);
}

static bool
begin_realloc(struct replay *r, const struct log_event *e, bool force)
{
	struct replay_transit *t = r->transit + e->slot;
	struct replay_moving *m;
	struct block *block;

	if (t->depth == sizeof t->moving / sizeof *t->moving)
		put_back(r, t);
	block = blocks_find(&r->blocks, e->address);
	r->address = e->address;
	if (!block && !force)
		return false;
	m = &t->moving[t->depth++];
	m->known = block;
	if (!block)
		return true;
	m->block = *block;
	blocks_remove(&r->blocks, block);
	return true;
}

static bool
end_realloc(struct replay *r, const struct log_event *e, bool force)
{
	struct replay_transit *t = r->transit + e->slot;
	const struct replay_moving *m;

	if (!come(r, e, force))
		return false;
	if (!t->depth)
		return true;
	m = &t->moving[--t->depth];
	r->step.freed = true;
	r->step.known = m->known;
	r->step.gone = m->block;
	return true;
}

static bool
is_senseless(const struct log_event *e)
{
	return !e->address || e->size > MAX_BLOCK || e->usable > MAX_BLOCK;
}

/* Each chunk introduces its thread again.  What another one had not ended
 * stays as it was.  The threads of an ancestor are not the log's. */
static void
introduce(struct replay *r, const struct log_event *e)
{
	struct replay_transit *t = r->transit + e->slot;

	if (t->tid != e->tid || t->self != e->self)
		put_all_back(r, t);
	t->tid = e->tid;
	t->self = e->self;
	if (!r->watch)
		return;
	r->who[e->slot] = threads_meet(&r->threads, e->tid, e->self, e->text,
	    e->text_bytes);
	r->step.thread = r->who[e->slot];
}

/* False: it cannot be yet, and FORCE is not set. */
static bool
apply(struct replay *r, const struct log_event *e, bool force)
{
	switch (e->kind) {
	case LOG_FREE:
	case LOG_X_FREE:
		return e->address ? go(r, e->address, force) : true;
	case LOG_MALLOC:
	case LOG_CALLOC:
	case LOG_X_ALLOC:
	case LOG_X_REALLOC:
	case LOG_X_RESIZED:
		if (is_senseless(e)) {
			r->senseless++;
			return true;
		}
		if (e->kind == LOG_X_RESIZED)
			return end_realloc(r, e, force);
		return e->kind == LOG_X_REALLOC && e->old
		    ? realloc_at_once(r, e, force) : come(r, e, force);
	case LOG_X_RESIZE:
		return e->address ? begin_realloc(r, e, force) : true;
	case LOG_X_FAILED:
		if (e->call == LOG_CALL_REALLOC
		    || e->call == LOG_CALL_REALLOCARRAY)
			put_back(r, r->transit + e->slot);
		return true;
	case LOG_X_THREAD:
		introduce(r, e);
		return true;
	case LOG_X_NAME:
		if (r->watch)
			threads_rename(&r->threads, e->self, e->text,
			    e->text_bytes);
		return true;
	default:
		return true;
	}
}

/* Whether it waits for a block to be there, and not for one to be gone. */
static bool
is_release(const struct log_event *e)
{
	return e->kind == LOG_FREE || e->kind == LOG_X_FREE
	    || e->kind == LOG_X_RESIZE;
}

static void
remember_free(struct replay *r, const struct log_event *e)
{
	r->recent[r->recent_at++ % REPLAY_RECENT] = (struct replay_free){
		.address = e->address, .ticks = e->ticks, .slot = e->slot,
	};
}

/* Whether another thread freed the same address just now: it came too early
 * and took our block for its own, which is still to come, perhaps from us. */
static bool
was_robbed(const struct replay *r, const struct log_event *e)
{
	for (unsigned i = 0; i < REPLAY_RECENT; i++) {
		const struct replay_free *f = r->recent + i;

		if (f->address == e->address && f->slot != e->slot
		    && f->ticks <= e->ticks
		    && e->ticks - f->ticks <= ticks_of_us(r, SLIP_US))
			return true;
	}
	return false;
}

/* The I-th free that is owed, of the block at its address or of none. */
static void
pay(struct replay *r, unsigned i)
{
	struct replay_step kept = r->step;
	const struct replay_free owed = r->owed[i];

	r->owed_count--;
	memmove(r->owed + i, r->owed + i + 1,
	    (r->owed_count - i) * sizeof *r->owed);
	r->step.allocated = false;
	r->step.thread = owed.thread;
	go(r, owed.address, true);
	show(r);
	r->step = kept;
}

static void
owe(struct replay *r, const struct log_event *e)
{
	if (r->owed_count == REPLAY_OWED)
		pay(r, 0);
	r->owed[r->owed_count++] = (struct replay_free){
		.address = e->address, .ticks = e->ticks,
		.thread = r->who[e->slot],
	};
}

/* The block has come that a free was owed for. */
static void
pay_for(struct replay *r, const struct log_event *e)
{
	for (unsigned i = 0; i < r->owed_count; i++)
		if (r->owed[i].address == e->address) {
			pay(r, i);
			return;
		}
}

/* False: it was not possible, and waits. */
static bool
try(struct replay *r, const struct log_event *e)
{
	bool plain = e->kind == LOG_FREE || e->kind == LOG_X_FREE;

	if (apply(r, e, false)) {
		if (plain && r->merge.streams.count > 1)
			remember_free(r, e);
		return true;
	}
	if (plain && was_robbed(r, e)) {
		owe(r, e);
		remember_free(r, e);
		return true;
	}
	if (!r->merge.forced && merge_park(&r->merge, r->address,
	    is_release(e) ? FREE_WAITS_US : ALLOC_WAITS_US))
		return false;
	return apply(r, e, true);
}

static bool
take(struct replay *r, const struct log_event *e)
{
	struct replay_step *step = &r->step;

	step->event = e;
	step->thread = r->who[e->slot];
	step->allocated = step->freed = step->known = false;
	r->address = r->old = 0;
	if (!try(r, e))
		return false;
	if (step->ticks < e->ticks)
		step->ticks = e->ticks;
	show(r);
	if (r->owed_count && step->allocated)
		pay_for(r, e);
	return true;
}

static void
show_progress(const struct replay *r)
{
	if (r->watch && r->watch->progress && r->log->bytes)
		r->watch->progress(r->watch->who,
		    (double)r->log->done / (double)r->log->bytes);
}

/* Bring the blocks up to the end of LOG, or to CUTS. */
static void
play(struct replay *r, struct reader *log, const struct stream_place *cuts)
{
	uint64_t until = r->watch ? r->watch->until : UINT64_MAX, n = 0;
	const struct log_event *e;

	r->log = log;
	r->who = room_new(log->slot_count, sizeof *r->who);
	memset(r->who, 0xff, log->slot_count * sizeof *r->who);
	r->transit = room_new(log->slot_count, sizeof *r->transit);
	merge_open(&r->merge, log, cuts, expect, r);
	while ((e = merge_next(&r->merge)) && e->ticks < until) {
		if (!take(r, e))
			continue;
		merge_taken(&r->merge, r->address);
		if (r->old && r->merge.parked_count)
			merge_wake(&r->merge, r->old);
		if (++n % PROGRESS_EVENTS == 0)
			show_progress(r);
	}
	for (size_t i = 0; i < log->slot_count; i++)
		put_all_back(r, r->transit + i);
	while (r->owed_count)
		pay(r, 0);
	for (; r->double_count; drop_double(r, 0))
		lose(r, r->doubles);
	merge_close(&r->merge);
	free(r->transit);
	free(r->who);
}

/* The blocks that the process of LOG began with. */
static void
inherit(struct replay *r, struct reader *log, unsigned depth)
{
	struct reader origin;
	struct stream_place *cuts;

	if (!origin_is_told(log))
		return;
	if (depth == MAX_ANCESTORS) {
		problems_note(&log->problems, "more than %d ancestors: what "
		    "came from the first is unknown", MAX_ANCESTORS);
		return;
	}
	if (!origin_open(&origin, log))
		return;
	inherit(r, &origin, depth + 1);
	cuts = stream_inherited(log, &origin);
	play(r, &origin, cuts);
	if (origin.problems.kept)
		problems_note(&log->problems, "the log of process %d, which "
		    "it was forked from, has problems: inherited blocks may "
		    "be wrong", (int)origin.head.h.pid);
	free(cuts);
	reader_close(&origin);
}

static int
by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void
show_inherited(const struct replay *r)
{
	struct block *list;
	size_t n = 0;

	if (!r->blocks.count || !r->watch->inherited)
		return;
	list = room_new(r->blocks.count, sizeof *list);
	for (size_t i = 0; i <= r->blocks.mask; i++)
		if (r->blocks.places[i].address)
			list[n++] = r->blocks.places[i];
	qsort(list, n, sizeof *list, by_address);
	for (size_t i = 0; i < n; i++)
		r->watch->inherited(r->watch->who, list + i);
	free(list);
}

static void
say_problems(const struct replay *r)
{
	struct problems *p = &r->log->problems;

	if (r->lost)
		problems_loss(p, "%" PRIu64 " blocks went without a free: "
		    "their addresses were given again", r->lost);
	if (r->senseless)
		problems_loss(p, "damaged: %" PRIu64 " events make no sense "
		    "and are left out", r->senseless);
}

void
replay_run(struct replay *r, struct reader *log,
    const struct replay_watch *watch)
{
	*r = (struct replay){ 0 };
	blocks_init(&r->blocks);
	threads_init(&r->threads);
	inherit(r, log, 0);
	r->watch = watch;
	show_inherited(r);
	r->lost = r->senseless = 0;
	r->step = (struct replay_step){ .ticks = log->head.h.start.ticks };
	play(r, log, NULL);
	say_problems(r);
}

void
replay_free(struct replay *r)
{
	blocks_free(&r->blocks);
	threads_free(&r->threads);
}
