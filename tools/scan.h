/* SPDX-License-Identifier: Apache-2.0 */
/* Which chunks a log holds, and where. */
#ifndef TOOLS_SCAN_H
#define TOOLS_SCAN_H

#include "reader.h"

/* Fill in the chunks and slots of R, whose file is open and whose header
 * and state are known.  What is missing goes to its problems. */
void scan_chunks(struct reader *r);

#endif
