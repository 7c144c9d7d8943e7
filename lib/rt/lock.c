/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "../interpose/real.h"
#include "../interpose/sys.h"

/* Looks at the lock before the kernel is asked: some microseconds, more than
 * it is ever held while its holder runs.  Then its holder may have lost its
 * processor to us: it is offered back for a moment, as what waits in the
 * kernel for the lock is served in turn, a switch of threads for each call,
 * until nobody waits any more.  With more threads than processors that is
 * 100 times slower, and with hundreds it does not end.  So who has no
 * priority to lend offers often, for longer each time. */
enum {
	LOOKS = 128,
	OFFERS = 2,
	OFFERS_OF_ORDINARY = 64,
	OFFER_NS = 20 * 1000,
	OFFER_MOST_NS = 1000 * 1000,
	WAIT_NS = 50 * 1000 * 1000,

	BEYOND_TIDS = 1 << 29,	/* the kernel's end at 1 << 22 */
};

_Thread_local uint32_t rt_tid;
int rt_filtered;

static const char never_sure;
const char *rt_single = &never_sure;

void
rt_lock_start(void)
{
	const char *found = hh_real_symbol(HH_ANY, "__libc_single_threaded");

	if (found)
		rt_single = found;
}

static inline void
pause_a_little(void)
{
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("yield");
#endif
}

static bool
try(struct rt_lock *lock)
{
	uint32_t nobody = 0;

	return atomic_load_explicit(&lock->holder, memory_order_relaxed) == 0
	    && atomic_compare_exchange_strong_explicit(&lock->holder, &nobody,
	        rt_tid, memory_order_acquire, memory_order_relaxed);
}

static bool
watch(struct rt_lock *lock)
{
	for (int i = 0; i < LOOKS; i++) {
		if (try(lock))
			return true;
		pause_a_little();
	}
	return false;
}

static long
futex(_Atomic uint32_t *word, int operation, uint32_t value,
    const struct timespec *time)
{
	return hh_sys_call(SYS_futex, (long)(uintptr_t)word,
	    operation | FUTEX_PRIVATE_FLAG, value, (long)(uintptr_t)time, 0, 0);
}

/* Asleep for a moment; nobody wakes us.  Not at the holder's word: the
 * kernel takes whoever waits there for one that inherits priority. */
static void
offer(struct rt_lock *lock, long ns)
{
	const struct timespec moment = { .tv_nsec = ns };

	futex(&lock->usable, FUTEX_WAIT, 1, &moment);
}

/* The kernel takes it for us and sets the holder; or it is looked at again
 * after a while, for who left it without the kernel's help. */
static bool
wait_a_while(struct rt_lock *lock)
{
	uint64_t ns = hh_sys_realtime_quick_ns() + WAIT_NS;
	struct timespec until = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	return futex(&lock->holder, FUTEX_LOCK_PI, 0, &until) == 0 || try(lock);
}

/* Behind a filter the kernel is not asked. */
static bool
is_ordinary(void)
{
	if (rt_filtered)
		return true;
	switch (hh_sys_call(SYS_sched_getscheduler, 0, 0, 0, 0, 0, 0)) {
	case SCHED_OTHER:
	case SCHED_BATCH:
	case SCHED_IDLE:
		return true;
	default:
		return false;
	}
}

/* All that can be done without lining up. */
static bool
wait_aside(struct rt_lock *lock)
{
	long ns = OFFER_NS;

	for (int i = 0; i < OFFERS_OF_ORDINARY; i++) {
		if (watch(lock))
			return true;
		if (i == OFFERS && !is_ordinary())
			return false;
		offer(lock, ns);
		if (i >= OFFERS && ns < OFFER_MOST_NS)
			ns += ns / 2;
	}
	return false;
}

bool
rt_lock_is_mine(const struct rt_lock *lock)
{
	return rt_tid && (atomic_load_explicit(&lock->holder,
	    memory_order_relaxed) & FUTEX_TID_MASK) == rt_tid;
}

void
rt_lock_pass(struct rt_lock *lock)
{
	atomic_store_explicit(&lock->holder, rt_tid, memory_order_relaxed);
}

void
rt_lock_know_oneself(void)
{
	static _Atomic uint32_t numbers = BEYOND_TIDS;

	if (!rt_tid)
		rt_tid = rt_filtered ? atomic_fetch_add(&numbers, 1)
		    : (uint32_t)hh_sys_gettid();
}

bool
rt_lock_wait(struct rt_lock *lock)
{
	rt_lock_know_oneself();
	if (rt_lock_is_mine(lock))
		return false;
	if (wait_aside(lock))
		return true;
	while (!wait_a_while(lock))
		;
	atomic_thread_fence(memory_order_acquire);
	return true;
}

void
rt_lock_wake(struct rt_lock *lock)
{
	long error;

	atomic_thread_fence(memory_order_release);
	while ((error = futex(&lock->holder, FUTEX_UNLOCK_PI, 0, NULL))
	    == -EAGAIN || error == -EINTR)
		;
	/* A vfork child is another thread under its parent's name: the kernel
	 * does not let it hand over. */
	if (error == -EPERM)
		atomic_store_explicit(&lock->holder, 0, memory_order_release);
}
