/* SPDX-License-Identifier: Apache-2.0 */
/* What changed, in text, for people. */
#ifndef TOOLS_RENDER_DIFF_H
#define TOOLS_RENDER_DIFF_H

#include <stdio.h>

#include "diff.h"
#include "render.h"

/* Totals, and sites or, without stacks, sizes. */
void render_diff(FILE *to, const struct diff *d,
    const struct render_look *look);

#endif
