/* SPDX-License-Identifier: Apache-2.0 */
/* How many instructions what lies between bound_begin() and bound_end() takes
 * at most.  Operation 0 is nothing at all, and comes first. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include "step.h"

enum { BOUND_OPS = 8 };

static size_t bound_worst[BOUND_OPS];
static volatile size_t bound_counted;
static size_t bound_before;

static void
bound_trap(int sig)
{
	(void)sig;
	bound_counted++;
}

static inline void
bound_begin(void)
{
	bound_before = bound_counted;
	step(1);
}

static inline void
bound_end(unsigned op)
{
	size_t n;

	step(0);
	n = bound_counted - bound_before;
	if (op > 0)
		n -= bound_worst[0];
	if (n > bound_worst[op])
		bound_worst[op] = n;
}

static inline void
bound_start(void)
{
	signal(SIGTRAP, bound_trap);
	bound_begin();
	bound_end(0);
}

#endif
