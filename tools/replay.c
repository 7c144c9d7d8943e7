/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "lineage.h"
#include "room.h"

/* No address space holds more. */
static const uint64_t MAX_BLOCK = UINT64_C(1) << 57;

/* What each event needs, put together where they are taken. */
#define INLINE __attribute__((always_inline)) static inline
#define COLD __attribute__((noinline, cold)) static

enum {
	/* How long an event that cannot be yet waits for others. */
	ALLOC_WAITS_US = 10,
	FREE_WAITS_US = 1000,
};

static void
show(struct replay *r)
{
	if (r->show)
		r->show(r->watch->who, &r->step);
}

/* A block goes without a free, for another has come to its address. */
static void
lose(struct replay *r, const struct block *block)
{
	struct replay_step kept = r->step;

	r->step.freed = false;
	r->step.come = NULL;
	r->step.gone = block;
	r->lost++;
	show(r);
	r->step = kept;
}

/* How long ago, by the lower half of the clock, a block came. */
static uint32_t
age_at(uint64_t time, const struct block *block)
{
	return (uint32_t)time - block->when;
}

/* A free of BLOCK, or of an unknown one, that was put off. */
static void
show_debt(struct replay *r, const struct doubt *debt, struct block *block)
{
	const struct log_event event = {
		.kind = LOG_FREE, .call = LOG_CALL_FREE,
		.address = debt->block.address, .ticks = r->step.ticks,
		.slot = debt->slot, .took = debt->took,
	};
	const struct replay_step kept = r->step;
	struct block gone;

	r->step = (struct replay_step){
		.event = &event, .ticks = kept.ticks, .thread = debt->thread,
		.freed = true, .gone = block ? &gone : NULL,
	};
	if (block) {
		gone = *block;
		blocks_remove(&r->blocks, block);
	}
	show(r);
	r->step = kept;
}

/* Nothing needed it.  Its own block may be there all the same, if it came
 * so soon after that their clocks allow it. */
static void
write_off(struct replay *r, const struct doubt *debt)
{
	struct block *block = blocks_find(&r->blocks, debt->block.address);

	if (block && (uint32_t)-age_at(debt->time, block) > r->merge.slip)
		block = NULL;
	show_debt(r, debt, block);
}

/* Whose stamp is wrong is never so for long.  Makes room for one more. */
static void
settle(struct replay *r, uint64_t before)
{
	struct doubt d;

	while (doubts_expire(&r->owed, before, &d))
		write_off(r, &d);
	while (doubts_expire(&r->doubles, before, &d))
		lose(r, &d.block);
}

static void
settle_old(struct replay *r)
{
	uint64_t now = merge_time(&r->merge);
	uint64_t most = merge_ticks(&r->merge, MERGE_WRONG_US);

	settle(r, now < most ? 0 : now - most);
}

/* The block is in the way of another that comes to its address.  Where
 * clocks differ it is live beside it until a free finds no other there. */
static void
make_way(struct replay *r, struct block *block)
{
	uint64_t now = merge_time(&r->merge);
	const struct doubt twin = { .time = now, .block = *block };

	blocks_remove(&r->blocks, block);
	if (!r->merge.doubt && (r->merge.streams.count == 1
	    || age_at(now, &twin.block) > merge_ticks(&r->merge,
	    ALLOC_WAITS_US) + r->merge.slip)) {
		lose(r, &twin.block);
		return;
	}
	settle_old(r);
	doubts_add(&r->doubles, &twin);
}

/* Whether BLOCK, which is in the way, had its free before it came. */
static bool
was_paid(struct replay *r, struct block *block)
{
	struct doubt debt;

	if (!doubts_take(&r->owed, block->address, &debt))
		return false;
	show_debt(r, &debt, block);
	return true;
}

/* What no program can cause is counted, and left out. */
static bool
is_senseless(struct replay *r, const struct log_event *e)
{
	if (e->address && e->size <= MAX_BLOCK
	    && e->usable - e->size <= BLOCK_EXCESS_MOST)
		return false;
	r->senseless++;
	return true;
}

/* Make room for another block where BLOCK is.  False: it cannot be. */
COLD bool
clear(struct replay *r, struct block *block, bool force)
{
	if (was_paid(r, block))
		return true;
	if (force)
		make_way(r, block);
	return force;
}

