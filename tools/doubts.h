/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be told yet, where clocks differ: frees whose block has not
 * come, and blocks that another has come upon.  There are few at a time. */
#ifndef TOOLS_DOUBTS_H
#define TOOLS_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"

enum { DOUBTS = 64 };

struct doubt {
	uint64_t time;
	uint32_t thread, slot;		/* of a free */
	uint64_t took;			/* too */
	struct block block;		/* of a free, only its address */
};

struct doubts {
	unsigned count;
	struct doubt list[DOUBTS];	/* oldest first */
};

/* There must be room. */
static inline void
doubts_add(struct doubts *d, const struct doubt *doubt)
{
	d->list[d->count++] = *doubt;
}

/* The oldest at ADDRESS goes to *FOUND, and from the list.  False: there is
 * none. */
bool doubts_take(struct doubts *d, uint64_t address, struct doubt *found);

/* The same of the oldest, if it is from before TIME or there is no room. */
bool doubts_expire(struct doubts *d, uint64_t time, struct doubt *found);

/* Who freed an address last, of some addresses. */
enum { RECENT_BITS = 10 };

struct recent {
	struct recent_free {
		uint64_t address, time;
		uint32_t slot;
	} list[1 << RECENT_BITS];
};

static inline struct recent_free *
recent_at(struct recent *r, uint64_t address)
{
	return r->list + (address * UINT64_C(0x9e3779b97f4a7c15)
	    >> (64 - RECENT_BITS));
}

static inline void
recent_add(struct recent *r, uint64_t address, uint64_t time, uint32_t slot)
{
	*recent_at(r, address) = (struct recent_free){ address, time, slot };
}

/* Whether another slot than SLOT freed ADDRESS between FROM and TO. */
static inline bool
recent_has(struct recent *r, uint64_t address, uint32_t slot, uint64_t from,
    uint64_t to)
{
	const struct recent_free *f = recent_at(r, address);

	return f->address == address && f->slot != slot
	    && f->time >= from && f->time <= to;
}

#endif
