/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay will soon need is fetched into the cache meanwhile; and its
 * watch is told now and then how far it has come. */
#ifndef TOOLS_EXPECT_H
#define TOOLS_EXPECT_H

#include "log/decode.h"

/* The next events that REPLAY takes, or some of them. */
void expect_events(void *replay, const struct log_event *events, unsigned n);

#endif
