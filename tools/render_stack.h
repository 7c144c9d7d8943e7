/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and stacks in text, for people. */
#ifndef TOOLS_RENDER_STACK_H
#define TOOLS_RENDER_STACK_H

#include <stdio.h>

#include "render.h"

enum { RENDER_STACK_COLUMNS = 34 };	/* of a site's line, before a stack */

/* "function (file:line)" or "object+0xoffset": of what is too long the
 * function is cut. */
void render_stack_frame(FILE *to, const struct render_look *look,
    const struct profile_frame *f, unsigned columns);

/* How many frames of SITE people look at: nobody asks who called main, whose
 * name may be unknown. */
unsigned render_stack_depth(const struct profile_site *site);

/* The rest of a site's line, and lines of callers. */
void render_stack(FILE *to, const struct render_look *look,
    const struct profile_site *site);

#endif
