/* SPDX-License-Identifier: Apache-2.0 */
/* Names as people wrote them.  One of demangle_*.c is built. */
#ifndef TOOLS_DEMANGLE_H
#define TOOLS_DEMANGLE_H

/* The C++ or Rust name that NAME stands for, from malloc.  NULL: NAME is
 * not mangled, or not in a way that is known here. */
char *demangle(const char *name);

#endif
