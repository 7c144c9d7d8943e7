/* SPDX-License-Identifier: Apache-2.0 */
/* What forms for other viewers have in common. */
#ifndef TOOLS_RENDER_UTIL_H
#define TOOLS_RENDER_UTIL_H

#include <stdint.h>
#include <stdio.h>

#include "profile.h"

/* TEXT as a JSON string; NULL is null. */
void render_quote(FILE *to, const char *text);

/* TEXT in as many bytes, but none that ends a line, no control characters,
 * and ':' where BUT is. */
void render_line(FILE *to, const char *text, char but);

/* How the program was called, on one line; the caller frees it. */
char *render_command(const struct profile *p);

/* The function of F, or where it is, in ROOM if need be; of NULL, that it is
 * unknown. */
enum { RENDER_NAME = 512 };
const char *render_name(const struct profile_frame *f, char room[RENDER_NAME]);

/* The frames of all calls, one after the other: those of call I are numbers
 * FIRST[I] to FIRST[I + 1] - 1, from 1.  The caller frees it. */
uint32_t *render_frames(const struct profile *p);

static inline uint32_t
render_frame(const struct profile *p, const uint32_t *first,
    const struct profile_frame *f)
{
	return first[f->call - p->calls] + (uint32_t)(f - f->call->frames);
}

/* Some of what every site has. */
struct render_value {
	const char *name, *unit;
	size_t offset;		/* in struct profile_site */
};

/* Its columns, to a NULL name. */
extern const struct render_value render_values[];

static inline uint64_t
render_value_of(const struct profile_site *site, const struct render_value *v)
{
	return *(const uint64_t *)((const char *)site + v->offset);
}

#endif