/* A new block at the event's address. */
INLINE bool
come(struct replay *r, const struct log_event *e, bool force)
{
	struct block *block = blocks_place(&r->blocks, e->address);

	r->address = e->address;
	if (block->address) {
		if (!clear(r, block, force))
			return false;
		block = blocks_place(&r->blocks, e->address);
	}
	block = blocks_take(&r->blocks, block, e->address);
	*block = (struct block){
		.address = e->address, .requested = e->size,
		.excess = e->usable - e->size,
		.site = r->stacks ? stacks_site(r->stacks, e->stack) : 0,
		.owner = r->step.thread,
		.when = (uint32_t)merge_time(&r->merge),
	};
	r->step.come = block;
	return true;
}

/* The block at ADDRESS goes to *GONE.  False: there is none. */
INLINE bool
leave(struct replay *r, uint64_t address, uint32_t slot, struct block *gone)
{
	struct block *block = blocks_find(&r->blocks, address);
	struct doubt twin;

	r->address = address;
	if (!block && !doubts_take(&r->doubles, address, &twin))
		return false;
	*gone = block ? *block : twin.block;
	if (block)
		blocks_remove(&r->blocks, block);
	if (r->merge.streams.count > 1)
		recent_add(&r->recent, address, merge_time(&r->merge), slot);
	return true;
}

/* Whether another thread freed the same address just now: it came too early
 * and took our block for its own, which is still to come, perhaps from us. */
static bool
was_robbed(struct replay *r, uint64_t address, uint32_t slot)
{
	uint64_t now = merge_time(&r->merge), slip = r->merge.slip;

	return recent_has(&r->recent, address, slot,
	    now < slip ? 0 : now - slip, now);
}

/* There is no block at ADDRESS, but may be one to come.  False: it is not to
 * be believed. */
static bool
owe(struct replay *r, uint64_t address, uint32_t slot, bool force)
{
	uint64_t now = merge_time(&r->merge);

	if (!(force && r->merge.doubt) && !was_robbed(r, address, slot))
		return false;
	settle_old(r);
	doubts_add(&r->owed, &(struct doubt){
		.time = now, .thread = r->who[slot], .slot = slot,
		.block.address = address, .took = r->step.event->took,
	});
	recent_add(&r->recent, address, now, slot);
	return true;
}

INLINE bool
go(struct replay *r, uint64_t address, uint32_t slot, bool force)
{
	struct replay_step *step = &r->step;

	if (leave(r, address, slot, &r->gone)) {
		step->freed = true;
		step->gone = &r->gone;
		return true;
	}
	if (owe(r, address, slot, force))
		return true;
	step->freed = force;
	return force;
}

