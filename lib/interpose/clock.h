/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the events, in ticks of some 4 to 8 ns: fine enough to
 * order threads, coarse enough that most steps fit two bytes. */
#ifndef HH_CLOCK_H
#define HH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "entry.h"
#include "sys.h"

struct hh_clock {
	bool counter;		/* the processor's, else CLOCK_MONOTONIC */
	unsigned shift;
	uint64_t ticks_per_s;	/* rough */
};

extern HH_OWN struct hh_clock hh_clock;

/* Find out which clock serves and how fast it goes: look, and look again
 * when other work of start is done, which takes about as long as that must.
 * Once, before the first hh_ticks(). */
void hh_clock_choose(void);
void hh_clock_measure(void);

static inline uint64_t
hh_ticks(void)
{
#if defined __x86_64__
	if (__builtin_expect(hh_clock.counter, 1))
		return __builtin_ia32_rdtsc() >> hh_clock.shift;
#elif defined __aarch64__
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v >> hh_clock.shift;
#endif
	return hh_sys_monotonic_quick_ns() >> hh_clock.shift;
}

/* The same clock as fine as it is, for how long something takes: 1 << shift
 * of these units are a tick.  What comes before is done then, and nothing
 * behind it has begun. */
static inline uint64_t
hh_clock_units(void)
{
#if defined __x86_64__
	if (hh_clock.counter) {
		uint64_t v;

		__asm__ volatile("lfence" : : : "memory");
		v = __builtin_ia32_rdtsc();
		__asm__ volatile("lfence" : : : "memory");
		return v;
	}
#elif defined __aarch64__
	uint64_t v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb"
	    : "=r"(v) : : "memory");
	return v;
#endif
	return hh_sys_monotonic_quick_ns();
}

#endif
