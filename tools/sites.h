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

/* Blocks are in parts where they are a sample's; see estimate.h. */
struct site {
	uint64_t allocations, allocated_bytes, temporary;
	uint64_t live_blocks, live_bytes;
	uint64_t peak_blocks, peak_bytes;	/* at the peak before the last
						 * change */
	uint64_t peak;				/* that one's number */
	uint64_t most_blocks, most_bytes;
	struct profile_error variance;		/* 0 but of a sample */
	uint64_t lived;		/* when blocks went, less when they came */
	struct growth growth;
};

struct sites {
	struct stacks stacks;
	double mean;			/* bytes from one block of a sample to
					 * the next; 0: all blocks are here */
	struct site *list;		/* by number, as stacks give it */
	size_t room;
	uint64_t peak;			/* number of the program's last one */
	uint64_t *last;			/* by thread: its newest block, if that
					 * is not freed */
	size_t last_room;
	struct growth_clock clock;
};

void sites_init(struct sites *s);
void sites_free(struct sites *s);

/* Live bytes change: both at one instant.  NULL: nothing. */
void sites_change(struct sites *s, const struct block *come,
    const struct block *gone, uint64_t ticks);

/* What is live now has lived, and growth counts, from now on. */
void sites_begin(struct sites *s, uint64_t ticks);

/* The program has more live bytes than ever before. */
static inline void
sites_peak(struct sites *s)
{
	s->peak++;
}

/* Calls are counted.  Of a free, whether its block was temporary. */
void sites_count_come(struct sites *s, const struct block *block);
bool sites_count_free(struct sites *s, const struct replay_step *step);

/* Into P, which is nothing of it yet; lives last until END. */
void sites_give(struct profile *p, struct sites *s, uint64_t end,
    double ticks_per_s);

#endif
