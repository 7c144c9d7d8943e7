/* SPDX-License-Identifier: Apache-2.0 */
/* What a step changes at its sites: in a header, for nearly every event of a
 * log has one. */
#ifndef TOOLS_SITES_CHANGE_H
#define TOOLS_SITES_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "estimate.h"
#include "growth.h"
#include "replay.h"
#include "sites.h"

/* Once for samples and once, without a look at what only they have, for all
 * others. */
#define SITES_INLINE __attribute__((always_inline)) static inline

/* Of ticks those that a sum of lives counts: too few for one that is more
 * than 64 bits hold. */
enum { SITES_LIFE_SHIFT = 10 };

static inline struct site *
sites_at(struct sites *s, uint32_t number)
{
	if (number >= s->room)
		sites_more(s, number);
	return s->list + number;
}

/* What BLOCK stands for. */
SITES_INLINE struct estimate
sites_worth(const struct sites *s, const struct block *block, bool sampled)
{
	if (sampled)
		return estimate_block(block, (double)s->mean);
	return (struct estimate){ 1, block->requested, 0 };
}

/* The variance of its bytes. */
static inline double
sites_variance(const struct estimate *e, const struct block *block)
{
	double bytes = (double)block_usable(block);

	return e->variance * (bytes * bytes);
}

/* How long BLOCKS have lived that came with the clock. */
static inline uint64_t
sites_lives(bool sampled, uint64_t blocks, uint64_t ticks)
{
	if (sampled)
		return estimate_whole((double)(ticks >> SITES_LIFE_SHIFT)
		    * ((double)blocks / (1 << ESTIMATE_SHIFT)));
	return blocks * (ticks >> SITES_LIFE_SHIFT);
}

/* One that is about to change. */
SITES_INLINE struct site *
sites_changing(struct sites *s, uint32_t number)
{
	struct site *site = sites_at(s, number);

	growth_before(&site->growth, &s->clock, site->live_bytes);
	if (site->peak == s->peak)
		return site;
	site->peak = s->peak;
	site->peak_blocks = site->live_blocks;
	site->peak_bytes = site->live_bytes;
	site->variance.peak = site->variance.live;
	return site;
}

static inline uint64_t *
sites_last(struct sites *s, uint32_t thread)
{
	thread -= REPLAY_NO_THREAD;
	if (thread >= s->last_room)
		sites_more_threads(s, thread);
	return s->last + thread;
}

/* BLOCK is its thread's newest: for who asks for what is temporary only. */
static inline void
sites_remember(struct sites *s, const struct block *block)
{
	*sites_last(s, block->owner) = block->address;
}

/* Whether the block that a step frees was temporary.  What realloc gives back
 * lives on elsewhere. */
SITES_INLINE bool
sites_was_newest(struct sites *s, const struct replay_step *step)
{
	uint64_t *last;

	if (step->come || step->thread == REPLAY_NO_THREAD
	    || step->thread != step->gone->owner)
		return false;
	last = sites_last(s, step->thread);
	if (*last != step->gone->address)
		return false;
	*last = 0;
	return true;
}

/* In a sample nobody knows which block came last. */
SITES_INLINE struct site *
sites_go(struct sites *s, const struct replay_step *step, bool sampled)
{
	struct site *site = sites_changing(s, step->gone->site);
	const struct estimate e = sites_worth(s, step->gone, sampled);

	site->live_blocks -= e.blocks;
	site->live_bytes -= e.bytes;
	site->lived += sites_lives(sampled, e.blocks, step->ticks);
	if (sampled) {
		double lost = sites_variance(&e, step->gone);

		site->variance.live -= lost;
		site->gone += lost;
	} else if (s->counts && step->freed) {
		site->temporary += sites_was_newest(s, step);
	}
	return site;
}

SITES_INLINE void
sites_count(struct sites *s, struct site *site, const struct block *block,
    const struct estimate *e, bool sampled)
{
	site->allocations += e->blocks;
	/* It may be more than 64 bits hold. */
	if (__builtin_add_overflow(site->allocated_bytes, e->bytes,
	    &site->allocated_bytes))
		site->allocated_bytes = UINT64_MAX;
	if (sampled) {
		site->variance.allocations += e->variance;
		site->variance.allocated += sites_variance(e, block);
	}
	sites_remember(s, block);
}

SITES_INLINE void
sites_come(struct sites *s, const struct replay_step *step, bool sampled)
{
	struct site *site = sites_changing(s, step->come->site);
	const struct estimate e = sites_worth(s, step->come, sampled);

	site->live_blocks += e.blocks;
	site->live_bytes += e.bytes;
	site->lived -= sites_lives(sampled, e.blocks, step->ticks);
	if (sampled)
		site->variance.live += sites_variance(&e, step->come);
	if (site->most_bytes < site->live_bytes) {
		site->most_bytes = site->live_bytes;
		site->most_blocks = site->live_blocks;
	}
	if (s->counts)
		sites_count(s, site, step->come, &e, sampled);
}

/* Live bytes change: what comes and what goes, at one instant. */
SITES_INLINE void
sites_change(struct sites *s, const struct replay_step *step, bool sampled)
{
	struct site *site = NULL;

	growth_now(&s->clock, step->ticks);
	if (step->gone)
		site = sites_go(s, step, sampled);
	if (step->come) {
		sites_come(s, step, sampled);
		if (step->gone)
			site = sites_at(s, step->gone->site);
	}
	/* Not before: what realloc replaces at its site leaves no gap. */
	if (site)
		growth_after(&site->growth, site->live_bytes);
}

#endif
