/* SPDX-License-Identifier: Apache-2.0 */
/* A program that runs under ours, as if it were ours: what is sent to us
 * reaches it, and we stop when it stops. */
#ifndef TOOLS_CHILD_H
#define TOOLS_CHILD_H

#include <sys/types.h>

/* As fork, with what child_wait needs set up; in the child everything is
 * as it was before. */
pid_t child_fork(void);

/* Until the child ends: its status, 128+N after signal N.  Signals are again
 * as they were before child_fork. */
int child_wait(pid_t child);

#endif
