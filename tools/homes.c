/* SPDX-License-Identifier: Apache-2.0 */
#include "homes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "room.h"

enum { DEEPEST = 512 };		/* levels of a tree */

/* What names may be in, and what it is in itself. */
struct home {
	Dwarf_Die die;
	size_t in;		/* SIZE_MAX: nothing */
};

/* In the order of their places in the file. */
struct homes {
	struct homes *next;
	Dwarf_CU *cu;
	struct home *list;
	size_t count, room;
};

static bool
is_home(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type
	    || tag == DW_TAG_structure_type || tag == DW_TAG_union_type
	    || tag == DW_TAG_enumeration_type || tag == DW_TAG_subprogram;
}

static void
walk(struct homes *h, Dwarf_Die *parent, size_t in, unsigned deep)
{
	const void *seen = parent->addr;
	Dwarf_Die die;

	if (deep == DEEPEST || dwarf_child(parent, &die))
		return;
	do {
		size_t inner = in;

		if ((const char *)die.addr <= (const char *)seen)
			return;
		seen = die.addr;
		if (is_home(dwarf_tag(&die))) {
			if (h->count == h->room) {
				h->room = h->room ? 2 * h->room : 64;
				h->list = room_grow(h->list, h->room,
				    sizeof *h->list);
			}
			inner = h->count++;
			h->list[inner] = (struct home){ die, in };
		}
		walk(h, &die, inner, deep + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static struct homes *
of_unit(struct homes **list, Dwarf_CU *cu)
{
	struct homes *h = *list;
	Dwarf_Die top;

	while (h && h->cu != cu)
		h = h->next;
	if (h)
		return h;
	h = room_new(1, sizeof *h);
	h->cu = cu;
	h->next = *list;
	*list = h;
	if (dwarf_cu_die(cu, &top, NULL, NULL, NULL, NULL, NULL, NULL))
		walk(h, &top, SIZE_MAX, 0);
	return h;
}

static int
by_place(const void *key, const void *home)
{
	const char *a = key, *b = ((const struct home *)home)->die.addr;

	return (a > b) - (a < b);
}

Dwarf_Die *
homes_find(struct homes **list, Dwarf_Die *die)
{
	struct homes *h = of_unit(list, die->cu);
	const struct home *found = h->count ? bsearch(die->addr, h->list,
	    h->count, sizeof *h->list, by_place) : NULL;

	return found && found->in != SIZE_MAX ? &h->list[found->in].die : NULL;
}

void
homes_free(struct homes *list)
{
	while (list) {
		struct homes *h = list;

		list = h->next;
		free(h->list);
		free(h);
	}
}
