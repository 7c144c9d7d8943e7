/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "drain.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "../interpose/sys.h"
#include "heap.h"
#include "record.h"
#include "thread.h"

static long
ask(int command)
{
	return hh_sys_call(SYS_membarrier, command, 0, 0, 0, 0, 0);
}

void
rt_drain_start(void)
{
	ask(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/* Every thread of the process has come by a barrier: what it stored before is
 * seen here, and it sees what was stored here.  False: not with this kernel,
 * or behind a filter. */
static bool
all_come_by(void)
{
	long error;

	if (rt_sealed)
		return false;
	error = ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	if (error == -EPERM) {	/* a child that does not inherit it */
		rt_drain_start();
		error = ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	}
	return error == 0;
}

static void
drain(struct tlsf_cache *c)
{
	while (tlsf_cache_drain(c, &rt_heap.depot, &rt_heap.tlsf))
		;
}

static void
drain_orphans(void)
{
	while (rt_heap.orphans) {
		tlsf_cache_mend(&rt_heap.orphans->cache);
		drain(&rt_heap.orphans->cache);
		rt_thread_discard_orphan();
	}
}

static void
drain_mine(void)
{
	struct tlsf_cache *c = &rt_mine->cache;

	if (!tlsf_cache_enter_locked(c))
		return;
	drain(c);
	rt_record_drained(rt_mine);
	tlsf_cache_leave(c);
}

/* T, or who comes next, but for the calling thread. */
static struct rt_thread *
other_from(struct rt_thread *t)
{
	return t && t == rt_mine ? t->next : t;
}

#define FOR_OTHERS(t) \
	for (struct rt_thread *t = other_from(rt_heap.threads); t; \
	    t = other_from(t->next))

/* Who is within when all have come by has entered before, and is left. */
static bool
drain_others(void)
{
	bool all = true;

	if (!other_from(rt_heap.threads))
		return true;
	FOR_OTHERS(t)
		tlsf_cache_close(&t->cache);
	if (all_come_by())
		FOR_OTHERS(t) {
			if (!tlsf_cache_is_left(&t->cache)) {
				all = false;
				continue;
			}
			drain(&t->cache);
			rt_record_drained(t);
		}
	FOR_OTHERS(t)
		tlsf_cache_open(&t->cache);
	return all;
}

bool
rt_drain_locked(void)
{
	drain(&rt_heap.depot.cache);
	drain_orphans();
	drain_mine();
	rt_record_drained_depot();
	return drain_others();
}
