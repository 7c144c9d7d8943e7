/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the blocks that are live at the end nobody needs to hear of. */
#ifndef TOOLS_LEAKS_H
#define TOOLS_LEAKS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

struct leaks {
	char **patterns;
	size_t count;
};

/* More rules from the file PATH.  NULL, or what is wrong with it, to be
 * freed. */
char *leaks_read(struct leaks *l, const char *path);
void leaks_free(struct leaks *l);

/* Mark the sites of P, all named, that a rule of L or of our own is about.
 * SOME: P has the blocks of some threads only. */
void leaks_mark(const struct leaks *l, struct profile *p, bool some);

#endif
