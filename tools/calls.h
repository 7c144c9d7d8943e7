/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls that a log knows are called. */
#ifndef TOOLS_CALLS_H
#define TOOLS_CALLS_H

#include "log/codec.h"

extern const char *const calls_names[LOG_CALLS];

#endif
