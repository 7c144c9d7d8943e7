/* SPDX-License-Identifier: Apache-2.0 */
/* Sites in text, for people: the top ones, or leaks. */
#ifndef TOOLS_RENDER_SITES_H
#define TOOLS_RENDER_SITES_H

#include <stdio.h>

#include "render.h"

void render_sites(FILE *to, const struct profile *p,
    const struct render_look *look);

#endif
