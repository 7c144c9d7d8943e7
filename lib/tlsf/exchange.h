/* SPDX-License-Identifier: Apache-2.0 */
/* What a call does that the thread's cache cannot serve, compiled into who
 * holds the lock: the calls within would be a twentieth of its instructions. */
#ifndef TLSF_EXCHANGE_H
#define TLSF_EXCHANGE_H

#include "cache.h"
#include "core.h"

INLINE void
take_back(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label,
    unsigned slots)
{
	uint64_t bytes = (uint64_t)slots * d->pair[label] / PAIR;

	c->magazines[label].end -= (uint16_t)slots;
	c->granted -= bytes;
	d->left += (int64_t)bytes;
}

/* What one magazine does not use is free for others: a pair of slots of each
 * in its turn. */
INLINE void
reclaim(struct tlsf_cache *c, struct tlsf_depot *d)
{
	struct tlsf_magazine *m = &c->magazines[c->hand];

	if (m->end - m->top >= PAIR)
		take_back(c, d, c->hand, PAIR);
	c->hand++;
}

/* Room for SLOTS more blocks with this label, which its magazine has, if C has
 * MOST with them; all or nothing. */
INLINE bool
grant(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label,
    unsigned slots, uint64_t most)
{
	struct tlsf_magazine *m = &c->magazines[label];
	uint64_t bytes = (uint64_t)slots * d->pair[label] / PAIR;

	if (c->granted + bytes > most || (int64_t)bytes > d->left)
		return false;
	m->end += (uint16_t)slots;
	c->granted += bytes;
	d->left -= (int64_t)bytes;
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
	const struct tlsf_magazine *m = &c->magazines[label];
	const struct tlsf_magazine *shared = &d->cache.magazines[label];

	/* It need not be empty: who could not enter, since it was closed or a
	 * handler came between, is here too; and whose next was freed twice,
	 * which the next free sees.  Slots go in pairs. */
	if (c->granted > d->each[0] && m->top == m->first)
		take_back(c, d, label, (unsigned)(m->end - m->first));
	if (shared->top != shared->first)
		return tlsf_cache_fetch(c, d, label);
	reclaim(c, d);
	return label < LABEL_PLAIN
	    ? take_plain(t, label, d->pair[label] / PAIR / TLSF_ALIGN)
	    : tlsf_take(t, label, d->pair[label] / PAIR - TLSF_OVERHEAD);
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
	unsigned alike = label / LABELS_ALIKE;
	uint64_t bytes = d->pair[label];
	void (*keep)(struct tlsf_cache *, struct tlsf_depot *, void *);

	if (!tlsf_is(block, TLSF_USED))
		return refuse(t, block);
	if ((int64_t)bytes > d->left)
		return give_used(t, block);
	if (m->end != m->last && c->granted + bytes <= d->each[alike])
		keep = tlsf_cache_keep;
	else if (shared->end != shared->last
	    && d->cache.granted + bytes <= d->shared[alike])
		keep = tlsf_cache_pass_on;
	else
		return give_used(t, block);
	if (!tlsf_cache_accepts(c, block))
		return refuse(t, block);
	keep(c, d, block);
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
