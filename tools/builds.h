/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the very build of an object that a log tells of. */
#ifndef TOOLS_BUILDS_H
#define TOOLS_BUILDS_H

#include "symbols.h"

/* What is at the object's path if it is that build, else what is below one
 * of FOLDERS, up to a NULL, by its build id or its path: the object or its
 * debug file.  A folder may be a bundle, which comes first.  Returns a
 * descriptor, with PATH of malloc; or -1, with WHY the object's path is no
 * help. */
enum { BUILDS_WHY = 160 };
int builds_open(const struct symbols_object *object,
    const char *const *folders, char **path, char why[BUILDS_WHY]);

/* The debug file of the object that is at FROM: by build id below one of
 * FOLDERS; or called LINK, if that is not NULL, beside FROM, in .debug there
 * and below FOLDERS.  SUM is to tell it where objects have no build id. */
int builds_open_debug(const struct symbols_object *object, const char *from,
    const char *link, uint32_t sum, const char *const *folders, char **path);

/* What the debug file at FROM shares with others: the build that SHARED is,
 * by its id below one of FOLDERS, or at its path, which may be relative to
 * FROM. */
int builds_open_shared(const struct symbols_object *shared, const char *from,
    const char *const *folders, char **path);

#endif
