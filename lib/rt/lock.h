/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that lends the waiter's priority to its holder (FUTEX_LOCK_PI).
 *
 * It is held for some 200 instructions, so who finds it taken looks again
 * for about as long before the kernel is asked to wait.  Not recursive:
 * rt_lock() says false in a signal handler that interrupted its holder. */
#ifndef RT_LOCK_H
#define RT_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct rt_lock {
	_Atomic uint32_t usable;	/* 1: also where one waits for a moment;
					 * 0 where a fork has wiped it */
	_Atomic uint32_t holder;	/* 0, or its tid; the kernel adds a bit
					 * when there are waiters */
};

static const struct rt_lock rt_lock_left = { .usable = 1 };

/* The calling thread's id; 0 while it is not known, as in a forked child. */
extern _Thread_local uint32_t rt_tid __attribute__((visibility("hidden")));

/* More than 0: there is a filter of system calls, which children keep. */
extern int rt_filtered __attribute__((visibility("hidden")));

/* Find it out, unless it is known.  Behind a filter the kernel is not asked,
 * and a number taken that no thread has: whoever waits for its holder lends
 * no priority. */
void rt_lock_know_oneself(void);

/* libc's word on whether the process has one thread: no atomics then. */
extern const char *rt_single __attribute__((visibility("hidden")));

void rt_lock_start(void);

/* Slow: the first time of a thread, and when the lock is taken. */
bool rt_lock_wait(struct rt_lock *lock);
bool rt_lock_is_mine(const struct rt_lock *lock);

/* In a forked child, which had it under its parent's number. */
void rt_lock_pass(struct rt_lock *lock);
void rt_lock_wake(struct rt_lock *lock);

/* False also when the thread is not known yet.  The lock is compared as bytes,
 * which is one instruction less than to load what is atomic, and its parts at
 * once. */
static inline bool
rt_lock_at_once(struct rt_lock *lock)
{
	uint32_t nobody = 0, me = rt_tid;

	if (!__builtin_expect(me != 0, 1)
	    || !__builtin_expect(memcmp((const void *)lock, &rt_lock_left,
	        sizeof rt_lock_left) == 0, 1))
		return false;
	/* Pairs with the release of rt_unlock(). */
	if (__builtin_expect(!*rt_single, 0))
		return atomic_compare_exchange_strong_explicit(&lock->holder,
		    &nobody, me, memory_order_acquire, memory_order_relaxed);
	atomic_store_explicit(&lock->holder, me, memory_order_relaxed);
	return true;
}

static inline void
rt_lock_make_usable(struct rt_lock *lock)
{
	atomic_store_explicit(&lock->usable, 1, memory_order_relaxed);
}

static inline bool
rt_lock(struct rt_lock *lock)
{
	return __builtin_expect(rt_lock_at_once(lock), 1)
	    || rt_lock_wait(lock);
}

static inline void
rt_unlock(struct rt_lock *lock)
{
	uint32_t me;

	if (__builtin_expect(*rt_single, 1)) {
		atomic_store_explicit(&lock->holder, 0, memory_order_release);
		return;
	}
	me = rt_tid;
	if (!__builtin_expect(atomic_compare_exchange_strong_explicit(
	    &lock->holder, &me, 0, memory_order_release,
	    memory_order_relaxed), 1))
		rt_lock_wake(lock);
}

#endif
