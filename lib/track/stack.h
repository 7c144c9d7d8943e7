/* SPDX-License-Identifier: Apache-2.0 */
/* Who asked for a block. */
#ifndef HH_STACK_H
#define HH_STACK_H

#include <stdint.h>

#include "stream.h"
#include "unwind.h"

/* Most frames of a stack; 0: no stacks. */
extern HH_OWN unsigned hh_stack_depth;

/* Allocations of fewer bytes take the usual path: TIME_BIG_BYTES, or 0 when
 * each needs its stack. */
extern HH_OWN size_t hh_stack_none;

struct hh_stack {
	struct hh_walks *walks;	/* may be NULL */
	uint32_t turn;		/* of them */
	uint32_t number;	/* 0: not known yet, but the rest is */
	unsigned count;
	uintptr_t pcs[HH_UNWIND_MOST];
};

/* From now on there are stacks of DEPTH; false: not on this machine. */
bool hh_stack_begin(unsigned depth);

/* The calling thread's, before a stream is taken.  True: its number is
 * known. */
bool hh_stack_capture(struct hh_stack *stack);

/* Its number, 0 if it can have none; S is taken, and gets what is new. */
uint32_t hh_stack_number(struct hh_stack *stack, struct hh_stream *s);

#endif
