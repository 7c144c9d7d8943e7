/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "record.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "../interpose/clock.h"
#include "../interpose/conf.h"
#include "../interpose/create.h"
#include "../interpose/real.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "../interpose/timeline.h"
#include "heap.h"

enum { TOLD_A_SECOND = 100 };	/* by each thread, at most */

struct log_pool *rt_record_pool;
bool rt_record_wanted;

/* One thread at a time tells; others come again later. */
static _Atomic bool telling;

static char origin_path[PATH_MAX];

/* Under the heap lock; the last belongs to whoever is telling. */
static struct {
	struct rt_told sum;		/* what threads have told */
	struct tlsf_kept depot;		/* when one told last */
	uint64_t biggest;		/* that a thread freed last */
	uint64_t sure;			/* the program had that once */
	struct log_counters before;	/* the log: what its parent counted */
	struct hh_head_origin origin;
} record = { .origin = { origin_path, 0, 0 } };

void
rt_record_figures_to(struct log_pool *to)
{
	bool locked = rt_heap_lock();	/* in a child it lets go of the old */

	rt_record_pool = to;
	rt_heap_watch();
	if (locked)
		rt_heap_unlock();
}

static void
make_log(void)
{
	const char *pattern = hh_conf_get("HEAPHOOK_OUTPUT");
	struct log_head *head;
	int fd;

	rt_record_wanted = false;
	if (!pattern || rt_sealed)
		return;
	head = hh_create("heaphook-tlsf", pattern, &record.origin,
	    sizeof *head, &fd);
	if (!head)
		return;
	/* The mapping is enough: it never grows. */
	hh_sys_close(fd);
	hh_head_begin(head, LOG_SUMMARY, LOG_USABLE_NONE, &record.origin);
	rt_record_pool = &head->h.pool;
	rt_record_wanted = true;
	rt_heap_watch();
}

void
rt_record_start(void)
{
	/* Of the two there is one log, the tracker's. */
	if (!hh_conf_get("HEAPHOOK_OUTPUT") || hh_conf_secure()
	    || hh_real_has_peer())
		return;
	hh_clock_choose();
	make_log();
	if (rt_record_pool)
		rt_record_figures();
}

static bool
has_cache(const struct rt_thread *thread)
{
	return thread != &rt_thread_none && thread != &rt_thread_new;
}

/* From here on, or no longer, this is what a thread has told. */
static void
add_told(const struct rt_told *mine, int sign)
{
	struct rt_told *sum = &record.sum;

	sum->gets += (uint64_t)sign * mine->gets;
	sum->puts += (uint64_t)sign * mine->puts;
	sum->blocks += (uint64_t)sign * mine->blocks;
	sum->bytes += (uint64_t)sign * mine->bytes;
	sum->last += (uint64_t)sign * mine->last;
	sum->own += (uint64_t)sign * mine->own;
}

void
rt_record_meet(struct rt_thread *thread)
{
	thread->told = (struct rt_told){
		.blocks = 1, .own = rt_thread_bytes(thread),
	};
	add_told(&thread->told, 1);
}

void
rt_record_forget(struct rt_thread *thread)
{
	add_told(&thread->told, -1);
}

/* What it freed last, which can be of any size.  It may be no block at all,
 * as nobody has looked yet. */
static uint64_t
bytes_freed_last(const struct tlsf_cache *c)
{
	return c->pending && tlsf_is(c->pending, TLSF_USED)
	    ? tlsf_to_next(c->pending) : 0;
}

/* Its cache is the calling thread's own, and itself a block of the heap. */
static struct rt_told
look_at(const struct rt_thread *thread)
{
	struct tlsf_kept kept = tlsf_cache_kept(&thread->cache);
	uint64_t last = thread->cache.pending
	    ? tlsf_to_next(thread->cache.pending) : 0;

	return (struct rt_told){
		.gets = thread->cache.gets, .puts = kept.puts,
		.blocks = kept.blocks + 1, .bytes = kept.bytes - last,
		.last = last, .own = thread->told.own,
	};
}

/* Of who has no cache it is the time, and no more. */
static void
tell_for(struct rt_thread *thread, const struct rt_told *told)
{
	add_told(&thread->told, -1);
	add_told(told, 1);
	thread->told = *told;
}

/* What it has not told itself, while it is not within its cache. */
static void
tell_of(struct rt_thread *thread)
{
	struct rt_told told = look_at(thread);

	told.ticks = thread->told.ticks;
	tell_for(thread, &told);
}

static void
tell_for_each(struct rt_thread *list)
{
	for (struct rt_thread *t = list; t; t = t->next)
		tell_of(t);
}

void
rt_record_drained(struct rt_thread *thread)
{
	thread->drained++;
	if (rt_record_pool)
		tell_of(thread);
}

void
rt_record_drained_depot(void)
{
	record.depot = tlsf_cache_kept(&rt_heap.depot.cache);
}

/* For all threads, at an end.  False in a handler that interrupted the lock's
 * holder. */
static bool
tell_all(void)
{
	if (!rt_heap_lock())
		return false;
	tell_for_each(rt_heap.threads);
	tell_for_each(rt_heap.orphans);
	record.depot = tlsf_cache_kept(&rt_heap.depot.cache);
	rt_heap_unlock();
	return true;
}

/* The one part of what the calling thread keeps that is known at once. */
static void
look_at_last(struct rt_thread *mine)
{
	uint64_t last = bytes_freed_last(&mine->cache);
	uint64_t more = last - mine->told.last;
	uint64_t blocks = (uint64_t)(last != 0) - (mine->told.last != 0);

	mine->told.last += more;
	record.sum.last += more;
	mine->told.blocks += blocks;
	record.sum.blocks += blocks;
	if (record.biggest < last)
		record.biggest = last;
}

