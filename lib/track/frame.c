/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "frame.h"

#include <string.h>

#include "../interpose/head.h"
#include "../interpose/sys.h"
#include "chunk.h"
#include "file.h"
#include "object.h"

enum {
	LEVELS = 7,
	FIRST_LOG2 = 12,		/* entries of the first table, 64 KiB */
	STEP_LOG2 = 2,			/* each further is four times that */
	STACKS_LOG2 = 12,
	PROBES = 32,
};

/* LINK is the caller's number, then that of the frame; 0 while it is being
 * made, or when its code is gone. */
struct entry {
	_Atomic uint64_t pc, link;
};

/* A table that is half full is followed by a larger one, and stays. */
static _Atomic(struct entry *) levels[LEVELS];
static _Atomic uint32_t used[LEVELS];
static _Atomic uint32_t newest;

/* Whole stacks that were met: a number, and with it mixed the hash. */
struct met {
	_Atomic uint64_t number, mixed;
};

static _Atomic(struct met *) stacks;

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* Memory of at least BYTES, made by whoever comes first. */
static void *
need(_Atomic(void *) *where, size_t bytes)
{
	void *at = atomic_load_explicit(where, memory_order_acquire), *none;

	if (at || hh_file_sealed())
		return at;
	at = hh_sys_map_private(bytes);
	none = NULL;
	if (!at || atomic_compare_exchange_strong(where, &none, at))
		return at;
	hh_sys_unmap(at, bytes);
	return none;
}

static size_t
entries_of(unsigned level)
{
	return (size_t)1 << (FIRST_LOG2 + STEP_LOG2 * level);
}

static struct entry *
level_at(unsigned level)
{
	return need((_Atomic(void *) *)&levels[level],
	    entries_of(level) * sizeof(struct entry));
}

static uint32_t
find_in(const struct entry *table, size_t mask, uint64_t hash,
    uint32_t caller, uintptr_t pc)
{
	for (size_t i = hash, n = 0; n < PROBES; i++, n++) {
		const struct entry *e = &table[i & mask];
		uint64_t at = atomic_load_explicit(&e->pc,
		    memory_order_relaxed), link;

		if (!at)
			return 0;
		if (at != pc)
			continue;
		/* Pairs with the release of keep(). */
		link = atomic_load_explicit(&e->link, memory_order_acquire);
		if (link >> 32 == caller && (uint32_t)link)
			return (uint32_t)link;
	}
	return 0;
}

/* False: there is no place near where it belongs.  One at the same address
 * whose code is gone is such a place: who loads and unloads all day fills no
 * table. */
static bool
keep(unsigned level, struct entry *table, uint64_t hash, uintptr_t pc,
    uint64_t link)
{
	size_t entries = entries_of(level);

	for (size_t i = hash, n = 0; n < PROBES; i++, n++) {
		struct entry *e = &table[i & (entries - 1)];
		uint64_t at = 0, gone = 0;

		if (atomic_compare_exchange_strong(&e->pc, &at, pc)) {
			atomic_store_explicit(&e->link, link,
			    memory_order_release);
			return atomic_fetch_add(&used[level], 1) < entries / 2;
		}
		if (at == pc
		    && atomic_compare_exchange_strong(&e->link, &gone, link))
			return true;
	}
	return false;
}

/* Into the newest table; one that gets full has a successor. */
static void
insert(uint64_t hash, uint32_t caller, uintptr_t pc, uint32_t number)
{
	uint32_t level = atomic_load(&newest);
	struct entry *table = level_at(level);

	if (table && keep(level, table, hash, pc,
	    (uint64_t)caller << 32 | number))
		return;
	if (level + 1 < LEVELS)
		atomic_compare_exchange_strong(&newest, &level, level + 1);
}

static uint32_t
find(uint64_t hash, uint32_t caller, uintptr_t pc)
{
	uint32_t first = atomic_load_explicit(&newest, memory_order_relaxed);

	for (uint32_t level = first + 1; level-- > 0;) {
		const struct entry *table = level_at(level);
		uint32_t number = table ? find_in(table,
		    entries_of(level) - 1, hash, caller, pc) : 0;

		if (number && level < first)
			insert(hash, caller, pc, number);
		if (number)
			return number;
	}
	return 0;
}

