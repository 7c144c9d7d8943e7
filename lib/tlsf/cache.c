/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include <string.h>

#include "exchange.h"

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
tlsf_label_resized_aligned(unsigned old, uint64_t units)
{
	size_t usable = units * TLSF_ALIGN - TLSF_OVERHEAD;
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

/* How long magazines may become.  How many blocks of a label a thread has
 * varies, and most where it has most of them, which is where they are small:
 * what it has no room for others get, and then blocks of two threads lie side
 * by side, on one cache line. */
static const struct length {
	unsigned last;		/* label */
	struct { unsigned slots, bytes; } most[2];
} lengths[] = {
	{ 16, {{ 160, 256 << 10 }, { 256, 512 << 10 }}},	/* 256 bytes */
	{ 32, {{ 96, 256 << 10 }, { 192, 512 << 10 }}},		/* 1 KiB */
	{ LABEL_PLAIN - 1, {{ 48, 256 << 10 }, { 160, 512 << 10 }}},
	{ LABELS, {{ 16, 64 << 10 }, { 64, 64 << 10 }}},	/* aligned */
};

static unsigned
slots_of(unsigned label, enum tlsf_length length)
{
	const struct length *l = lengths;
	uint64_t slots;

	while (label > l->last)
		l++;
	slots = l->most[length].bytes / bytes_of(label);
	return slots < l->most[length].slots ? (unsigned)slots
	    : l->most[length].slots;
}

size_t
tlsf_cache_bytes(enum tlsf_length length)
{
	unsigned slots = 0;

	for (unsigned label = 2; label < LABEL_ALIGNED; label++)
		slots += slots_of(label, length);
	return offsetof(struct tlsf_cache, slots) + slots * sizeof(void *);
}

void
tlsf_cache_init(struct tlsf_cache *c, enum tlsf_length length)
{
	unsigned first = 0;

	memset(c->magazines, 0, sizeof c->magazines);
	c->pending = NULL;
	tlsf_cache_leave(c);
	tlsf_cache_open(c);
	c->granted = c->room = c->gets = 0;
	c->moved = 0;
	c->hand = 0;
	for (unsigned label = 2; label < LABEL_ALIGNED; label++) {
		struct tlsf_magazine *m = &c->magazines[label];

		m->units = (uint16_t)((bytes_of(label) + TLSF_ALIGN - 1)
		    / TLSF_ALIGN);
		m->top = m->first = (uint16_t)first;
		first += slots_of(label, length);
		m->last = (uint16_t)first;
	}
	assert(first <= CACHE_SLOTS);
}

void
tlsf_depot_bound(struct tlsf_depot *d, uint64_t most, uint64_t each,
    uint64_t shared)
{
	most /= TLSF_ALIGN;
	d->left += (int64_t)(most - d->most);
	d->most = most;
	d->each = each / TLSF_ALIGN;
	d->shared = shared / TLSF_ALIGN;
}

void
tlsf_depot_init(struct tlsf_depot *d)
{
	tlsf_cache_init(&d->cache, CACHE_LONG);
	d->most = 0;
	d->left = 0;
	tlsf_depot_bound(d, 0, 0, 0);
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* memcpy() would take half as many instructions to begin as to copy. */
INLINE void
copy(void **to, void **from, size_t count)
{
#ifdef __x86_64__
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count)
	    : : "memory");
#else
	memcpy(to, from, count * sizeof *to);
#endif
}

/* COUNT blocks, the ones that were kept last. */
INLINE void
move(struct tlsf_cache *to, struct tlsf_cache *from, unsigned label,
    unsigned count)
{
	struct tlsf_magazine *in = &to->magazines[label];
	struct tlsf_magazine *out = &from->magazines[label];
	uint64_t units = (uint64_t)count * in->units;

	out->top -= (uint16_t)count;
	copy(&to->slots[in->top], &from->slots[out->top], count);
	in->top += (uint16_t)count;
	from->room += units;
	to->room -= units;
	from->moved -= (int64_t)count;
	to->moved += (int64_t)count;
}

/* How many more blocks fit into the magazine. */
INLINE unsigned
slots_left(const struct tlsf_cache *c, unsigned label)
{
	const struct tlsf_magazine *m = &c->magazines[label];

	return (unsigned)(m->last - m->top);
}

void *
tlsf_cache_fetch(struct tlsf_cache *c, struct tlsf_depot *d, unsigned label)
{
	const struct tlsf_magazine *shared = &d->cache.magazines[label];
	void *block = tlsf_cache_get(&d->cache, label);
	unsigned units = shared->units, count;

	count = least(CACHE_BATCH - 1, least(slots_left(c, label),
	    (unsigned)(shared->top - shared->first)));
	if (c->room < count * units && !widen(c, d, count * units))
		count = (unsigned)c->room / units;
	move(c, &d->cache, label, count);
	give_room_back(&d->cache, d, d->cache.room);
	return block;
}

void
tlsf_cache_pass_on(struct tlsf_cache *c, struct tlsf_depot *d, void *block)
{
	unsigned label = tlsf_header(block)->label;
	const struct tlsf_magazine *m = &c->magazines[label];
	uint64_t units = m->units;
	unsigned count = least(least((unsigned)(m->top - m->first) / 2,
	    CACHE_PASSED), slots_left(&d->cache, label) - 1);

	if (!may_have(&d->cache, d, (count + 1) * units, d->shared))
		count = 0;
	grant(&d->cache, d, (count + 1) * units);
	tlsf_cache_keep(&d->cache, block);
	move(&d->cache, c, label, count);
	shrink(c, d);
}

void
tlsf_cache_keep(struct tlsf_cache *c, void *block)
{
	tlsf_cache_put(c, block);
	c->moved++;
}

void *
tlsf_cache_refill(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t,
    unsigned label)
{
	return exchange_take(c, d, t, label);
}

enum tlsf_fault
tlsf_cache_spill(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t,
    void *block)
{
	return exchange_give(c, d, t, block);
}

bool
tlsf_cache_resize(struct tlsf *t, void *block, size_t size, bool labelled)
{
	return exchange_resize(t, block, size, labelled);
}

/* What was freed last may be no block that the program has. */
static bool
settle(struct tlsf_cache *c, struct tlsf *t)
{
	void *block = c->pending;

	if (!block)
		return false;
	c->pending = NULL;
	c->moved--;
	if (tlsf_is(block, TLSF_USED))
		tlsf_free(t, block);
	else
		refuse(t, block);
	return true;
}

bool
tlsf_cache_drain(struct tlsf_cache *c, struct tlsf_depot *d, struct tlsf *t)
{
	struct tlsf_magazine *m = &c->magazines[c->hand];
	uint64_t units = m->units;

	if (c->granted == c->room) {
		give_room_back(c, d, c->room);
		return settle(c, t);
	}
	if (m->top == m->first) {
		c->hand++;
		return true;
	}
	tlsf_free(t, c->slots[--m->top]);
	c->moved--;
	c->room += units;
	give_room_back(c, d, units);
	return true;
}

void
tlsf_cache_mend(struct tlsf_cache *c)
{
	c->room = c->granted;
	for (unsigned label = 2; label < LABEL_ALIGNED; label++) {
		const struct tlsf_magazine *m = &c->magazines[label];

		c->room -= (uint64_t)(m->top - m->first) * m->units;
	}
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
