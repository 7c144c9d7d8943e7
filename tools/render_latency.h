/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls took, in text. */
#ifndef TOOLS_RENDER_LATENCY_H
#define TOOLS_RENDER_LATENCY_H

#include <stdio.h>

#include "render.h"

/* Nothing, if P does not know. */
void render_latency(FILE *to, const struct profile *p,
    const struct render_look *look);

/* The site that the block of a slow call is of; NULL: unknown. */
const struct profile_site *render_latency_site(const struct profile *p,
    const struct profile_slow *slow);

#endif
