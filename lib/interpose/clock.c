/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include "../log/format.h"

#if defined __x86_64__
#include <cpuid.h>
#endif

enum {
	NS_SHIFT = 3,		/* 8 ns a tick where the clock counts ns */
	TICKS_AT_MOST = 300000000,
	MEASURE_NS = 50000,	/* good to some 2 %, for those who do not
				 * live long enough for better */
	PRODUCT_BITS = 34,	/* times the ns of a second: 64 bits */
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

static struct log_instant first;	/* of the counter itself */

static struct log_instant
counter_now(void)
{
	uint64_t ns = hh_sys_monotonic_ns();

	return (struct log_instant){__builtin_ia32_rdtsc(), ns};
}

static void
first_look(void)
{
	first = counter_now();
}

/* Start may have been stopped in between, or waited for a server. */
static uint64_t
counter_frequency(void)
{
	struct log_instant now;
	uint64_t ticks, ns;

	do {
		now = counter_now();
		ticks = now.ticks - first.ticks;
		ns = now.monotonic_ns - first.monotonic_ns;
	} while (ns < MEASURE_NS);
	for (; ticks >> PRODUCT_BITS; ticks >>= 1)
		ns >>= 1;
	return ticks * 1000000000 / ns;
}
#elif defined __aarch64__
static bool
counter_is_steady(void)
{
	return true;
}

static void
first_look(void)
{
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

static void
first_look(void)
{
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
	if (counter_is_steady())
		first_look();
}

void
hh_clock_measure(void)
{
	uint64_t frequency;

	if (hh_clock.counter || !counter_is_steady())
		return;
	frequency = counter_frequency();
	if (!frequency)
		return;
	hh_clock.shift = 0;
	while (frequency >> hh_clock.shift > TICKS_AT_MOST)
		hh_clock.shift++;
	hh_clock.ticks_per_s = frequency >> hh_clock.shift;
	hh_clock.counter = true;
}
