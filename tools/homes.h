/* SPDX-License-Identifier: Apache-2.0 */
/* What an entry of debug information is in: namespaces, classes, functions.
 * libdw goes through a whole unit each time it is asked. */
#ifndef TOOLS_HOMES_H
#define TOOLS_HOMES_H

#include <elfutils/libdw.h>

struct homes;

/* LIST is of the units that were asked for, NULL at first.  Returns NULL if
 * DIE, itself of such a kind, is in none. */
Dwarf_Die *homes_find(struct homes **list, Dwarf_Die *die);
void homes_free(struct homes *list);

#endif
