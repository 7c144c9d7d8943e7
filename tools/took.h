/* SPDX-License-Identifier: Apache-2.0 */
/* To which call a LOG_X_TOOK belongs: how long the allocator took comes behind
 * the event, with other events of the slot between when a signal handler
 * interrupted it. */
#ifndef TOOLS_TOOK_H
#define TOOLS_TOOK_H

#include <stdbool.h>

#include "log/decode.h"

/* Whether E is a call, and how long it took may still come. */
bool took_awaits(const struct log_event *e);

/* TOOK is behind COUNT events, of its slot and of others.  None may await
 * it: then it is lost. */
void took_give(struct log_event *events, unsigned count,
    const struct log_event *took);

#endif