static uint32_t
put_frame(struct hh_stream *s, uint32_t caller, uintptr_t pc)
{
	struct log_long l;
	uint32_t number;
	uint64_t dt;

	hh_object_note(s, pc);
	number = __atomic_add_fetch(&hh_head->h.frames, 1, __ATOMIC_RELAXED);
	if (number > LOG_FRAMES_MOST) {
		__atomic_fetch_sub(&hh_head->h.frames, 1, __ATOMIC_RELAXED);
		return 0;
	}
	dt = hh_stream_since(s);
	log_long_begin(&l, LOG_X_FRAME, dt);
	log_long_uint(&l, number);
	log_long_uint(&l, caller);
	log_long_uint(&l, pc);
	return hh_chunk_put_long(s, &l, dt) ? number : 0;
}

static uint32_t
number_of(struct hh_stream *s, uint32_t caller, uintptr_t pc)
{
	uint64_t hash = mix(caller, pc);
	uint32_t number = find(hash, caller, pc);

	if (number)
		return number;
	hh_object_note(s, pc);
	number = put_frame(s, caller, pc);
	if (number)
		insert(hash, caller, pc, number);
	return number;
}

static uint64_t
hash_of(const uintptr_t *pcs, unsigned count)
{
	uint64_t a = count, b = 1;
	unsigned i = 0;

	for (; i + 2 <= count; i += 2) {
		a = mix(a, pcs[i]);
		b = mix(b, pcs[i + 1]);
	}
	if (i < count)
		a = mix(a, pcs[i]);
	return mix(a, b);
}

/* Where the stack of this hash is kept; NULL: nowhere. */
static struct met *
met_at(uint64_t hash)
{
	struct met *all = need((_Atomic(void *) *)&stacks,
	    sizeof *all << STACKS_LOG2);

	return all ? &all[hash >> (64 - STACKS_LOG2)] : NULL;
}

uint32_t
hh_frame_find(const uintptr_t *pcs, unsigned count)
{
	uint64_t hash, number;
	struct met *met;

	if (!count)
		return 0;
	hash = hash_of(pcs, count);
	met = met_at(hash);
	if (!met)
		return 0;
	number = atomic_load_explicit(&met->number, memory_order_relaxed);
	return (atomic_load_explicit(&met->mixed, memory_order_relaxed)
	    ^ number) == hash ? (uint32_t)number : 0;
}

uint32_t
hh_frame_number(struct hh_stream *s, const uintptr_t *pcs, unsigned count)
{
	uint64_t hash = hash_of(pcs, count);
	struct met *met = met_at(hash);
	uint32_t number = 0;

	for (unsigned i = count; i-- > 0;) {
		number = number_of(s, number, pcs[i]);
		if (!number)
			return 0;
	}
	if (!met)
		return number;
	atomic_store_explicit(&met->number, number, memory_order_relaxed);
	atomic_store_explicit(&met->mixed, number ^ hash,
	    memory_order_relaxed);
	return number;
}

static void
forget_stacks(void)
{
	struct met *all = atomic_load(&stacks);

	for (size_t i = 0; all && i < (size_t)1 << STACKS_LOG2; i++)
		atomic_store_explicit(&all[i].number, 0,
		    memory_order_relaxed);
}

void
hh_frame_forget_range(uintptr_t start, uintptr_t end)
{
	uint32_t count = atomic_load(&newest) + 1;

	for (uint32_t level = 0; level < count; level++) {
		struct entry *table = atomic_load(&levels[level]);

		for (size_t i = 0; table && i < entries_of(level); i++)
			if (table[i].pc >= start && table[i].pc < end)
				atomic_store(&table[i].link, 0);
	}
	forget_stacks();
}

void
hh_frame_forget(void)
{
	for (uint32_t level = 0; level < LEVELS; level++) {
		struct entry *table = atomic_exchange(&levels[level], NULL);

		if (table)
			hh_sys_unmap(table,
			    entries_of(level) * sizeof *table);
		atomic_store(&used[level], 0);
	}
	atomic_store(&newest, 0);
	forget_stacks();
}
