/* SPDX-License-Identifier: Apache-2.0 */
/* What a log says of this heap.  Alone we keep one that is a header and no
 * more, if HEAPHOOK_OUTPUT is set; beside the tracker, its log has the
 * pool's figures.
 *
 * The figures of the pool are right after each call that came to the heap,
 * and so is what is live but for what threads keep.  What their caches have
 * served and keep is told now and then, when a call comes to the heap anyway,
 * and at the end. */
#ifndef RT_RECORD_H
#define RT_RECORD_H

#include <stdbool.h>

#include "../interpose/entry.h"
#include "../log/format.h"
#include "thread.h"

/* Where the figures of the pool go; NULL: nowhere. */
extern HH_OWN struct log_pool *rt_record_pool;

/* Whether there is to be a log of our own. */
extern HH_OWN bool rt_record_wanted;

/* Once, when the heap can serve. */
void rt_record_start(void);

/* The tracker has a place for them, or none any more. */
void rt_record_figures_to(struct log_pool *to);

/* Heap lock held, before it is let go, if there is a place for them. */
void rt_record_figures(void);

/* No lock held, if one is wanted: what the calling thread has counted.  Makes
 * a forked child's log. */
void rt_record_tell(void);

/* Heap lock held: THREAD has a cache from now on. */
void rt_record_meet(struct rt_thread *thread);

/* Heap lock held: THREAD ends, its counts are the heap's now. */
void rt_record_forget(struct rt_thread *thread);

/* Heap lock held: THREAD's cache was emptied, by itself or by another thread,
 * which is in it; and what all exchange was. */
void rt_record_drained(struct rt_thread *thread);
void rt_record_drained_depot(void);

/* In a forked child, before it writes anything: the log is its parent's.
 * WHOLE: its heap is still the parent's. */
void rt_record_leave(bool whole);

void rt_record_mark(const char *label);

/* The process ends, or is replaced, or was not after all. */
void rt_record_end(enum log_state state, int status);

#endif
