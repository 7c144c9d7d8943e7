/* SPDX-License-Identifier: Apache-2.0 */
/* Callers or callees in text, for people. */
#ifndef TOOLS_RENDER_BRANCHES_H
#define TOOLS_RENDER_BRANCHES_H

#include <stdio.h>

#include "branches.h"
#include "render.h"

void render_branches(FILE *to, const struct branches *b,
    const struct render_look *look);

#endif
