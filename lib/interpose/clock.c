/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#if defined __x86_64__
#include <cpuid.h>
#endif

enum {
	NS_SHIFT = 3,		/* 8 ns a tick where the clock counts ns */
	TICKS_AT_MOST = 300000000,
	MEASURE_NS = 50000,	/* good to some 2 %, for those who do not
				 * live long enough for better */
};

struct hh_clock hh_clock = {false, NS_SHIFT, 1000000000 >> NS_SHIFT};

#if defined __x86_64__
/* Whether the time stamp counter runs at one speed in every state. */
static bool
counter_is_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

static uint64_t
counter_frequency(void)
{
	uint64_t ns = hh_sys_monotonic_ns(), from = __builtin_ia32_rdtsc(), to;

	while (hh_sys_monotonic_ns() - ns < MEASURE_NS)
		;
	to = __builtin_ia32_rdtsc();
	return (to - from) * 1000000000 / (hh_sys_monotonic_ns() - ns);
}
#elif defined __aarch64__
static bool
counter_is_steady(void)
{
	return true;
}

static uint64_t
counter_frequency(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(v));
	return v;
}
#else
static bool
counter_is_steady(void)
{
	return false;
}

static uint64_t
counter_frequency(void)
{
	return 0;
}
#endif

void
hh_clock_choose(void)
{
	uint64_t frequency = counter_is_steady() ? counter_frequency() : 0;

	if (!frequency)
		return;
	hh_clock.shift = 0;
	while (frequency >> hh_clock.shift > TICKS_AT_MOST)
		hh_clock.shift++;
	hh_clock.ticks_per_s = frequency >> hh_clock.shift;
	hh_clock.counter = true;
}
