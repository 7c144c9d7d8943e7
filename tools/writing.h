/* SPDX-License-Identifier: Apache-2.0 */
/* A name of C++ in the making, from entries of debug information. */
#ifndef TOOLS_WRITING_H
#define TOOLS_WRITING_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdio.h>

#include "homes.h"

struct writing {
	struct homes **homes;
	FILE *to;
	char last;		/* of what was put */
	unsigned left;		/* entries that it may still need: types may
				 * be in one another, where there is damage */
	bool failed;
};

void writing_put(struct writing *w, const char *text);

/* One entry more.  False: it has failed. */
bool writing_spend(struct writing *w);

/* To the next of the same parent, forwards. */
bool writing_next(Dwarf_Die *die);

bool writing_follow(Dwarf_Die *die, unsigned name, Dwarf_Die *to);
bool writing_has(Dwarf_Die *die, unsigned flag);

/* Where a function or class was declared, by that which has its code. */
Dwarf_Die writing_declared(Dwarf_Die die);

/* To the type of DIE without its other names; false: it is void. */
bool writing_type(Dwarf_Die *die, Dwarf_Die *type);

/* Of spelling_type.c.  Of `operator<` and the like the name itself is no
 * beginning of arguments. */
void spelling_type(struct writing *w, Dwarf_Die *type);
void spelling_name(struct writing *w, Dwarf_Die *die, const char *name);
void spelling_parameters(struct writing *w, Dwarf_Die *function);
void spelling_qualifiers(struct writing *w, Dwarf_Die *function);
bool spelling_is_template(Dwarf_Die *die);
size_t spelling_bare(const char *name);

/* Of spelling.c: with what it is in. */
void spelling_class(struct writing *w, Dwarf_Die *type);

#endif
