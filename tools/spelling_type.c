/* SPDX-License-Identifier: Apache-2.0 */
/* Types as demangled names have them: what they are of comes first, and the
 * marks of pointers after it. */
#include "writing.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

static uint64_t
number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr(die, name, &attr), &value);
	return value;
}

/* The names that g++ has for types, and their symbols other ones; longer ones
 * first. */
static const char *const renamed[][2] = {
	{ "long long unsigned int", "unsigned long long" },
	{ "long unsigned int", "unsigned long" },
	{ "short unsigned int", "unsigned short" },
	{ "long long int", "long long" }, { "long int", "long" },
	{ "short int", "short" }, { "_Float128", "__float128" },
	{ "__int128 unsigned", "unsigned __int128" },
	{ NULL, NULL }
};

/* That NAME begins with; NULL: none of them. */
static const char *const *
rename_of(const char *name)
{
	const char *const (*r)[2] = renamed;

	while (**r && strncmp(name, **r, strlen(**r)))
		r++;
	return **r ? *r : NULL;
}

static const char *
base_name(const char *name)
{
	const char *const *r = name ? rename_of(name) : NULL;

	return r && !name[strlen(*r)] ? r[1] : name ? name : "";
}

/* Arguments of a template that are only there as text.  Types in it are as
 * they must be, numbers may not be. */
static void
put_text(struct writing *w, const char *text)
{
	char c[2] = "";

	while (*text) {
		bool begins = !strchr("_abcdefghijklmnopqrstuvwxyz0123456789",
		    c[0]) || !c[0];
		const char *const *r = begins ? rename_of(text) : NULL;

		w->failed |= begins && *text >= '0' && *text <= '9';
		if (r) {
			writing_put(w, r[1]);
			text += strlen(*r);
			c[0] = ' ';
		} else {
			c[0] = *text++;
			writing_put(w, c);
		}
	}
}

/* A number that a template has for an argument. */
static void
put_value(struct writing *w, Dwarf_Die *value)
{
	static const char *const ends[][2] = {
		{ "int", "" }, { "unsigned int", "u" }, { "long", "l" },
		{ "unsigned long", "ul" }, { "long long", "ll" },
		{ "unsigned long long", "ull" },
	};
	Dwarf_Attribute attr;
	Dwarf_Sword number;
	Dwarf_Die type;
	const char *name;

	if (!writing_type(value, &type) || dwarf_formsdata(dwarf_attr(value,
	    DW_AT_const_value, &attr), &number)) {
		w->failed = true;
		return;
	}
	name = base_name(dwarf_diename(&type));
	if (!strcmp(name, "bool")) {
		writing_put(w, number ? "true" : "false");
		return;
	}
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!strcmp(name, ends[i][0])) {
			fprintf(w->to, "%" PRId64 "%s", (int64_t)number,
			    ends[i][1]);
			return;
		}
	writing_put(w, "(");
	spelling_type(w, &type);
	fprintf(w->to, ")%" PRId64, (int64_t)number);
}

/* Those that PARENT has of a template; how many were before. */
static unsigned
put_arguments(struct writing *w, Dwarf_Die *parent, unsigned count)
{
	Dwarf_Die die, type;

	if (dwarf_child(parent, &die))
		return count;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_GNU_template_parameter_pack
		    && writing_spend(w)) {
			count = put_arguments(w, &die, count);
			continue;
		}
		if (tag == DW_TAG_GNU_template_template_param)
			w->failed = true;
		if (tag != DW_TAG_template_type_parameter
		    && tag != DW_TAG_template_value_parameter)
			continue;
		writing_put(w, count++ ? ", " : "<");
		if (tag == DW_TAG_template_value_parameter)
			put_value(w, &die);
		else if (writing_type(&die, &type))
			spelling_type(w, &type);
		else
			writing_put(w, "void");
	} while (writing_next(&die));
	return count;
}

bool
spelling_is_template(Dwarf_Die *die)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_template_type_parameter
		    || tag == DW_TAG_template_value_parameter
		    || tag == DW_TAG_GNU_template_template_param
		    || tag == DW_TAG_GNU_template_parameter_pack)
			return true;
	} while (writing_next(&child));
	return false;
}

/* Up to the arguments of a template, which an operator's name may have too. */
size_t
spelling_bare(const char *name)
{
	size_t from = 0;

	if (!strncmp(name, "operator", 8))
		from = 8 + strspn(name + 8, "<>=-");
	if (from > 9 && name[from - 1] == '>' && name[from - 2] == '<')
		from--;
	return from + strcspn(name + from, "<");
}

void
spelling_name(struct writing *w, Dwarf_Die *die, const char *name)
{
	if (!spelling_is_template(die)) {
		w->failed |= strpbrk(name, "'\"{") && strchr(name, '<');
		if (strncmp(name, "operator", 8))
			put_text(w, name);
		else
			writing_put(w, name);
		return;
	}
	fprintf(w->to, "%.*s", (int)spelling_bare(name), name);
	w->last = '\0';
	if (!put_arguments(w, die, 0))
		writing_put(w, "<");
	writing_put(w, w->last == '>' ? " >" : ">");
}

