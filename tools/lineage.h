/* SPDX-License-Identifier: Apache-2.0 */
/* What a forked child began with: the blocks and stacks of its parent, as
 * they were then.
 *
 * Logs of many children of one parent mostly come in the order of their
 * forks: so the parent's replay is kept where the last one left it, and goes
 * on from there. */
#ifndef TOOLS_LINEAGE_H
#define TOOLS_LINEAGE_H

#include "replay.h"

/* R, which is new, gets what the process of LOG inherited, if any. */
void lineage_inherit(struct replay *r, struct reader *log);

#endif
