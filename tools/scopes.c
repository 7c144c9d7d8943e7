/* SPDX-License-Identifier: Apache-2.0 */
/* Two indexes: of all units by address, and in each unit that was asked for
 * of its functions.  libdw's own ways go through .debug_aranges, which not
 * every compiler writes, and through the whole tree of a unit each time.
 *
 * Debug information may be damaged.  Entries lie in the order of a walk, so
 * whoever only ever goes on to larger offsets comes to an end. */
#include "scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "room.h"
#include "spans.h"
#include "spelling.h"

enum {
	DEEPEST = 512,		/* levels of a tree; compilers stay below 100 */
	INLINED_MOST = 64,	/* functions inlined into one another */
};

struct unit {
	struct unit *next;
	Dwarf_Die die;
	Dwarf_Die tree;		/* not DIE's if that is in a file apart */
	struct spans functions;	/* of struct function */
	struct function *first;
	Dwarf_Off seen;		/* up to here the tree was walked */
	bool walked;
};

struct function {
	struct function *next;
	Dwarf_Die die;
};

struct scopes {
	Dwarf *dwarf;
	Dwarf_Addr bias;
	struct spans spans;	/* of struct unit */
	struct unit *first;
	struct spelling *spelling;
	const char *missed;	/* the first .dwo that was not found */
	unsigned missed_more;
};

/* Compilers leave functions that the linker has thrown away at address 0,
 * and there is no code. */
static void
add_ranges(struct spans *spans, Dwarf_Die *die, void *of)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0)
		if (from)
			spans_add(spans, from, to, of);
}

struct scopes *
scopes_open(Dwarf *dwarf, Dwarf_Addr bias)
{
	struct scopes *s = room_new(1, sizeof *s);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	*s = (struct scopes){ .dwarf = dwarf, .bias = bias };
	s->spelling = spelling_new();
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		struct unit *u = room_new(1, sizeof *u);

		u->die = die;
		u->next = s->first;
		s->first = u;
		add_ranges(&s->spans, &die, u);
	}
	return s;
}

static void
unit_free(struct unit *u)
{
	while (u->first) {
		struct function *f = u->first;

		u->first = f->next;
		free(f);
	}
	spans_free(&u->functions);
	free(u);
}

void
scopes_close(struct scopes *s)
{
	if (!s)
		return;
	while (s->first) {
		struct unit *u = s->first;

		s->first = u->next;
		unit_free(u);
	}
	spans_free(&s->spans);
	spelling_free(s->spelling);
	free(s);
}

static void
add_function(struct unit *u, Dwarf_Die *die)
{
	struct function *f = room_new(1, sizeof *f);

	f->die = *die;
	f->next = u->first;
	u->first = f;
	add_ranges(&u->functions, die, f);
}

/* Functions are in namespaces, in classes and in one another. */
static void
walk(struct unit *u, Dwarf_Die *parent, unsigned deep)
{
	Dwarf_Die die;

	if (deep == DEEPEST || dwarf_child(parent, &die))
		return;
	do {
		if (dwarf_dieoffset(&die) <= u->seen)
			return;
		u->seen = dwarf_dieoffset(&die);
		if (dwarf_tag(&die) == DW_TAG_subprogram
		    && dwarf_hasattr(&die, DW_AT_low_pc)
		    | dwarf_hasattr(&die, DW_AT_ranges))
			add_function(u, &die);
		walk(u, &die, deep + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void
miss(struct scopes *s, struct unit *u)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr(&u->die,
	    DW_AT_dwo_name, &attr));

	if (!name)
		name = dwarf_formstring(dwarf_attr(&u->die,
		    DW_AT_GNU_dwo_name, &attr));
	if (s->missed)
		s->missed_more++;
	else
		s->missed = name;
}

/* Where the tree of U is. */
static void
find_tree(struct scopes *s, struct unit *u)
{
	uint8_t type;

	if (!dwarf_cu_info(u->die.cu, NULL, &type, NULL, &u->tree, NULL, NULL,
	    NULL) && type == DW_UT_skeleton) {
		if (dwarf_tag(&u->tree))
			return;
		miss(s, u);
	}
	u->tree = u->die;
}

static Dwarf_Die *
function_at(struct scopes *s, struct unit *u, Dwarf_Addr pc)
{
	struct function *f;

	if (!u->walked) {
		u->walked = true;
		find_tree(s, u);
		walk(u, &u->tree, 0);
	}
	f = spans_find(&u->functions, pc);
	return f ? &f->die : NULL;
}

static bool
has_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/* To the child of SCOPE that PC is in. */
static bool
enter(Dwarf_Die *scope, Dwarf_Addr pc)
{
	Dwarf_Off seen = dwarf_dieoffset(scope);
	Dwarf_Die die;

	if (dwarf_child(scope, &die))
		return false;
	do {
		if (dwarf_dieoffset(&die) <= seen)
			return false;
		seen = dwarf_dieoffset(&die);
		if (has_scope(&die) && dwarf_haspc(&die, pc) > 0) {
			*scope = die;
			return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

static const char *
name_of(struct scopes *s, Dwarf_Die *die)
{
	static const unsigned names[] = {
		DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
	};
	const char *name = NULL;
	Dwarf_Attribute attr;

	for (size_t i = 0; !name && i < sizeof names / sizeof *names; i++)
		name = dwarf_formstring(dwarf_attr_integrate(die, names[i],
		    &attr));
	if (!name)
		name = spelling_of(s->spelling, die);
	return name ? name : dwarf_formstring(dwarf_attr_integrate(die,
	    DW_AT_name, &attr));
}

static unsigned
number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &value))
		return 0;
	return (unsigned)value;
}

/* Where INLINED was called: before version 5 files counted from 1. */
static void
set_caller(struct symbols_frame *frame, struct unit *u, Dwarf_Die *inlined)
{
	unsigned file = number_of(inlined, DW_AT_call_file);
	Dwarf_Half version = 0;
	Dwarf_Files *files;
	size_t count;

	dwarf_cu_info(u->die.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	frame->line = number_of(inlined, DW_AT_call_line);
	if ((file || version >= 5)
	    && !dwarf_getsrcfiles(&u->tree, &files, &count))
		frame->file = dwarf_filesrc(files, file, NULL, NULL);
}

static void
set_line(struct symbols_frame *frame, struct unit *u, Dwarf_Addr pc)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->die, pc);
	int number;

	if (!line)
		return;
	frame->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		frame->line = (unsigned)number;
}

unsigned
scopes_find(struct scopes *s, uint64_t address, struct symbols_frame *frames,
    unsigned most)
{
	Dwarf_Addr pc = address - s->bias;
	struct unit *u = spans_find(&s->spans, pc);
	Dwarf_Die *function = u ? function_at(s, u, pc) : NULL;
	Dwarf_Die chain[INLINED_MOST], scope;
	unsigned depth = 0, count = 0;

	if (!u)
		return 0;
	if (function)
		scope = chain[depth++] = *function;
	while (function && depth < INLINED_MOST && enter(&scope, pc))
		if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
			chain[depth++] = scope;

	frames[0] = (struct symbols_frame){ 0 };
	set_line(&frames[0], u, pc);
	for (; count < most && count < depth; count++) {
		Dwarf_Die *die = &chain[depth - 1 - count];

		if (count) {
			frames[count] = (struct symbols_frame){ 0 };
			set_caller(&frames[count], u, die + 1);
		}
		frames[count].function = name_of(s, die);
	}
	return depth || !frames[0].file ? depth : 1;
}

const char *
scopes_missed(const struct scopes *s, unsigned *more)
{
	*more = s->missed_more;
	return s->missed;
}
