/* SPDX-License-Identifier: Apache-2.0 */
#include "took.h"

bool
took_awaits(const struct log_event *e)
{
	switch (e->kind) {
	case LOG_MALLOC:
	case LOG_FREE:
	case LOG_CALLOC:
	case LOG_X_ALLOC:
	case LOG_X_FREE:
	case LOG_X_REALLOC:
	case LOG_X_RESIZED:
	case LOG_X_FAILED:
		return !e->took;
	default:
		return false;
	}
}

void
took_give(struct log_event *events, unsigned count,
    const struct log_event *took)
{
	for (unsigned i = count; i-- > 0; ) {
		if (events[i].slot != took->slot || !took_awaits(events + i))
			continue;
		events[i].took = took->took;
		return;
	}
}
