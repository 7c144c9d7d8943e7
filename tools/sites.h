/* SPDX-License-Identifier: Apache-2.0 */
/* What each site allocated, has, and had when the program had most; of a
 * sample, what that comes to by estimate.
 *
 * Nobody goes through all sites at each peak: they are numbered, and a site
 * that changes keeps what it had at the last, if it has not changed since. */
#ifndef TOOLS_SITES_H
#define TOOLS_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "growth.h"
#include "profile.h"
#include "replay.h"

/* Blocks are in parts where they are a sample's; see estimate.h.  What each
 * change needs comes first: of many sites none is in the cache. */
struct site {
	uint64_t live_blocks, live_bytes;
	uint64_t peak;				/* number of the last one
						 * before the last change */
	uint64_t lived;		/* when blocks went, less when they came */
	struct growth growth;
	uint64_t allocations, allocated_bytes;
	uint64_t most_blocks, most_bytes;
	uint64_t peak_blocks, peak_bytes;	/* at the peak of that number */
	uint64_t temporary;
	struct profile_error variance;		/* 0 but of a sample */
	double gone;				/* variance of what went */
};

struct sites {
	struct stacks stacks;
	double mean;			/* bytes from one block of a sample to
					 * the next; 0: all blocks are here */
	struct site *list;		/* by number, as stacks give it */
	size_t room;
	bool counts;			/* calls, too: they have begun */
	uint64_t peak;			/* number of the program's last one */
	uint64_t *last;			/* by thread: its newest block, if that
					 * is not freed */
	size_t last_room;
	struct growth_clock clock;
};

void sites_init(struct sites *s);
void sites_free(struct sites *s);

/* Sites that will soon change; unknown numbers do no harm. */
void sites_expect(const struct sites *s, const uint32_t *numbers, unsigned n);

/* Live bytes change: both at one instant.  NULL: nothing. */
void sites_change(struct sites *s, const struct block *came,
    const struct block *gone, uint64_t ticks);

/* What is live now has lived, and growth and calls count, from now on. */
void sites_begin(struct sites *s, uint64_t ticks);

/* The program has more live bytes than ever before. */
static inline void
sites_peak(struct sites *s)
{
	s->peak++;
}

/* BLOCK is its thread's newest: for who asks for what is temporary only. */
void sites_remember(struct sites *s, const struct block *block);

/* Whether the block that a step frees was temporary, which is counted. */
bool sites_count_free(struct sites *s, const struct replay_step *step);

/* Into P, which is nothing of it yet; lives last until END. */
void sites_give(struct profile *p, struct sites *s, uint64_t end,
    double ticks_per_s);

#endif
