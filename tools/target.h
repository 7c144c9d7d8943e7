/* SPDX-License-Identifier: Apache-2.0 */
/* The program that is to be run: where it is, and whether a preload would
 * reach it when this very caller runs it. */
#ifndef TOOLS_TARGET_H
#define TOOLS_TARGET_H

#include <limits.h>

/* Where execvp would find NAME: 0, or its errno. */
int target_find(const char *name, char path[PATH_MAX]);

enum target_fate {
	TARGET_RECORDED,
	TARGET_UNSEEN,		/* it would run, and nothing be recorded */
	TARGET_FAILS,		/* it could not even be executed */
};

/* For the latter two WHY says it in one line, and what to do. */
enum { TARGET_WHY = PATH_MAX + 544 };
enum target_fate target_fate(const char *path, char why[TARGET_WHY]);

#endif
