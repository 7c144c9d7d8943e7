/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls took: of each kind how many took how long, and the slowest.
 *
 * A histogram has a bucket for each number below LATENCY_STEPS, and as many
 * for each power of two from there on: so what it answers is too high by
 * 1/LATENCY_STEPS at most, in the same memory for any number of calls. */
#ifndef TOOLS_LATENCY_H
#define TOOLS_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "reader.h"
#include "replay.h"

enum {
	LATENCY_STEPS_LOG2 = 5,
	LATENCY_STEPS = 1 << LATENCY_STEPS_LOG2,
	LATENCY_BUCKETS = (65 - LATENCY_STEPS_LOG2) << LATENCY_STEPS_LOG2,
	LATENCY_KINDS = LOG_CALL_FREE + 1,
	LATENCY_SLOWEST = 10,
};

struct latency_histogram {
	uint64_t count, most;
	double total;
	uint64_t buckets[LATENCY_BUCKETS];
};

void latency_count(struct latency_histogram *h, uint64_t took);

/* What PART of all, from 0 to 1, took at most. */
uint64_t latency_quantile(const struct latency_histogram *h, double part);

struct latency_slow {
	uint64_t took, ticks;
	enum log_call call;
	uint32_t thread, site;
	struct profile_number bytes;
};

struct latency {
	struct latency_histogram kinds[LATENCY_KINDS];
	struct latency_slow slowest[LATENCY_SLOWEST];	/* first */
	size_t slow_count;
};

/* What the call of a step took, if it is known. */
void latency_add(struct latency *l, const struct replay_step *step);

/* How many ns a unit of LOG is; 0: it does not say how long calls took. */
double latency_ns(const struct reader *log);

/* Into P, which is nothing of it yet. */
void latency_give(struct profile *p, const struct latency *l,
    const struct reader *log, const struct threads *threads);

#endif
