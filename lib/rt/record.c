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

/* What threads have told, under the heap lock; the rest belongs to whoever
 * is telling. */
static struct {
	struct rt_told sum;
	struct rt_totals before;	/* the log: what its parent counted */
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

void
rt_record_figures(void)
{
	const struct tlsf *t = &rt_heap.tlsf;

	*rt_record_pool = (struct log_pool){t->total, t->used, t->peak,
	    tlsf_largest(t), rt_heap.growths};
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

/* From here on this is what MINE has told. */
static void
add_told(const struct rt_told *mine, int sign)
{
	struct rt_told *sum = &record.sum;

	sum->gets += (uint64_t)sign * mine->gets;
	sum->puts += (uint64_t)sign * mine->puts;
	sum->blocks += (uint64_t)sign * mine->blocks;
	sum->bytes += (uint64_t)sign * mine->bytes;
}

void
rt_record_forget(struct rt_thread *thread)
{
	add_told(&thread->told, -1);
}

/* Its cache is the calling thread's own, and itself a block of the heap. */
static struct rt_told
look_at(const struct rt_thread *thread)
{
	struct tlsf_kept kept = tlsf_cache_kept(&thread->cache);

	return (struct rt_told){
		.gets = thread->cache.gets, .puts = kept.puts,
		.blocks = kept.blocks + 1,
		.bytes = kept.bytes + tlsf_usable(thread) + TLSF_OVERHEAD,
	};
}

/* All that has been told, and what the heap itself counts. */
static struct rt_totals
sum_up_locked(const struct tlsf_kept *depot)
{
	const struct tlsf *t = &rt_heap.tlsf;
	uint64_t kept = record.sum.bytes + depot->bytes;
	uint64_t blocks = t->blocks - record.sum.blocks - depot->blocks;
	struct rt_totals sum = {
		.allocations = rt_heap.takes + record.sum.gets,
		.frees = rt_heap.gives + record.sum.puts,
		.failed = rt_heap.failed, .kept = kept, .peak = t->peak,
	};
	int64_t live = (int64_t)(t->used - kept - blocks * TLSF_OVERHEAD);

	sum.live = live > 0 ? (uint64_t)live : 0;
	return sum;
}

static void
put(const struct rt_totals *sum)
{
	struct log_header *h = &hh_head->h;
	int64_t live = (int64_t)sum->live;

	h->others.allocations = sum->allocations - record.before.allocations;
	h->others.frees = sum->frees - record.before.frees;
	h->others.failed = sum->failed - record.before.failed;
	h->live = live;
	if (h->peak < live) {
		h->peak = live;
		h->peak_ticks = hh_ticks();
	}
	/* All that was ever in use at once bounds what the program had. */
	h->peak_error = sum->peak > (uint64_t)h->peak
	    ? sum->peak - (uint64_t)h->peak : 0;
	hh_timeline_note(live);
}

static bool
has_cache(const struct rt_thread *thread)
{
	return thread != &rt_thread_none && thread != &rt_thread_new;
}

static void
tell(uint64_t now)
{
	struct rt_thread *mine = rt_mine;
	struct tlsf_kept depot = tlsf_cache_kept(&rt_heap.depot.cache);
	struct rt_told told = { .gets = 0 };
	struct rt_totals sum;

	if (has_cache(mine))
		told = look_at(mine);
	told.ticks = now;
	if (!rt_heap_lock())
		return;
	if (has_cache(mine)) {
		add_told(&mine->told, -1);
		add_told(&told, 1);
	}
	mine->told = told;
	sum = sum_up_locked(&depot);
	rt_heap_unlock();
	hh_head_touch_at(now);
	put(&sum);
}

void
rt_record_tell(void)
{
	uint64_t now = hh_ticks();

	if (!rt_locks->ours || (hh_head && now - rt_mine->told.ticks
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
	if (!whole)
		record.sum = (struct rt_told){ .gets = 0 };
	if (rt_record_wanted)
		record.before = whole ? rt_heap_totals() : (struct rt_totals){
		    .allocations = rt_heap.takes, .frees = rt_heap.gives,
		    .failed = rt_heap.failed };
	if (!hh_head)
		return;
	hh_text_add(&path, hh_create_path());
	record.origin.pid = hh_head->h.pid;
	record.origin.process_start = hh_head->h.process_start;
	hh_sys_unmap(hh_head, sizeof *hh_head);
	hh_head = NULL;
}

/* A vfork child is in our memory but not in our process. */
static bool
is_own_log(void)
{
	return hh_head && rt_locks->ours
	    && (rt_sealed || hh_head->h.pid == hh_sys_getpid());
}

void
rt_record_mark(const char *label)
{
	if (rt_record_wanted && hh_head && rt_locks->ours)
		hh_head_mark(label);
}

void
rt_record_end(enum log_state state, int status)
{
	struct rt_totals sum;

	if (!is_own_log())
		return;
	sum = rt_heap_totals();
	if (sum.total && !atomic_exchange(&telling, true)) {
		put(&sum);
		atomic_store(&telling, false);
	}
	if (!rt_sealed)
		hh_head_touch();
	hh_head_set_state(state, status);
}
