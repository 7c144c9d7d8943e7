/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ functions that have no symbol, as it would be demangled.  g++
 * writes none down for functions of internal linkage that are inlined. */
#ifndef TOOLS_SPELLING_H
#define TOOLS_SPELLING_H

#include <elfutils/libdw.h>

struct spelling;

struct spelling *spelling_new(void);
void spelling_free(struct spelling *s);

/* Of DIE, which is a function or an inlined one; lives as long as S.  NULL:
 * all that is known is its own name. */
const char *spelling_of(struct spelling *s, Dwarf_Die *die);

#endif
