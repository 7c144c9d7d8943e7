/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information says of an address: functions, files, lines. */
#ifndef TOOLS_SCOPES_H
#define TOOLS_SCOPES_H

#include <elfutils/libdw.h>

#include "symbols.h"

struct scopes;

/* DWARF stays open as long.  Its addresses plus BIAS are those asked for. */
struct scopes *scopes_open(Dwarf *dwarf, Dwarf_Addr bias);
void scopes_close(struct scopes *s);

/* As symbols_find, but names may be mangled and the count is of all there
 * are, be they more than MOST, or 0. */
unsigned scopes_find(struct scopes *s, uint64_t address,
    struct symbols_frame *frames, unsigned most);

/* A .dwo file that is missing and has functions that were asked for, and how
 * many MORE such there are; NULL: none. */
const char *scopes_missed(const struct scopes *s, unsigned *more);

#endif
