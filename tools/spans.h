/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many stretches of addresses holds an address. */
#ifndef TOOLS_SPANS_H
#define TOOLS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t from, to;	/* holds FROM, does not hold TO */
	uint64_t reach;		/* the largest TO up to here */
	size_t order;		/* of being added */
	bool open;		/* ends where the next one begins */
	void *of;		/* the caller's */
};

struct spans {
	struct span *list;
	size_t count, room;
	bool sorted;
};

/* Empty stretches are left out. */
void spans_add(struct spans *s, uint64_t from, uint64_t to, void *of);

/* One that nobody knows the end of: where the next one begins, or MOST. */
void spans_add_open(struct spans *s, uint64_t from, uint64_t most, void *of);

/* Of those that hold ADDRESS the last to begin, of these the first added:
 * the innermost where they nest.  NULL: none does. */
void *spans_find(struct spans *s, uint64_t address);

void spans_free(struct spans *s);

#endif
