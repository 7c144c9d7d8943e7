/* SPDX-License-Identifier: Apache-2.0 */
/* The logs that one run leaves: where they will be, which they were. */
#ifndef TOOLS_LOGS_H
#define TOOLS_LOGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What HEAPHOOK_OUTPUT=NAME means in this folder means PATH anywhere.  NULL,
 * or why that cannot be said; PATH is then relative. */
const char *logs_settle(const char *name, char path[PATH_MAX]);

/* 0, or errno of the FOLDER that keeps logs of that PATH from being made. */
int logs_refused(const char *path, char folder[PATH_MAX]);

/* Those called PATH that PARENT and what came of it began since START_NS,
 * oldest first; allocated, NULL at the end.  NULL: no memory. */
char **logs_of(const char *path, pid_t parent, uint64_t start_ns);
void logs_free(char **paths);

#endif
