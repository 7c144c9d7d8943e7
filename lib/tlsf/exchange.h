/* SPDX-License-Identifier: Apache-2.0 */
/* What a call does that the thread's cache cannot serve, compiled into who
 * holds the lock: the calls within would be a twentieth of its instructions. */
#ifndef TLSF_EXCHANGE_H
#define TLSF_EXCHANGE_H

#include "cache.h"
#include "core.h"

/* UNITS of its room, which it has. */
INLINE void
give_room_back(struct tlsf_cache *c, struct tlsf_depot *d, uint64_t units)
{
	c->granted -= units;
	c->room -= units;
	d->left += (int64_t)units;
}

/* What C has beyond its share, since that became less. */
INLINE void
shrink(struct tlsf_cache *c, struct tlsf_depot *d)
{
	uint64_t beyond = c->granted - d->each;

	if (c->granted > d->each)
		give_room_back(c, d, beyond < c->room ? beyond : c->room);
}

/* Whether C may be granted UNITS more, if it has MOST with them. */
INLINE bool
may_have(const struct tlsf_cache *c, const struct tlsf_depot *d,
    uint64_t units, uint64_t most)
{
	return c->granted + units <= most && (int64_t)units <= d->left;
}

INLINE void
grant(struct tlsf_cache *c, struct tlsf_depot *d, uint64_t units)
{
	c->granted += units;
	c->room += units;
	d->left -= (int64_t)units;
}

INLINE bool
widen(struct tlsf_cache *c, struct tlsf_depot *d, uint64_t units)
{
	if (!may_have(c, d, units, d->each))
		return false;
	grant(c, d, units);
	return true;
}

/* A label's size is where a list begins. */
INLINE void *
take_plain(struct tlsf *t, unsigned label, uint64_t units)
{
	const struct want w = { units, units, list_of(units) };
	void *block = take(t, w);

	if (block)
		tlsf_header(block)->label = (uint8_t)label;
	return block;
}

/* tlsf_cache_refill() */
INLINE void *
exchange_take(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t,
    unsigned label)
{
	const struct tlsf_magazine *shared = &d->cache.magazines[label];

	shrink(c, d);
	if (shared->top != shared->first)
		return tlsf_cache_fetch(c, d, label);
	return label < LABEL_PLAIN
	    ? take_plain(t, label, shared->units)
	    : tlsf_take(t, label, shared->units * TLSF_ALIGN - TLSF_OVERHEAD);
}

/* No block of the program's, or it is smashed behind. */
COLD enum tlsf_fault
refuse(struct tlsf *t, const void *block)
{
	unsigned state = block_state(block);

	return blame(t, state == TLSF_USED ? TLSF_NEXT_SMASHED
	    : state == TLSF_KEPT || state == TLSF_FREE ? TLSF_TWICE
	    : TLSF_NO_BLOCK, block);
}

/* tlsf_cache_spill()
 *
 * Every step is small, or the last: what may go on to the heap has looked at
 * a few words and no more, and is looked at there. */
INLINE enum tlsf_fault
exchange_give(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t,
    void *block)
{
	unsigned label = tlsf_header(block)->label;
	const struct tlsf_magazine *m = &c->magazines[label];
	const struct tlsf_magazine *shared = &d->cache.magazines[label];
	uint64_t units = m->units, many = CACHE_AHEAD * units;
	bool keep = (c->room >= units || widen(c, d, many))
	    && m->top != m->last;

	if (!keep && (shared->top == shared->last
	    || !may_have(&d->cache, d, many, d->shared)))
		return tlsf_is(block, TLSF_USED) ? give_used(t, block)
		    : refuse(t, block);
	if (!tlsf_cache_accepts(c, block))
		return refuse(t, block);
	if (keep)
		tlsf_cache_keep(c, block);
	else
		tlsf_cache_pass_on(c, d, block);
	return TLSF_FINE;
}

/* A block that grows is given room to grow again.  What it has now, or 0. */
INLINE uint64_t
resize_roomily(struct tlsf *t, void *block, const struct around *a,
    size_t size)
{
	uint64_t units = (size + TLSF_OVERHEAD + TLSF_ALIGN - 1) / TLSF_ALIGN;
	struct want w;

	if (units <= a->units)
		return shorten(t, block, a, want_of(units_for(size)).better);
	w = (struct want){ units, tlsf_roomy(a->units, units), 0 };
	return lengthen(t, block, a, &w);
}

/* tlsf_cache_resize() */
INLINE bool
exchange_resize(struct tlsf *t, void *block, size_t size, bool labelled)
{
	struct tlsf_header *h = tlsf_header(block);
	enum tlsf_fault fault;
	struct around a;
	uint64_t units;

	fault = look_along(t, block, &a);
	if (fault) {
		blame(t, fault, block);
		return false;
	}
	units = resize_roomily(t, block, &a, size);
	if (units && labelled)
		h->label = (uint8_t)tlsf_label_resized(h->label, units);
	return units != 0;
}

#endif
