/* SPDX-License-Identifier: Apache-2.0 */
#include "writing.h"

#include <dwarf.h>
#include <string.h>

bool
writing_follow(Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr(die, name, &attr), to);
}

Dwarf_Die
writing_declared(Dwarf_Die die)
{
	static const unsigned ways[] = {
		DW_AT_abstract_origin, DW_AT_specification, DW_AT_signature,
	};
	Dwarf_Die next;

	for (unsigned i = 0; i < 24; i++)
		if (writing_follow(&die, ways[i % 3], &next))
			die = next;
	return die;
}

bool
writing_has(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool flag = false;

	return !dwarf_formflag(dwarf_attr_integrate(die, name, &attr), &flag)
	    && flag;
}

bool
writing_type(Dwarf_Die *die, Dwarf_Die *type)
{
	if (!writing_follow(die, DW_AT_type, type))
		return false;
	for (unsigned i = 0; dwarf_tag(type) == DW_TAG_typedef && i < 64; i++)
		if (!writing_follow(type, DW_AT_type, type))
			return false;
	return true;
}

void
writing_put(struct writing *w, const char *text)
{
	if (!*text)
		return;
	fputs(text, w->to);
	w->last = text[strlen(text) - 1];
}

bool
writing_spend(struct writing *w)
{
	if (!w->left)
		w->failed = true;
	else
		w->left--;
	return !w->failed;
}

bool
writing_next(Dwarf_Die *die)
{
	const char *seen = die->addr;

	return !dwarf_siblingof(die, die) && (const char *)die->addr > seen;
}
