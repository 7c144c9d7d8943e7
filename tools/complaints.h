/* SPDX-License-Identifier: Apache-2.0 */
/* Why names or lines of what is shown are missing, once for each object. */
#ifndef TOOLS_COMPLAINTS_H
#define TOOLS_COMPLAINTS_H

#include <stddef.h>
#include <stdio.h>

#include "profile.h"
#include "render.h"

/* Begins as { 0 }. */
struct complaints {
	const struct profile_object **list;
	size_t count;
};

/* F is shown: its line is missed. */
void complaints_add(struct complaints *c, const struct profile_frame *f);

/* F is shown as one of many callers, or callees: its name is missed. */
static inline void
complaints_add_caller(struct complaints *c, const struct profile_frame *f)
{
	if (!f->function)
		complaints_add(c, f);
}

/* The stack of SITE is shown to people, or would be with more place. */
void complaints_add_site(struct complaints *c,
    const struct profile_site *site);

void complaints_free(struct complaints *c);

/* A line for each, in a text; they are freed. */
void complaints_put(FILE *to, struct complaints *c,
    const struct render_look *look);

#endif
