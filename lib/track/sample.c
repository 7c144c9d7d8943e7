/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include "../interpose/head.h"
#include "../interpose/sys.h"
#include "file.h"

enum {
	WINDOW = 16,		/* places from its home on that an address may
				 * have: so a home's count never overflows */
	USED_SHIFT = 3,		/* the part of a table that is used: few homes
				 * are anybody's, and few windows full */
};

static uint64_t mean;

_Atomic(_Atomic uint8_t *) hh_sample_homes[SAMPLE_LEVELS];
_Atomic uint32_t hh_sample_levels;

static _Atomic uint32_t used[SAMPLE_LEVELS];

void
hh_sample_begin(uint64_t bytes)
{
	mean = bytes;
	__atomic_fetch_or(&hh_mode, HH_SAMPLED, __ATOMIC_RELAXED);
}

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014. */
static uint64_t
next(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* With 32 bits behind the point. */
#define FIXED(v) ((uint64_t)((v) * 4294967296.0 + 0.5))

static uint64_t
times(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 32);
}

/* -ln(U / 2^64), U not being 0.  With U / 2^64 = m / 2^n and m from 1/2 to 1
 * that is n ln 2 + 2 artanh((1 - m) / (1 + m)), all of it positive; the
 * argument is at most 1/3, so what the series leaves out is below 4e-7 of
 * the whole (Abramowitz and Stegun, 4.1.27). */
static uint64_t
minus_ln(uint64_t u)
{
	unsigned n = (unsigned)__builtin_clzll(u);
	uint64_t less = -(u << n) >> 32, more = (u << n >> 33) + (1U << 31);
	uint64_t z = (less << 31) / more, q = times(z, z), sum;

	sum = FIXED(1 / 9.) + q / 11;
	sum = FIXED(1 / 7.) + times(q, sum);
	sum = FIXED(1 / 5.) + times(q, sum);
	sum = FIXED(1 / 3.) + times(q, sum);
	sum = FIXED(1) + times(q, sum);
	return n * FIXED(0.693147180559945309) + 2 * times(z, sum);
}

static int64_t
draw(struct hh_luck *luck)
{
	return (int64_t)times(mean, minus_ln(next(&luck->seed) | 1));
}

/* A new thread's, and a forked child's, is its own. */
static void
begin(struct hh_luck *luck)
{
	uint64_t seed = hh_ticks() ^ (uint64_t)(uintptr_t)luck << 16
	    ^ (uint64_t)hh_head->h.pid << 40;

	luck->seed = next(&seed) | 1;
	luck->left = draw(luck);
}

/* Where nothing comes before, whatever lies beyond the end does not matter:
 * so it is drawn anew from there. */
static bool
is_hit(size_t size)
{
	struct hh_luck *luck = hh_stream_luck(hh_mine);

	if (!hh_mine->chunk)
		return false;
	if (!luck->seed)
		begin(luck);
	if (hh_sample_passes(hh_mine, size))
		return false;
	luck->left = draw(luck);
	return true;
}

static size_t
places(unsigned level)
{
	return (size_t)1 << (SAMPLE_FIRST_LOG2 + SAMPLE_STEP_LOG2 * level);
}

/* A table: how many belong to each place, then the places. */
static size_t
table_bytes(unsigned level)
{
	return places(level)
	    + (places(level) + WINDOW) * sizeof(_Atomic uintptr_t);
}

/* Of those that begin at BLOCK's home. */
static _Atomic uintptr_t *
window(unsigned level, const void *block)
{
	_Atomic uint8_t *homes = atomic_load(&hh_sample_homes[level]);

	return (_Atomic uintptr_t *)(void *)(homes + places(level))
	    + hh_sample_home(block, level);
}

static _Atomic uint8_t *
home(unsigned level, const void *block)
{
	return atomic_load(&hh_sample_homes[level])
	    + hh_sample_home(block, level);
}

/* Made by whoever comes first. */
static bool
need_table(uint32_t level)
{
	_Atomic uint8_t *none = NULL, *table;

	if (level < atomic_load(&hh_sample_levels))
		return true;
	table = hh_file_sealed() ? NULL
	    : hh_sys_map_private(table_bytes(level));
	if (!table)
		return false;
	if (!atomic_compare_exchange_strong(&hh_sample_homes[level], &none,
	    table))
		hh_sys_unmap((void *)(uintptr_t)table, table_bytes(level));
	/* Only now: who sees the number finds the table. */
	atomic_compare_exchange_strong(&hh_sample_levels, &level, level + 1);
	return true;
}

/* The count first: a child that is forked in between finds what is there. */
static bool
keep_at(unsigned level, const void *block)
{
	_Atomic uintptr_t *at = window(level, block);

	atomic_fetch_add(home(level, block), 1);
	for (unsigned i = 0; i < WINDOW; i++) {
		uintptr_t none = 0;

		if (atomic_compare_exchange_strong(&at[i], &none,
		    (uintptr_t)block)) {
			atomic_fetch_add(&used[level], 1);
			return true;
		}
	}
	atomic_fetch_sub(home(level, block), 1);
	return false;
}

bool
hh_sample_keep(const void *block)
{
	for (uint32_t i = 0; i < SAMPLE_LEVELS && need_table(i); i++)
		if (atomic_load(&used[i]) < places(i) >> USED_SHIFT
		    && keep_at(i, block))
			return true;
	__atomic_fetch_add(&hh_head->h.samples_lost, 1, __ATOMIC_RELAXED);
	return false;
}

bool
hh_sample_takes(const void *block, size_t size)
{
	return is_hit(size) && hh_sample_keep(block);
}

/* NULL: nowhere. */
static _Atomic uintptr_t *
find(const void *block, uint32_t *level)
{
	uint32_t levels = atomic_load(&hh_sample_levels);

	for (*level = 0; *level < levels; ++*level) {
		_Atomic uintptr_t *at = window(*level, block);

		if (!atomic_load(home(*level, block)))
			continue;
		for (unsigned i = 0; i < WINDOW; i++)
			if (atomic_load_explicit(&at[i], memory_order_relaxed)
			    == (uintptr_t)block)
				return &at[i];
	}
	return NULL;
}

bool
hh_sample_look(const void *block)
{
	uint32_t level;

	return find(block, &level);
}

bool
hh_sample_drop(const void *block)
{
	uint32_t level;
	_Atomic uintptr_t *at = find(block, &level);

	if (!at)
		return false;
	atomic_store(at, 0);
	atomic_fetch_sub(home(level, block), 1);
	atomic_fetch_sub(&used[level], 1);
	return true;
}
