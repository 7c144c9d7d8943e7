/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "thread.h"

#include <pthread.h>

#include "drain.h"
#include "heap.h"
#include "record.h"

/* What caches take themselves is so small a part of the pool: the threads that
 * come first have long ones, then short ones, and the last have none. */
static const unsigned parts[] = { [CACHE_LONG] = 64, [CACHE_SHORT] = 32 };
static size_t sizes[2];

struct rt_thread rt_thread_new, rt_thread_none;
_Thread_local struct rt_thread *rt_mine = &rt_thread_new;

static pthread_key_t key;
static bool has_key;
static _Thread_local bool ended;
static _Thread_local struct rt_thread *ending;	/* gives back what it kept */

static void
link_locked(struct rt_thread *thread, struct rt_thread **list)
{
	thread->next = *list;
	thread->from = list;
	if (*list)
		(*list)->from = &thread->next;
	*list = thread;
}

static void
unlink_locked(struct rt_thread *thread)
{
	*thread->from = thread->next;
	if (thread->next)
		thread->next->from = thread->from;
}

/* It has nothing left but its counts. */
static void
discard_locked(struct rt_thread *thread)
{
	rt_record_forget(thread);
	rt_heap.takes += thread->cache.gets;
	rt_heap.gives += tlsf_cache_kept(&thread->cache).puts;
	rt_heap.own -= rt_thread_bytes(thread);
	rt_heap.caches--;
	unlink_locked(thread);
	tlsf_free(&rt_heap.tlsf, thread);
	rt_heap_bound();
}

/* The lock is let go after each block, for who waits for it. */
static bool
give_back(struct rt_thread *thread)
{
	bool more;

	if (!rt_heap_lock())
		return false;
	more = tlsf_cache_drain(&thread->cache, &rt_heap.depot, &rt_heap.tlsf);
	if (!more)
		discard_locked(thread);
	rt_heap_unlock();
	return more;
}

/* Other threads' destructors may run after this one: what they free and
 * allocate goes straight to the heap. */
static void
end(void *mine)
{
	ending = mine;
	rt_mine = &rt_thread_none;
	ended = true;
	while (give_back(mine))
		;
	ending = NULL;
}

void
rt_thread_start(void)
{
	for (int i = CACHE_SHORT; i <= CACHE_LONG; i++)
		sizes[i] = offsetof(struct rt_thread, cache)
		    + tlsf_cache_bytes((enum tlsf_length)i);
	tlsf_cache_bar(&rt_thread_new.cache);
	tlsf_cache_bar(&rt_thread_none.cache);
	has_key = pthread_key_create(&key, end) == 0;
}

/* Within what may be kept; for a short one others give what they have. */
static bool
has_room_locked(enum tlsf_length length)
{
	const struct tlsf_depot *d = &rt_heap.depot;
	int64_t bytes = (int64_t)sizes[length] + TLSF_OVERHEAD;

	if (rt_heap.own + (uint64_t)bytes > rt_heap.tlsf.total / parts[length])
		return false;
	if (length == CACHE_SHORT && bytes > d->left * TLSF_ALIGN)
		rt_drain_locked();
	return bytes <= d->left * TLSF_ALIGN;
}

static struct rt_thread *
make_locked(enum tlsf_length length)
{
	struct rt_thread *thread = NULL;

	if (has_room_locked(length))
		thread = tlsf_memalign(&rt_heap.tlsf, RT_LINE, sizes[length]);
	if (!thread)
		return NULL;
	tlsf_cache_init(&thread->cache, length);
	rt_record_meet(thread);
	rt_heap.own += rt_thread_bytes(thread);
	rt_heap.caches++;
	rt_heap_bound();
	return thread;
}

static struct rt_thread *
find_locked(void)
{
	struct rt_thread *thread = rt_heap.orphans;

	if (!thread) {
		thread = make_locked(CACHE_LONG);
		return thread ? thread : make_locked(CACHE_SHORT);
	}
	unlink_locked(thread);
	tlsf_cache_mend(&thread->cache);
	tlsf_cache_leave(&thread->cache);
	tlsf_cache_open(&thread->cache);
	return thread;
}

void
rt_thread_begin(void)
{
	struct rt_thread *thread = NULL;

	if (!rt_heap_lock())
		return;
	/* A handler may have come before, and have begun. */
	if (rt_mine == &rt_thread_new) {
		if (has_key && rt_settings.thread_cache)
			thread = find_locked();
		rt_mine = thread ? thread : &rt_thread_none;
	}
	if (thread)
		link_locked(thread, &rt_heap.threads);
	rt_heap_unlock();
	if (thread)	/* which may allocate */
		pthread_setspecific(key, thread);
}

void
rt_thread_abandon(void)
{
	rt_heap.threads = rt_heap.orphans = NULL;
	rt_heap.caches = 0;
	rt_heap.own = 0;
	rt_mine = &rt_thread_none;
	rt_settings.thread_cache = 0;
	if (has_key)
		pthread_setspecific(key, NULL);
}

void
rt_thread_retry(void)
{
	if (rt_mine == &rt_thread_none && !ended)
		rt_mine = &rt_thread_new;
}

void
rt_thread_survive(void)
{
	struct rt_thread *next;

	for (struct rt_thread *t = rt_heap.threads; t; t = next) {
		next = t->next;
		if (t == rt_mine || t == ending)
			continue;
		unlink_locked(t);
		link_locked(t, &rt_heap.orphans);
	}
}

void
rt_thread_discard_orphan(void)
{
	discard_locked(rt_heap.orphans);
}