static bool
realloc_at_once(struct replay *r, const struct log_event *e, bool force)
{
	if (!e->old)
		return come(r, e, force);
	if (!force && e->old != e->address
	    && blocks_find(&r->blocks, e->address)) {
		r->address = e->address;
		return false;
	}
	if (!go(r, e->old, e->slot, force))
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

	if (t->depth == sizeof t->moving / sizeof *t->moving)
		put_back(r, t);
	m = &t->moving[t->depth];
	m->known = leave(r, e->address, e->slot, &m->block);
	m->owed = !m->known && owe(r, e->address, e->slot, force);
	if (!m->known && !m->owed && !force)
		return false;
	t->depth++;
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
	r->step.freed = !m->owed;
	r->step.gone = m->known ? &m->block : NULL;
	return true;
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

/* What most programs do less. */
COLD bool
apply_rest(struct replay *r, const struct log_event *e, bool force)
{
	switch (e->kind) {
	case LOG_X_FREE:
		return !e->address || go(r, e->address, e->slot, force);
	case LOG_CALLOC:
	case LOG_X_ALLOC:
		return is_senseless(r, e) || come(r, e, force);
	case LOG_X_REALLOC:
		return is_senseless(r, e) || realloc_at_once(r, e, force);
	case LOG_X_RESIZED:
		return is_senseless(r, e) || end_realloc(r, e, force);
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
		if (r->stacks)
			stacks_take(r->stacks, e);
		return true;
	}
}

/* False: it cannot be yet, and FORCE is not set. */
INLINE bool
apply(struct replay *r, const struct log_event *e, bool force)
{
	if (e->kind == LOG_FREE)
		return !e->address || go(r, e->address, e->slot, force);
	if (e->kind == LOG_MALLOC)
		return is_senseless(r, e) || come(r, e, force);
	return apply_rest(r, e, force);
}

/* Whether it waits for a block to be there, and not for one to be gone. */
static bool
is_release(const struct log_event *e)
{
	return e->kind == LOG_FREE || e->kind == LOG_X_FREE
	    || e->kind == LOG_X_RESIZE;
}

/* What was not possible.  False: it waits. */
COLD bool
insist(struct replay *r, const struct log_event *e)
{
	if (!r->merge.forced && merge_park(&r->merge, r->address,
	    is_release(e) ? FREE_WAITS_US : ALLOC_WAITS_US))
		return false;
	return apply(r, e, true);
}

/* A free whose block is to come is shown when it has. */
static bool
is_put_off(const struct replay *r, const struct log_event *e)
{
	return !r->step.freed && e->call == LOG_CALL_FREE && r->address;
}

INLINE bool
take(struct replay *r, const struct log_event *e)
{
	struct replay_step *step = &r->step;

	step->event = e;
	step->thread = r->who[e->slot];
	step->come = step->gone = NULL;
	step->freed = false;
	r->address = r->old = 0;
	if (!apply(r, e, false) && !insist(r, e))
		return false;
	if (step->ticks < e->ticks)
		step->ticks = e->ticks;
	if (!is_put_off(r, e))
		show(r);
	return true;
}

void
replay_begin(struct replay *r, struct reader *log,
    const struct stream_place *cuts)
{
	r->log = log;
	r->who = room_new(log->slot_count, sizeof *r->who);
	memset(r->who, 0xff, log->slot_count * sizeof *r->who);
	r->transit = room_new(log->slot_count, sizeof *r->transit);
	if (r->stacks)
		stacks_begin(r->stacks, log->slot_count);
	merge_open(&r->merge, log, cuts, expect_events, r);
}

void
replay_play(struct replay *r)
{
	uint64_t until = r->watch ? r->watch->until : UINT64_MAX;
	const struct log_event *e;

	while ((e = merge_next(&r->merge)) && e->ticks < until)
		if (take(r, e))
			merge_taken(&r->merge, r->address, r->old);
}

void
replay_settle(struct replay *r)
{
	for (size_t i = 0; i < r->log->slot_count; i++)
		put_all_back(r, r->transit + i);
	settle(r, UINT64_MAX);
	if (r->stacks)
		stacks_settle(r->stacks);
}

void
replay_end(struct replay *r)
{
	merge_close(&r->merge);
	free(r->transit);
	free(r->who);
}

static void
show_inherited(const struct replay *r)
{
	struct block *list;

	if (!r->blocks.count || !r->watch->inherited)
		return;
	list = blocks_list(&r->blocks);
	for (size_t i = 0; i < r->blocks.count; i++)
		r->watch->inherited(r->watch->who, list + i);
	free(list);
}

static void
say_problems(const struct replay *r)
{
	struct problems *p = &r->log->problems;

	if (r->lost)
		problems_loss(p, "%" PRIu64 " block%s went without a "
		    "free: others came to the same place", r->lost,
		    r->lost == 1 ? "" : "s");
	if (r->senseless)
		problems_loss(p, "damaged: %" PRIu64 " events make no sense "
		    "and are left out", r->senseless);
	if (r->stacks && r->stacks->senseless)
		problems_note(p, "damaged: %" PRIu64 " records of stacks make "
		    "no sense and are left out", r->stacks->senseless);
	if (r->stacks && r->stacks->unknown)
		problems_note(p, "%" PRIu64 " stacks are unknown: their "
		    "frames are not in the log", r->stacks->unknown);
}

void
replay_init(struct replay *r, struct stacks *stacks)
{
	*r = (struct replay){ .stacks = stacks };
	blocks_init(&r->blocks);
	threads_init(&r->threads);
}

void
replay_run(struct replay *r, struct reader *log,
    const struct replay_watch *watch)
{
	replay_init(r, watch->stacks);
	lineage_inherit(r, log);
	r->watch = watch;
	r->show = watch->step;
	show_inherited(r);
	r->lost = r->senseless = 0;
	r->step = (struct replay_step){ .ticks = log->head.h.start.ticks };
	replay_begin(r, log, NULL);
	replay_play(r);
	replay_settle(r);
	replay_end(r);
	say_problems(r);
}

void
replay_free(struct replay *r)
{
	blocks_free(&r->blocks);
	threads_free(&r->threads);
}
