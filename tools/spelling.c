/* SPDX-License-Identifier: Apache-2.0 */
#include "spelling.h"

#include <dwarf.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "homes.h"
#include "room.h"
#include "writing.h"

enum { ENTRIES = 500 };		/* that a name is made of, at most */

struct spelled {
	const void *at;		/* of the entry */
	char *name;		/* NULL: cannot be spelled */
};

struct spelling {
	struct homes *homes;
	void *names;		/* tree of struct spelled */
};

static void put_function(struct writing *w, Dwarf_Die *function);

static const char *
linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die,
	    DW_AT_linkage_name, &attr));

	return name ? name : dwarf_formstring(dwarf_attr_integrate(die,
	    DW_AT_MIPS_linkage_name, &attr));
}

struct spelling *
spelling_new(void)
{
	return room_new(1, sizeof(struct spelling));
}

static void
spelled_free(void *spelled)
{
	free(((struct spelled *)spelled)->name);
	free(spelled);
}

void
spelling_free(struct spelling *s)
{
	homes_free(s->homes);
	tdestroy(s->names, spelled_free);
	free(s);
}

/* What the call of a lambda is; false: CLASS is none. */
static bool
find_call(Dwarf_Die *class, Dwarf_Die *call)
{
	Dwarf_Die die;
	const char *name;

	if (dwarf_diename(class) || dwarf_child(class, call))
		return false;
	do {
		name = dwarf_diename(call);
		if (!name || strcmp(name, "operator()")
		    || dwarf_child(call, &die))
			continue;
		do {
			name = dwarf_diename(&die);
			if (name && !strcmp(name, "__closure"))
				return true;
		} while (writing_next(&die));
	} while (writing_next(call));
	return false;
}

/* Which of those of its kind it is, nobody can tell from here. */
static void
put_unnamed(struct writing *w, Dwarf_Die *class)
{
	Dwarf_Die call;

	if (!find_call(class, &call)) {
		writing_put(w, "{unnamed type}");
		return;
	}
	writing_put(w, "{lambda");
	spelling_parameters(w, &call);
	writing_put(w, "}");
}

static void put_home(struct writing *w, Dwarf_Die *die);

void
spelling_class(struct writing *w, Dwarf_Die *type)
{
	Dwarf_Die of = writing_declared(*type);
	const char *name = dwarf_diename(&of);

	put_home(w, &of);
	if (name)
		spelling_name(w, &of, name);
	else
		put_unnamed(w, &of);
}

static void
put_home(struct writing *w, Dwarf_Die *die)
{
	Dwarf_Die *home = homes_find(w->homes, die);
	const char *name = home ? dwarf_diename(home) : NULL;

	if (!home || !writing_spend(w))
		return;
	if (dwarf_tag(home) == DW_TAG_subprogram) {
		put_function(w, home);
	} else if (dwarf_tag(home) == DW_TAG_namespace) {
		put_home(w, home);
		writing_put(w, name ? name : "(anonymous namespace)");
	} else {
		spelling_class(w, home);
	}
	writing_put(w, "::");
}

static bool
is_conversion(const char *name)
{
	return !strncmp(name, "operator ", 9) && strncmp(name + 9, "new", 3)
	    && strncmp(name + 9, "delete", 6);
}

/* Those of templates have the type of what they return before them, but for
 * constructors and conversions. */
static void
put_returned(struct writing *w, Dwarf_Die *function, const char *name)
{
	Dwarf_Die *home = homes_find(w->homes, function), type;
	const char *class = home ? dwarf_diename(home) : NULL;

	if (!spelling_is_template(function) || is_conversion(name))
		return;
	if (writing_type(function, &type))
		spelling_type(w, &type);
	else if (class && !strncmp(class, name, strlen(name))
	    && strlen(name) == spelling_bare(class))
		return;
	else
		writing_put(w, "void");
	writing_put(w, " ");
}

static void
put_own_name(struct writing *w, Dwarf_Die *function, const char *name)
{
	Dwarf_Die type;

	if (is_conversion(name) && writing_type(function, &type)) {
		writing_put(w, "operator ");
		spelling_type(w, &type);
	} else {
		spelling_name(w, function, name);
	}
}

/* Without a name to link by, what others see is a function of C. */
static void
put_function(struct writing *w, Dwarf_Die *function)
{
	const char *linked = linkage_name(function), *name;
	char *plain = linked ? demangle(linked) : NULL;
	Dwarf_Die of = writing_declared(*function);

	name = dwarf_diename(&of);
	if (plain || !name) {
		writing_put(w, plain ? plain : "");
		w->failed |= !plain;
		free(plain);
		return;
	}
	if (writing_has(&of, DW_AT_external)) {
		writing_put(w, name);
		return;
	}
	put_returned(w, &of, name);
	put_home(w, &of);
	put_own_name(w, &of, name);
	/* Of a class that is in a unit of its own, the declaration has none. */
	if (dwarf_haschildren(&of) <= 0
	    && !writing_follow(function, DW_AT_abstract_origin, &of))
		of = *function;
	spelling_parameters(w, &of);
	spelling_qualifiers(w, &of);
}

/* Whether it is in a unit of C++ that knows its types: with -g1 there are
 * only functions. */
static bool
is_cxx(Dwarf_Die *die)
{
	Dwarf_Die top, child;

	if (!dwarf_cu_die(die->cu, &top, NULL, NULL, NULL, NULL, NULL, NULL)
	    || dwarf_child(&top, &child))
		return false;
	while (dwarf_tag(&child) == DW_TAG_subprogram
	    || dwarf_tag(&child) == DW_TAG_variable)
		if (!writing_next(&child))
			return false;
	switch (dwarf_srclang(&top)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

static char *
spell(struct spelling *s, Dwarf_Die *die)
{
	struct writing w = { .homes = &s->homes, .left = ENTRIES };
	char *name;
	size_t bytes;

	if (!is_cxx(die))
		return NULL;
	w.to = open_memstream(&name, &bytes);
	if (!w.to)
		room_none();
	put_function(&w, die);
	if (fclose(w.to))
		room_none();
	if (!w.failed)
		return name;
	free(name);
	return NULL;
}

static int
by_entry(const void *left, const void *right)
{
	const char *a = ((const struct spelled *)left)->at;
	const char *b = ((const struct spelled *)right)->at;

	return (a > b) - (a < b);
}

const char *
spelling_of(struct spelling *s, Dwarf_Die *die)
{
	Dwarf_Die of = writing_declared(*die);
	struct spelled key = { .at = of.addr }, *new;
	struct spelled **found = tfind(&key, &s->names, by_entry);

	if (found)
		return (*found)->name;
	new = room_new(1, sizeof *new);
	*new = (struct spelled){ of.addr, spell(s, die) };
	if (!tsearch(new, &s->names, by_entry))
		room_none();
	return new->name;
}
