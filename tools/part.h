/* SPDX-License-Identifier: Apache-2.0 */
/* What --from, --to and --thread mean in the terms of one log. */
#ifndef TOOLS_PART_H
#define TOOLS_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "reader.h"

struct part {
	uint64_t from, until;	/* ticks */
	bool *chosen;		/* threads, by number; NULL: all */
	size_t count;
};

void part_find(struct part *p, struct reader *log,
    const struct profile_part *wanted);
void part_free(struct part *p);

/* From where on nothing counts.  In a log that stopped threads go on as long
 * as each has room: from the stop on one's events are there without those
 * that another no longer stored. */
static inline uint64_t
part_end(const struct part *p, const struct reader *log)
{
	const struct log_header *h = &log->head.h;

	return h->stop && h->stop_ticks < p->until ? h->stop_ticks + 1
	    : p->until;
}

static inline bool
part_has(const struct part *p, uint32_t thread)
{
	return !p->chosen || (thread < p->count && p->chosen[thread]);
}

#endif
