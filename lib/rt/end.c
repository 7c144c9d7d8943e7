/* SPDX-License-Identifier: Apache-2.0 */
/* What the process does besides allocating, and what the program asks. */
#include <string.h>

#define HEAPHOOK_IMPLEMENTATION
#include "../heaphook.h"
#include "../interpose/backend.h"
#include "../interpose/entry.h"
#include "../interpose/head.h"
#include "../interpose/summary.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "heap.h"
#include "hooks.h"
#include "record.h"
#include "start.h"

/* Of what is free, what no request can have at once. */
static uint64_t
fragmented_percent(const struct rt_totals *sum)
{
	uint64_t rest = sum->total - sum->used;

	return rest ? 100 * (rest - sum->largest) / rest : 0;
}

static void
add(struct hh_text *t, const char *text, uint64_t v)
{
	hh_text_add(t, text);
	hh_text_add_uint(t, v);
}

static void
say_summary(void)
{
	struct rt_totals sum = rt_heap_totals();
	char line[320];
	struct hh_text t = hh_text_in(line, sizeof line);

	add(&t, "heaphook-tlsf: pool ", sum.total);
	add(&t, " bytes, peak ", sum.peak);
	add(&t, ", growths ", sum.growths);
	add(&t, ", largest free block ", sum.largest);
	add(&t, ", fragmentation ", fragmented_percent(&sum));
	add(&t, " %, live ", sum.live);
	add(&t, ", kept by threads ", sum.kept);
	hh_text_add(&t, "\n");
	hh_summary_write(line, (size_t)(t.at - line));
}

/* The first time that can be asked. */
static bool
is_vfork_child(void)
{
	if (rt_filtered)
		return false;
	/* A clone that has not called yet finds itself. */
	if (rt_mode == RT_SERVING && !rt_heap_is_ours() && rt_heap_lock())
		rt_heap_unlock();
	return rt_process && rt_process != hh_sys_getpid();
}

bool
hh_backend_seal(bool filter)
{
	if (is_vfork_child())
		return false;
	if (!rt_filtered)
		rt_lock_know_oneself();
	__atomic_fetch_add(&rt_sealed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rt_filtered, filter, __ATOMIC_RELAXED);
	return true;
}

void
hh_backend_seal_failed(bool filter)
{
	__atomic_fetch_sub(&rt_sealed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&rt_filtered, filter, __ATOMIC_RELAXED);
}

void
hh_backend_exit(int status)
{
	bool is_ours, wanted = rt_record_wanted;

	if (rt_mode != RT_SERVING)
		return;
	/* Not of a vfork child, which is in our memory only. */
	is_ours = !rt_sealed && rt_process == hh_sys_getpid();
	if (is_ours) {
		rt_record_wanted &= hh_head != NULL;	/* it is late for one */
		rt_heap_settle();
		rt_record_wanted = wanted;	/* it was, if we go on */
	}
	rt_record_end(LOG_EXITED, status);
	if (is_ours && hh_summary_wanted())
		say_summary();
}

void
hh_backend_exec(void)
{
	rt_record_end(LOG_EXECED, 0);
}

void
hh_backend_exec_failed(void)
{
	rt_record_end(LOG_RUNNING, 0);
}

/* The heap's record has no names. */
void
hh_backend_thread_named(unsigned long thread, const char *name)
{
	(void)thread;
	(void)name;
}

int
hh_backend_hidden(int fds[HH_HIDDEN])
{
	fds[0] = hh_summary_fd();
	return fds[0] >= 0;
}

bool
hh_backend_move_descriptor(int fd)
{
	(void)fd;
	return hh_summary_move();
}

/* The public functions; heaphook.h names them for programs. */
int heaphook_get_stats(struct heaphook_stats *, size_t);
void heaphook_mark(const char *);
void heaphook_pool_record_(struct log_pool *);
void heaphook_pause(void);
void heaphook_resume(void);

HH_EXPORT int
heaphook_get_stats(struct heaphook_stats *out, size_t size)
{
	struct rt_totals sum;
	struct heaphook_stats stats;

	rt_start();
	if (rt_mode != RT_SERVING)
		return -1;
	sum = rt_heap_totals();
	stats = (struct heaphook_stats){
		.allocations = sum.allocations, .frees = sum.frees,
		.failed = sum.failed, .live_bytes = sum.live,
		.peak_bytes = sum.peak,
		.pool_bytes = sum.total, .pool_used_bytes = sum.used,
		.pool_largest_free_bytes = sum.largest,
		.pool_growths = sum.growths,
	};
	memcpy(out, &stats, size < sizeof stats ? size : sizeof stats);
	return 0;
}

HH_EXPORT void
heaphook_mark(const char *label)
{
	rt_start();
	rt_record_mark(label ? label : "");
}

/* Not for programs: the tracker, loaded too, calls it. */
HH_EXPORT void
heaphook_pool_record_(struct log_pool *to)
{
	if (rt_serves())
		rt_record_figures_to(to);
}

/* There are no events to pause. */

HH_EXPORT void
heaphook_pause(void)
{
}

HH_EXPORT void
heaphook_resume(void)
{
}
