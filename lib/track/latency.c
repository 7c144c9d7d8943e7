/* SPDX-License-Identifier: Apache-2.0 */
#include "latency.h"

#include "../interpose/clock.h"
#include "../interpose/real.h"
#include "stream.h"

enum { LOOKS = 64 };

static struct hh_real next;

static _Thread_local uint64_t last;

/* The counters of two processors may differ by more than a call takes. */
static uint64_t
since(uint64_t from)
{
	uint64_t now = hh_clock_units();

	return now > from ? now - from : 1;
}

#define TIMED(result, name, parameters, arguments) \
	static result timed_##name parameters \
	{ \
		uint64_t from = hh_clock_units(); \
		result got = next.name arguments; \
\
		last = since(from); \
		return got; \
	}
HH_REAL_CALLS(TIMED)

static void
timed_free(void *a)
{
	uint64_t from = hh_clock_units();

	next.free(a);
	last = since(from);
}

#define REPLACE(result, name, parameters, arguments) \
	hh_real.name = timed_##name;

void
hh_latency_begin(void)
{
	next = hh_real;
	HH_REAL_CALLS(REPLACE)
	hh_real.free = timed_free;
	__atomic_fetch_or(&hh_mode, HH_MEASURED, __ATOMIC_RELAXED);
}

uint32_t
hh_latency_least(void)
{
	uint64_t least = UINT32_MAX;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t took = since(hh_clock_units());

		least = took < least ? took : least;
	}
	return (uint32_t)least;
}

uint64_t
hh_latency_take(void)
{
	uint64_t took = last;

	last = 0;
	return took;
}
