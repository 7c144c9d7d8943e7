/* SPDX-License-Identifier: Apache-2.0 */
/* Who called a function whose blocks these are, or what it called for them:
 * a tree with that function at its root. */
#ifndef TOOLS_BRANCHES_H
#define TOOLS_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "profile.h"

struct branch {
	struct profile_frame frame;	/* one of its own; line 0: they have
					 * several */
	uint64_t value, beside;		/* as the order has them */
	uint32_t first, next;		/* of the next level, of its own one,
					 * the biggest first; 0: none */
};

struct branches {
	const char *function;
	bool callers;			/* or callees */
	const struct order *order;
	struct branch *list;		/* 0 is the root */
	size_t count, room;
	uint64_t all;			/* of all sites, those without the
					 * function, too */
};

/* Of P, all of whose sites have their stacks.  Of a function that calls
 * itself the outermost call is the root.  False: no stack has it. */
bool branches_make(struct branches *b, const struct profile *p,
    const char *function, bool callers, const struct order *order);
void branches_free(struct branches *b);

#endif
