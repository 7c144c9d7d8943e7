/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a profile's sites: from calls to functions. */
#ifndef TOOLS_NAMES_H
#define TOOLS_NAMES_H

#include <stddef.h>

#include "profile.h"
#include "symbols.h"

/* Give the first COUNT sites of P, those that grow and those of the slowest
 * calls, their stacks.  SYMBOLS, whose texts are used, must be closed after P
 * is freed; NULL: objects and addresses are all there is. */
void names_give(struct profile *p, struct symbols *symbols, size_t count);

/* The place in its stack of the frame that people look for: the innermost
 * that is no plumbing.  If there is none, 0. */
unsigned names_headline(const struct profile_site *site);

/* Whether a function of OBJECT allocates for its caller: of the C and C++
 * libraries, those of Rust, Fortran and Ada, and what they have inlined
 * elsewhere.  Both may be
 * NULL. */
bool names_is_plumbing(const char *function,
    const struct profile_object *object);

/* The part of PATH behind the last slash. */
const char *names_last(const char *path);

#endif
