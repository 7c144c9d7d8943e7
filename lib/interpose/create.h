/* SPDX-License-Identifier: Apache-2.0 */
/* How a log comes into being as a file. */
#ifndef HH_CREATE_H
#define HH_CREATE_H

#include <stddef.h>
#include <stdint.h>

#include "head.h"

/* Create the log that PATTERN names, never one that exists, with its header
 * and BYTES in all mapped; *FD is the caller's.  NULL when it cannot be had,
 * and stderr knows why, in the name of WHO; a forked child (ORIGIN's pid is
 * not 0) that has gone into a jail since the first log has none and says
 * nothing. */
struct log_head *hh_create(const char *who, const char *pattern,
    const struct hh_head_origin *origin, size_t bytes, int *fd);

/* The name of the log that was created, or tried, last. */
const char *hh_create_path(void);

/* What FD's file system has for logs, beyond what is left to others;
 * UINT64_MAX when it does not say. */
uint64_t hh_create_space(int fd);

#endif