static unsigned
put_parameters(struct writing *w, Dwarf_Die *function, unsigned count)
{
	Dwarf_Die die, type;

	if (dwarf_child(function, &die))
		return count;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_GNU_formal_parameter_pack
		    && writing_spend(w)) {
			count = put_parameters(w, &die, count);
			continue;
		}
		if (tag != DW_TAG_unspecified_parameters
		    && (tag != DW_TAG_formal_parameter
		    || writing_has(&die, DW_AT_artificial)))
			continue;
		writing_put(w, count++ ? ", " : "");
		if (tag == DW_TAG_unspecified_parameters) {
			writing_put(w, "...");
			continue;
		}
		w->failed |= !writing_type(&die, &type);
		while (!w->failed && (dwarf_tag(&type) == DW_TAG_const_type
		    || dwarf_tag(&type) == DW_TAG_volatile_type))
			w->failed |= !writing_spend(w)
			    || !writing_type(&type, &type);
		if (!w->failed)
			spelling_type(w, &type);
	} while (writing_next(&die));
	return count;
}

/* NULL: of none. */
static Dwarf_Die *
find_this(Dwarf_Die *function, Dwarf_Die *first)
{
	if (dwarf_child(function, first))
		return NULL;
	while (dwarf_tag(first) != DW_TAG_formal_parameter)
		if (!writing_next(first))
			return NULL;
	return writing_has(first, DW_AT_artificial) ? first : NULL;
}

/* What `this` is a pointer to, and the function itself. */
void
spelling_qualifiers(struct writing *w, Dwarf_Die *function)
{
	bool is_const = false, is_volatile = false;
	Dwarf_Die type;

	if (find_this(function, &type) && writing_type(&type, &type)) {
		if (dwarf_tag(&type) == DW_TAG_const_type)
			writing_type(&type, &type);
		while (writing_type(&type, &type) && writing_spend(w)) {
			int tag = dwarf_tag(&type);

			if (tag != DW_TAG_const_type
			    && tag != DW_TAG_volatile_type)
				break;
			is_const |= tag == DW_TAG_const_type;
			is_volatile |= tag == DW_TAG_volatile_type;
		}
	}
	writing_put(w, is_const ? " const" : "");
	writing_put(w, is_volatile ? " volatile" : "");
	writing_put(w, writing_has(function, DW_AT_reference) ? " &" : "");
	writing_put(w, writing_has(function, DW_AT_rvalue_reference) ? " &&"
	    : "");
}

void
spelling_parameters(struct writing *w, Dwarf_Die *function)
{
	writing_put(w, "(");
	put_parameters(w, function, 0);
	writing_put(w, ")");
}

static bool
is_function(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_subroutine_type;
}

/* What is around a name of this type: `int (*` and `)(char)`. */
static const struct form {
	int tag;
	const char *mark;
} forms[] = {
	{ DW_TAG_pointer_type, "*" }, { DW_TAG_reference_type, "&" },
	{ DW_TAG_rvalue_reference_type, "&&" },
	{ DW_TAG_ptr_to_member_type, "*" },
	{ DW_TAG_const_type, " const" }, { DW_TAG_volatile_type, " volatile" },
	{ DW_TAG_restrict_type, " __restrict" },
	{ 0, NULL }
};

static const char *
mark_of(Dwarf_Die *type)
{
	const struct form *f = forms;

	while (f->mark && f->tag != dwarf_tag(type))
		f++;
	return f->mark;
}

static bool
is_wrapped(Dwarf_Die *type)
{
	return is_function(type) || dwarf_tag(type) == DW_TAG_array_type;
}

static void
put_member_of(struct writing *w, Dwarf_Die *type, bool function)
{
	Dwarf_Die class;

	if (dwarf_tag(type) != DW_TAG_ptr_to_member_type)
		return;
	writing_put(w, function ? "" : " ");
	if (writing_follow(type, DW_AT_containing_type, &class))
		spelling_class(w, &class);
	else
		w->failed = true;
	writing_put(w, "::");
}

static void
put_left(struct writing *w, Dwarf_Die *type)
{
	const char *mark = mark_of(type);
	Dwarf_Die target;
	bool found;

	if (!writing_spend(w))
		return;
	if (dwarf_tag(type) == DW_TAG_base_type
	    || dwarf_tag(type) == DW_TAG_unspecified_type) {
		writing_put(w, base_name(dwarf_diename(type)));
		return;
	}
	if (!mark && !is_wrapped(type)) {
		spelling_class(w, type);
		return;
	}
	found = writing_type(type, &target);
	if (found)
		put_left(w, &target);
	else
		writing_put(w, "void");
	if (!mark)
		return;
	if (found && is_wrapped(&target))
		writing_put(w, " (");
	put_member_of(w, type, found && is_function(&target));
	writing_put(w, mark);
}

static void
put_counts(struct writing *w, Dwarf_Die *array)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;

	writing_put(w, " ");
	if (dwarf_child(array, &die))
		return;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (dwarf_attr(&die, DW_AT_count, &attr))
			fprintf(w->to, "[%" PRIu64 "]",
			    number_of(&die, DW_AT_count));
		else if (dwarf_attr(&die, DW_AT_upper_bound, &attr))
			fprintf(w->to, "[%" PRIu64 "]",
			    number_of(&die, DW_AT_upper_bound) + 1);
		else
			writing_put(w, "[]");
	} while (writing_next(&die));
}

static void
put_right(struct writing *w, Dwarf_Die *type)
{
	const char *mark = mark_of(type);
	Dwarf_Die target;
	bool found = (mark || is_wrapped(type)) && writing_type(type, &target);

	if (!writing_spend(w))
		return;
	if (mark && found && is_wrapped(&target))
		writing_put(w, ")");
	if (is_function(type)) {
		spelling_parameters(w, type);
		spelling_qualifiers(w, type);
	} else if (is_wrapped(type)) {
		put_counts(w, type);
	}
	if (found)
		put_right(w, &target);
}

void
spelling_type(struct writing *w, Dwarf_Die *type)
{
	put_left(w, type);
	if (is_function(type))
		writing_put(w, " ");
	put_right(w, type);
}
