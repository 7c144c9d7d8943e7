/* SPDX-License-Identifier: Apache-2.0 */
/* The file name that HEAPHOOK_OUTPUT asks for. */
#ifndef HH_NAME_H
#define HH_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher.h"

struct hh_name_facts {
	struct hh_launcher launcher;
	const char *host, *exe;
	int pid;
	uint64_t start_s;	/* since 1970 */
};

/* Expand PATTERN for these facts as the N-th try, from 1, into a path that
 * chdir does not change.  %n becomes N; without it tries after the first
 * get .N before the suffix.  0 or -errno: it does not fit, or is relative to
 * a folder that is gone; then PATH is what it is so far.  Only the first try
 * warns of unknown words. */
int hh_name_expand(const char *pattern, const struct hh_name_facts *facts,
    unsigned n, char *path, size_t bytes);

/* Make the folders that PATH lies in; 0, or -errno of the one that failed. */
int hh_name_make_folders(char *path);

#endif
