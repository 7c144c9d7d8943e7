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

/* Where a stack is known by itself while it is being numbered: in a handler
 * that comes then it may have so few frames. */
enum { HH_STACK_FEW = 24 };

struct hh_stack {
	struct hh_walks *walks;	/* held; NULL: none */
	volatile bool *held;	/* that they are */
	uint32_t number;	/* 0: not known yet, but the rest is */
	unsigned count;
	const uintptr_t *pcs;
	uintptr_t few[HH_STACK_FEW];
};

/* From now on there are stacks of DEPTH; false: not on this machine. */
bool hh_stack_begin(unsigned depth);

/* The calling thread's, before a stream is taken; none if stacks are off.
 * hh_stack_number() is to follow, whatever comes between. */
void hh_stack_capture(struct hh_stack *stack);

/* Its number if the log has it already, else 0. */
uint32_t hh_stack_find(struct hh_stack *stack);

/* Its number, 0 if it can have none; S is taken, and gets what is new; NULL:
 * there is nothing that could. */
uint32_t hh_stack_number(struct hh_stack *stack, struct hh_stream *s);

/* A library may be on its way out, and others may come to where it was; and
 * that is over. */
void hh_stack_unloading(void);
void hh_stack_unloaded(void);

#endif
