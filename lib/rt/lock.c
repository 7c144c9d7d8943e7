/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "lock.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "../interpose/sys.h"

/* Looks at the lock before the kernel is asked: some microseconds, more than
 * it is ever held while its holder runs.  Then its holder may have lost its
 * processor to us: twice it is offered back, as what waits in the kernel is
 * served in turn, a switch of threads for each call, until nobody waits any
 * more.  With more threads than processors that is 100 times slower. */
enum { LOOKS = 128, OFFERS = 2 };

_Thread_local uint32_t rt_tid;

static const char never_sure;
const char *rt_single = &never_sure;

void
rt_lock_start(void)
{
	const char *found = dlsym(RTLD_DEFAULT, "__libc_single_threaded");

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
futex(struct rt_lock *lock, int operation)
{
	return hh_sys_call(SYS_futex, (long)(uintptr_t)&lock->holder,
	    operation | FUTEX_PRIVATE_FLAG, 0, 0, 0, 0);
}

bool
rt_lock_is_mine(const struct rt_lock *lock)
{
	return rt_tid && (atomic_load_explicit(&lock->holder,
	    memory_order_relaxed) & FUTEX_TID_MASK) == rt_tid;
}

bool
rt_lock_wait(struct rt_lock *lock)
{
	if (!rt_tid)
		rt_tid = (uint32_t)hh_sys_gettid();
	if (rt_lock_is_mine(lock))
		return false;
	for (int i = 0; i < OFFERS; i++) {
		if (watch(lock))
			return true;
		hh_sys_yield();
	}
	/* The kernel takes it for us, and sets the holder. */
	while (futex(lock, FUTEX_LOCK_PI) != 0)
		if (try(lock))
			return true;
	atomic_thread_fence(memory_order_acquire);
	return true;
}

void
rt_lock_wake(struct rt_lock *lock)
{
	atomic_thread_fence(memory_order_release);
	futex(lock, FUTEX_UNLOCK_PI);
}
