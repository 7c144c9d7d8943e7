/* SPDX-License-Identifier: Apache-2.0 */
/* Some allocations for all.
 *
 * Points lie at random on the bytes that a thread asks for, at distances of
 * which each is as if there had been none before: exponential, HEAPHOOK_SAMPLE
 * on the average.  An allocation with a point in it is recorded; of n bytes,
 * this happens to 1 - exp(-n / mean) of them, so each stands for so many as
 * that goes into one.  All others are only counted.
 *
 * Which ones are recorded and not freed yet is kept in tables that take no
 * lock.  An address has only one owner at a time, so all that is done about
 * one address is in an order that the program itself sees to. */
#ifndef HH_SAMPLE_H
#define HH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

enum {
	SAMPLE_LEVELS = 5,	/* tables */
	SAMPLE_FIRST_LOG2 = 12,	/* places of the first */
	SAMPLE_STEP_LOG2 = 3,	/* each further has eight times as many */
};

/* So far apart they are of no use, and all arithmetic holds. */
#define SAMPLE_MOST (UINT64_C(1) << 40)

/* How many addresses of a table belong to each place: what most frees look
 * at, and all they do. */
extern HH_OWN _Atomic(_Atomic uint8_t *) hh_sample_homes[SAMPLE_LEVELS];
extern HH_OWN _Atomic uint32_t hh_sample_levels;	/* in use */

/* From now on, MEAN bytes apart. */
void hh_sample_begin(uint64_t mean);

/* A zero-byte block is as good as one of a byte. */
static inline int64_t
hh_sample_bytes(size_t size)
{
	return (int64_t)(size + !size);
}

/* Whether SIZE bytes have no point, if that is seen at once.  False: it is
 * as if they had not been asked for. */
static inline bool
hh_sample_passes(struct hh_stream *s, size_t size)
{
	struct hh_luck *luck = hh_stream_luck(s);

	if (luck->left < hh_sample_bytes(size))
		return false;
	luck->left -= hh_sample_bytes(size);
	return true;
}

/* Whether BLOCK is to be recorded; then it is kept. */
bool hh_sample_takes(const void *block, size_t size);

/* False: there is no place for it, and it cannot be recorded. */
bool hh_sample_keep(const void *block);

/* Whether it was kept; it is not any more. */
bool hh_sample_drop(const void *block);

bool hh_sample_look(const void *block);

static inline size_t
hh_sample_home(const void *block, unsigned level)
{
	return (uintptr_t)block * UINT64_C(0x9e3779b97f4a7c15)
	    >> (64 - SAMPLE_FIRST_LOG2 - SAMPLE_STEP_LOG2 * level);
}

/* Whether BLOCK is kept. */
static inline bool
hh_sample_has(const void *block)
{
	uint32_t levels = atomic_load_explicit(&hh_sample_levels,
	    memory_order_relaxed);

	for (uint32_t i = 0; i < levels; i++) {
		const _Atomic uint8_t *homes = atomic_load_explicit(
		    &hh_sample_homes[i], memory_order_relaxed);

		if (atomic_load_explicit(&homes[hh_sample_home(block, i)],
		    memory_order_relaxed))
			return hh_sample_look(block);
	}
	return false;
}

#endif
