/* SPDX-License-Identifier: Apache-2.0 */
/* What the header and the counters of a log tell, without its events. */
#ifndef TOOLS_FACTS_H
#define TOOLS_FACTS_H

#include "profile.h"
#include "reader.h"

static inline struct profile_number
facts_known(uint64_t value)
{
	return (struct profile_number){ true, value };
}

/* Who ran, where, how it ended. */
void facts_identity(struct profile *p, const struct reader *log);

/* All figures of a log that holds no events. */
void facts_summary(struct profile *p, struct reader *log);

/* Nothing is left of a log but its header: what that knows. */
void facts_bare(struct profile *p, const struct reader *log);

/* Events stopped before the process did: what counters know better, or
 * nobody knows, replaces what was counted from events. */
void facts_stopped(struct profile *p, struct reader *log);

/* What flags and stop say must be known; the problems become P's. */
void facts_problems(struct profile *p, struct reader *log);

#endif
