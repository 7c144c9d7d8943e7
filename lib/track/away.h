/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the thread has been away from its processor since it last looked
 * at the clock: asleep, preempted, or in a signal handler.
 *
 * It costs one load.  The kernel keeps a word of each thread for restartable
 * sequences (rseq(2)): whenever the thread comes back and is not within the
 * sequence that the word names, the word is cleared.  Ours names a sequence
 * that nobody is ever within.  A program's own sequences put their names
 * there before they begin, and no allocation is made within one: then the
 * clock may be looked at some events late. */
#ifndef HH_AWAY_H
#define HH_AWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../interpose/entry.h"

/* As the kernel reads it. */
struct hh_away_sequence {
	_Alignas(32) uint32_t version;
	uint32_t flags;
	uint64_t start, bytes, abort;
};

extern HH_OWN struct hh_away_sequence hh_away_sequence;

/* From the thread pointer to the word; at first to one of our own, which
 * nobody clears. */
extern HH_OWN ptrdiff_t hh_away_offset;

/* Once, at start, before there are threads. */
void hh_away_find(void);

static inline volatile uint64_t *
hh_away_word(void)
{
	return (volatile uint64_t *)((char *)__builtin_thread_pointer()
	    + hh_away_offset);
}

static inline bool
hh_away(void)
{
#if defined __x86_64__	/* which GCC does not make of the other */
	bool away;

	__asm__ volatile("cmpq $0, %%fs:(%1)"
	    : "=@ccz"(away) : "r"(hh_away_offset));
	return away;
#else
	return !*hh_away_word();
#endif
}

static inline void
hh_away_begin(void)
{
	*hh_away_word() = (uint64_t)(uintptr_t)&hh_away_sequence;
}

#endif
