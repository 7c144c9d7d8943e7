/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of a log that a test has made. */
#ifndef UNIT_MADE_H
#define UNIT_MADE_H

#include "tools/profile.h"

/* By the log at PATH. */
void made_from(struct profile *p, const struct profile_part *part,
    const char *path);

/* The same; the file is removed, and PATH freed. */
void made_once(struct profile *p, const struct profile_part *part, char *path);

#endif