static uint64_t
difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* At most so many bytes more are kept than has been told.  No block is twice
 * as big as its place, and what each other thread freed last is taken to be
 * as big as any that was. */
static uint64_t
untold(void)
{
	uint64_t others = rt_heap.caches > 1 ? rt_heap.caches - 1 : 0;
	uint64_t each = record.biggest > LABEL_MOST ? record.biggest
	    : LABEL_MOST + TLSF_OVERHEAD;

	return difference(2 * tlsf_depot_granted(&rt_heap.depot),
	    record.sum.bytes + record.depot.bytes) + others * each;
}

/* Its last point, unless somebody adds one. */
static void
amend_timeline(int64_t live)
{
	uint32_t used = hh_head->h.timeline_used;
	struct log_timeline_point *p = hh_head->timeline;

	if (!used || atomic_load(&telling))
		return;
	p += used - 1;
	p->live = live;
	if (p->peak < live)
		p->peak = live;
}

/* MORE: so much less may be live. */
static void
put_live(uint64_t live, uint64_t more)
{
	struct log_header *h = &hh_head->h;
	uint64_t peak, sure = difference(live, more);

	h->live = (int64_t)live;
	if (h->peak < h->live) {
		h->peak = h->live;
		h->peak_ticks = hh_ticks();
	}
	amend_timeline(h->live);
	if (record.sure < sure)
		record.sure = sure;
	/* All that was ever in use at once bounds what the program had. */
	peak = (uint64_t)h->peak;
	h->peak_error = difference(rt_heap.tlsf.peak, peak);
	if (h->peak_error < peak - record.sure)
		h->peak_error = peak - record.sure;
}

static struct log_counters
counts(void)
{
	return (struct log_counters){
		.allocations = rt_heap.takes + record.sum.gets,
		.frees = rt_heap.gives + record.sum.puts,
		.failed = rt_heap.failed,
	};
}

static void
put_counts(void)
{
	const struct log_counters now = counts(), *before = &record.before;
	struct log_counters *c = &hh_head->h.others;

	c->allocations = now.allocations - before->allocations;
	c->frees = now.frees - before->frees;
	c->failed = now.failed - before->failed;
}

/* What the heap itself counts, and all that has been told. */
static void
put_figures(void)
{
	const struct tlsf *t = &rt_heap.tlsf;
	const struct rt_told *sum = &record.sum;
	uint64_t kept, blocks;

	if (has_cache(rt_mine))
		look_at_last(rt_mine);
	kept = sum->bytes + sum->last + sum->own + record.depot.bytes;
	blocks = t->blocks - sum->blocks - record.depot.blocks;
	put_counts();
	put_live(difference(t->used, kept + blocks * TLSF_OVERHEAD),
	    untold());
}

void
rt_record_figures(void)
{
	const struct tlsf *t = &rt_heap.tlsf;

	*rt_record_pool = (struct log_pool){t->total, t->used, t->peak,
	    tlsf_largest(t), rt_heap.growths};
	if (rt_record_wanted)
		put_figures();
}

/* The figures are put when the lock is let go. */
static void
tell(uint64_t now)
{
	struct rt_thread *mine = rt_mine;
	struct tlsf_kept depot = tlsf_cache_kept(&rt_heap.depot.cache);
	struct rt_told told = { .gets = 0 };
	uint64_t drained = mine->drained;

	if (has_cache(mine))
		told = look_at(mine);
	if (!rt_heap_lock())
		return;
	if (mine->drained != drained)	/* meanwhile, by another */
		told = look_at(mine);
	told.ticks = now;
	tell_for(mine, &told);
	record.depot = depot;
	rt_heap_unlock();
	hh_head_touch_at(now);
	hh_timeline_note(hh_head->h.live);
}

void
rt_record_tell(void)
{
	uint64_t now = hh_ticks();

	if (!rt_heap_is_ours() || (hh_head && now - rt_mine->told.ticks
	    < hh_clock.ticks_per_s / TOLD_A_SECOND)
	    || atomic_exchange(&telling, true))
		return;
	if (!hh_head)
		make_log();
	if (rt_record_wanted)
		tell(now);
	atomic_store(&telling, false);
}

void
rt_record_leave(bool whole)
{
	struct hh_text path = hh_text_in(origin_path, sizeof origin_path);

	rt_record_pool = NULL;
	atomic_store(&telling, false);
	record.sure = 0;
	if (!whole) {
		record.sum = (struct rt_told){ .gets = 0 };
		record.depot = (struct tlsf_kept){ .blocks = 0 };
	} else if (rt_record_wanted) {
		tell_all();
	}
	record.before = counts();
	if (!hh_head)
		return;
	hh_text_add(&path, hh_create_path());
	record.origin.pid = hh_head->h.pid;
	record.origin.process_start = hh_head->h.process_start;
	if (!rt_sealed)
		hh_sys_unmap(hh_head, sizeof *hh_head);
	hh_head = NULL;
}

/* A vfork child is in our memory but not in our process. */
static bool
is_own_log(void)
{
	return hh_head && rt_heap_is_ours()
	    && (rt_sealed || hh_head->h.pid == hh_sys_getpid());
}

void
rt_record_mark(const char *label)
{
	if (rt_record_wanted && hh_head && rt_heap_is_ours())
		hh_head_mark(label);
}

void
rt_record_end(enum log_state state, int status)
{
	bool others;

	if (!is_own_log())
		return;
	others = atomic_exchange(&telling, true);
	if (tell_all() && !others)
		hh_timeline_note(hh_head->h.live);
	if (!others)
		atomic_store(&telling, false);
	if (!rt_sealed)
		hh_head_touch();
	hh_head_set_state(state, status);
}
