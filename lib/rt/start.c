/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "start.h"

#include <pthread.h>

#include "../interpose/backend.h"
#include "../interpose/conf.h"
#include "../interpose/real.h"
#include "../interpose/summary.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "drain.h"
#include "heap.h"
#include "hooks.h"
#include "lock.h"
#include "pool.h"
#include "record.h"

enum {
	THREAD_KEEPS = 4 << 20,
	LOCKS_PAGE = 4096,
};

static void
set_bounds(void)
{
	if (!rt_settings.has_thread_cache)
		rt_settings.thread_cache = THREAD_KEEPS;
	tlsf_depot_init(&rt_heap.depot);
	rt_heap_bound();
}

/* Old kernels wipe nothing: then only fork()'s own handlers tell. */
static void
make_locks(void)
{
	struct rt_locks *locks = hh_sys_map_private(LOCKS_PAGE);

	if (!locks)
		return;
	rt_lock_make_usable(&locks->heap);
	rt_lock_make_usable(&locks->growth);
	if (hh_sys_wipe_on_fork(locks, LOCKS_PAGE))
		rt_locks = locks;
	else
		hh_sys_unmap(locks, LOCKS_PAGE);
}

/* The tracker before us is as it should be, and says itself what is not.  A
 * program that brings its own malloc has its reasons. */
static void
say_order(void)
{
	const struct hh_real_order *order = &hh_real_order;

	if (order->other_first && !hh_real_has_peer())
		hh_say("heaphook-tlsf: ", order->who, ": is loaded before us "
		    "and answers to malloc; what it serves is not from the "
		    "pool: name libheaphook-tlsf.so first in LD_PRELOAD",
		    (char *)NULL);
}

static void
serve(void)
{
	hh_sys_remember_stderr(true);
	rt_settings_read(&rt_settings);
	if (rt_settings.summary)
		hh_summary_keep();
	rt_process = hh_sys_getpid();
	make_locks();
	rt_lock_start();
	tlsf_init(&rt_heap.tlsf);
	rt_pool_start(&rt_heap.tlsf, &rt_settings);
	set_bounds();
	rt_thread_start();
	rt_drain_start();
	rt_record_start();
	say_order();
	rt_mode = RT_SERVING;
	pthread_atfork(rt_heap_fork_begins, rt_heap_fork_parent,
	    rt_heap_fork_child);
}

void
rt_start(void)
{
	if (rt_mode != RT_UNBORN)
		return;
	rt_mode = RT_STARTING;
	/* With more rights than its caller has, it does not do what the
	 * caller's variables say. */
	if (hh_conf_secure() || !hh_conf_wanted()) {
		rt_mode = RT_ASIDE;
		return;
	}
	hh_real_find();
	serve();
}

bool
rt_serves(void)
{
	rt_start();
	return rt_mode == RT_SERVING;
}

void
rt_unreserve(void)
{
	if (!rt_lock(&rt_locks->growth))
		return;
	rt_pool_unreserve();
	rt_unlock(&rt_locks->growth);
}

void
hh_backend_start(void)
{
	rt_start();
}
