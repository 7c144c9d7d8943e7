/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include <string.h>

#include "core.h"

static size_t
aligned_size(unsigned step)
{
	return (size_t)(step % 2 ? 48 : 32) << step / 2;
}

static unsigned
units_of(unsigned label)
{
	return label <= 8 ? label : (9 + (label - 9) % 8) << (label - 9) / 8;
}

size_t
tlsf_label_size(unsigned label)
{
	if (label == 0 || label >= LABEL_ALIGNED)
		return 0;
	if (label >= LABEL_PLAIN)
		return aligned_size((label - LABEL_PLAIN) % LABEL_STEPS);
	return (size_t)units_of(label) * TLSF_ALIGN - TLSF_OVERHEAD;
}

unsigned
tlsf_label_resized_aligned(unsigned old, size_t usable)
{
	size_t align = tlsf_label_align(old);
	unsigned label;

	if (usable < aligned_size(0))
		return tlsf_label_aligned(align, SIZE_MAX);	/* not kept */
	label = tlsf_label_aligned(align, usable);
	return tlsf_label_size(label) > usable ? label - 1 : label;
}

/* A block's part of what is granted. */
static uint64_t
bytes_of(unsigned label)
{
	return tlsf_label_size(label) + TLSF_OVERHEAD;
}

/* How long magazines may become: a thread's, and what threads exchange, plain
 * and aligned. */
struct length {
	unsigned slots, bytes;
};

static const struct length of_thread = { MAGAZINE_SLOTS, MAGAZINE_BYTES };
static const struct length of_depot[2] = {
	{ DEPOT_SLOTS, DEPOT_BYTES }, { DEPOT_ALIGNED_SLOTS, MAGAZINE_BYTES },
};

static unsigned
slots_of(const struct length *most, unsigned label)
{
	uint64_t slots = most->bytes / bytes_of(label);

	return slots < most->slots ? (unsigned)slots : most->slots;
}

static void
init(struct tlsf_cache *c, uint64_t most, const struct length *plain,
    const struct length *aligned)
{
	unsigned first = 0;

	memset(c->magazines, 0, sizeof c->magazines);
	c->pending = NULL;
	c->turn = 0;
	c->granted = c->gets = 0;
	c->moved = 0;
	c->most = most;
	c->hand = 2;
	for (unsigned label = 2; label < LABEL_ALIGNED; label++) {
		struct tlsf_magazine *m = &c->magazines[label];

		m->top = m->first = m->end = (uint16_t)first;
		first += slots_of(label < LABEL_PLAIN ? plain : aligned,
		    label);
		m->last = (uint16_t)first;
	}
	assert(first <= CACHE_SLOTS);
}

void
tlsf_cache_init(struct tlsf_cache *c, uint64_t most)
{
	init(c, most, &of_thread, &of_thread);
}

void
tlsf_depot_bound(struct tlsf_depot *d, uint64_t most, uint64_t shared)
{
	d->most = most;
	d->cache.most = shared;
}

void
tlsf_depot_init(struct tlsf_depot *d, uint64_t most)
{
	init(&d->cache, most, &of_depot[0], &of_depot[1]);
	d->granted = 0;
	tlsf_depot_bound(d, most, most);
	for (unsigned label = 0; label < LABELS; label++)
		d->bytes[label] = tlsf_label_size(label)
		    ? (uint32_t)bytes_of(label) : 0;
}

INLINE void
take_back(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label,
    unsigned slots)
{
	uint64_t bytes = (uint64_t)slots * d->bytes[label];

	c->magazines[label].end -= (uint16_t)slots;
	c->granted -= bytes;
	d->granted -= bytes;
}

/* What one magazine does not use is free for others: a slot of each in its
 * turn. */
INLINE void
reclaim(struct tlsf_cache *c, struct tlsf_depot *d)
{
	struct tlsf_magazine *m = &c->magazines[c->hand];

	if (m->end != m->top)
		take_back(c, d, c->hand, 1);
	c->hand = c->hand + 1 < LABEL_ALIGNED ? c->hand + 1 : 2;
}

/* Room for SLOTS more blocks with this label; all or nothing. */
INLINE bool
grant(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label,
    unsigned slots)
{
	struct tlsf_magazine *m = &c->magazines[label];
	uint64_t bytes = (uint64_t)slots * d->bytes[label];

	if ((unsigned)(m->last - m->end) < slots
	    || c->granted + bytes > c->most || d->granted + bytes > d->most)
		return false;
	m->end += (uint16_t)slots;
	c->granted += bytes;
	d->granted += bytes;
	return true;
}

/* Room for as many more as are exchanged at once, or for the last few. */
INLINE bool
widen(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label)
{
	const struct tlsf_magazine *m = &c->magazines[label];
	unsigned left = (unsigned)(m->last - m->end);

	return left && grant(c, d, label,
	    left < CACHE_BATCH ? left : CACHE_BATCH);
}

