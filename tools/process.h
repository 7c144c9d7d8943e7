/* SPDX-License-Identifier: Apache-2.0 */
/* Does the process that wrote a log still run? */
#ifndef TOOLS_PROCESS_H
#define TOOLS_PROCESS_H

#include <stdbool.h>

#include "log/format.h"
#include "problems.h"

/* What cannot be known for certain is said in *P.  CHANGED: seconds since
 * the log file was last written. */
bool process_runs(const struct log_header *h, double changed,
    struct problems *p);

#endif
