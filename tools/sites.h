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
	uint64_t mean;			/* bytes from one block of a sample to
					 * the next; 0: all blocks are here */
	struct site *list;		/* by number, as stacks give it */
	size_t room;
	bool counts;			/* calls, too: they have begun */
	uint64_t peak;			/* number of the program's last one */
	uint64_t *last;			/* by thread, from REPLAY_NO_THREAD on:
					 * its newest block, if that is not
					 * freed */
	size_t last_room;
	struct growth_clock clock;
};

void sites_init(struct sites *s);
void sites_free(struct sites *s);

/* Sites that will soon change; unknown numbers do no harm. */
void sites_expect(const struct sites *s, const uint32_t *numbers, unsigned n);

/* What is live now has lived, and growth and calls count, from now on. */
void sites_begin(struct sites *s, uint64_t ticks);

/* The program has more live bytes than ever before. */
static inline void
sites_peak(struct sites *s)
{
	s->peak++;
}

/* For sites_change.h: room for one of this number, or for its last block. */
void sites_more(struct sites *s, uint32_t number) __attribute__((cold));
void sites_more_threads(struct sites *s, uint32_t thread)
    __attribute__((cold));

/* Into P, which is nothing of it yet; lives last until END. */
void sites_give(struct profile *p, struct sites *s, uint64_t end,
    double ticks_per_s);

#endif