/* Up to COUNT blocks, the ones that were kept last. */
INLINE void
move(struct tlsf_cache *to, struct tlsf_cache *from, unsigned label,
    unsigned count)
{
	struct tlsf_magazine *in = &to->magazines[label];
	struct tlsf_magazine *out = &from->magazines[label];
	unsigned most = (unsigned)(out->top - out->first);
	unsigned room = (unsigned)(in->end - in->top);

	if (count > most)
		count = most;
	if (count > room)
		count = room;
	out->top -= (uint16_t)count;
	memcpy(&to->slots[in->top], &from->slots[out->top],
	    count * sizeof(*to->slots));
	in->top += (uint16_t)count;
	from->moved -= (int64_t)count;
	to->moved += (int64_t)count;
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

/* Threads have come that want what was exchanged when they were fewer. */
static __attribute__((noinline)) void
give_up(struct tlsf_depot *d, unsigned label)
{
	const struct tlsf_magazine *m = &d->cache.magazines[label];

	take_back(&d->cache, d, label, (unsigned)(m->end - m->top));
}

/* From the depot, which has some, and room in time for those of the next
 * calls. */
static void *
fetch(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label)
{
	void *block = tlsf_cache_get(&d->cache, label);

	widen(c, d, label);
	move(c, &d->cache, label, CACHE_BATCH - 1);
	if (d->cache.granted > d->cache.most)
		give_up(d, label);
	return block;
}

void *
tlsf_cache_refill(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t,
    unsigned label)
{
	const struct tlsf_magazine *shared = &d->cache.magazines[label];

	if (shared->top != shared->first)
		return fetch(c, d, label);
	reclaim(c, d);
	return label < LABEL_PLAIN
	    ? take_plain(t, label, d->bytes[label] / TLSF_ALIGN)
	    : tlsf_take(t, label, d->bytes[label] - TLSF_OVERHEAD);
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

/* Half of what C has to the depot, and BLOCK to C; false if that makes no
 * room. */
static __attribute__((noinline)) bool
pass_on(struct tlsf_cache *c, struct tlsf_depot *d, void *block)
{
	unsigned label = tlsf_header(block)->label;
	const struct tlsf_magazine *m = &c->magazines[label];

	move(&d->cache, c, label, (unsigned)(m->end - m->first) / 2);
	reclaim(c, d);
	if (!tlsf_cache_has_room(c, block))
		return false;
	tlsf_cache_put(c, block);
	c->moved++;
	return true;
}

/* Out of the way, as what follows is long. */
static __attribute__((noinline)) void
keep(struct tlsf_cache *c, struct tlsf_depot *d, void *block)
{
	unsigned label = tlsf_header(block)->label;
	const struct tlsf_magazine *m = &c->magazines[label];

	if (m->end != m->first || !grant(c, d, label, CACHE_FIRST))
		grant(c, d, label, 1);
	tlsf_cache_put(c, block);
	c->moved++;
}

/* Every step is small, or the last: what may go on to the heap has looked at
 * a few words and no more, and is looked at there. */
enum tlsf_fault
tlsf_cache_spill(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t,
    void *block)
{
	unsigned label = tlsf_header(block)->label;
	const struct tlsf_magazine *m = &c->magazines[label];
	const struct tlsf_magazine *shared = &d->cache.magazines[label];
	uint64_t bytes = d->bytes[label];

	if (!tlsf_is(block, TLSF_USED))
		return refuse(t, block);
	if (m->end != m->last && bytes <= c->most - c->granted
	    && bytes <= d->most - d->granted) {
		if (!tlsf_cache_accepts(block))
			return refuse(t, block);
		keep(c, d, block);
		return TLSF_FINE;
	}
	if (shared->top != shared->end || widen(&d->cache, d, label)) {
		if (!tlsf_cache_accepts(block))
			return refuse(t, block);
		if (pass_on(c, d, block))
			return TLSF_FINE;
	}
	return give_used(t, block);
}

bool
tlsf_cache_resize(struct tlsf *t, void *block, size_t size, bool labelled)
{
	struct tlsf_header *h = tlsf_header(block);
	enum tlsf_fault fault;
	struct around a;
	struct want w;
	size_t usable;

	fault = look_at(t, block, &a);
	if (fault) {
		blame(t, fault, block);
		return false;
	}
	usable = a.units * TLSF_ALIGN - TLSF_OVERHEAD;
	w = size <= usable ? want_of(units_for(size))
	    : (struct want){ units_for(size),
	        units_for(tlsf_roomy(usable, size)), 0 };
	if (!resize(t, block, &a, &w))
		return false;
	if (labelled)
		h->label = (uint8_t)tlsf_label_resized(h->label,
		    tlsf_usable_of_used(block));
	return true;
}

bool
tlsf_cache_drain(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t)
{
	struct tlsf_magazine *m = &c->magazines[c->hand];

	if (c->pending) {
		tlsf_free(t, c->pending);
		c->pending = NULL;
		c->moved--;
		return true;
	}
	if (!c->granted)
		return false;
	if (m->top != m->first) {
		tlsf_free(t, c->slots[--m->top]);
		c->moved--;
		take_back(c, d, c->hand, 1);
		return true;
	}
	take_back(c, d, c->hand, (unsigned)(m->end - m->first));
	c->hand = c->hand + 1 < LABEL_ALIGNED ? c->hand + 1 : 2;
	return true;
}

static uint64_t
bytes_in(const struct tlsf_cache *c, const struct tlsf_magazine *m)
{
	uint64_t bytes = 0;

	for (unsigned i = m->first; i < m->top; i++)
		bytes += tlsf_to_next(c->slots[i]);
	return bytes;
}

/* By the blocks, which may be bigger than their labels say. */
struct tlsf_kept
tlsf_cache_kept(const struct tlsf_cache *c)
{
	struct tlsf_kept kept = { .blocks = 0 };

	for (unsigned label = 2; label < LABEL_ALIGNED; label++) {
		const struct tlsf_magazine *m = &c->magazines[label];

		kept.blocks += (uint64_t)(m->top - m->first);
		kept.bytes += bytes_in(c, m);
	}
	if (c->pending) {
		kept.blocks++;
		kept.bytes += tlsf_to_next(c->pending);
	}
	kept.puts = c->gets + kept.blocks - (uint64_t)c->moved;
	return kept;
}
