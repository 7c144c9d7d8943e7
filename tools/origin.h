/* SPDX-License-Identifier: Apache-2.0 */
/* The log of the process that a forked child came from. */
#ifndef TOOLS_ORIGIN_H
#define TOOLS_ORIGIN_H

#include <stdbool.h>

#include "reader.h"

static inline bool
origin_is_told(const struct reader *child)
{
	return child->head.h.flags & LOG_FLAG_FORKED;
}

/* At the path that CHILD names or, if both were moved, beside it.  False:
 * it is at neither, and the child's problems say so. */
bool origin_open(struct reader *origin, struct reader *child);

#endif
