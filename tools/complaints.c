/* SPDX-License-Identifier: Apache-2.0 */
#include "complaints.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "render_stack.h"
#include "room.h"

/* Two profiles have objects of their own, of the same files. */
static bool
is_same(const struct profile_object *a, const struct profile_object *b)
{
	return !strcmp(a->path, b->path) && !strcmp(a->complaint, b->complaint);
}

static bool
has(const struct complaints *c, const struct profile_object *o)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i] == o)
			return true;
	for (size_t i = 0; i < c->count; i++)
		if (is_same(c->list[i], o))
			return true;
	return false;
}

void
complaints_add(struct complaints *c, const struct profile_frame *f)
{
	const struct profile_object *o = f->call->object;

	if (f->line || !o || !o->complaint || has(c, o))
		return;
	c->list = room_grow(c->list, c->count + 1, sizeof *c->list);
	c->list[c->count++] = o;
}

void
complaints_add_site(struct complaints *c, const struct profile_site *site)
{
	unsigned depth = render_stack_depth(site);

	if (depth)
		complaints_add(c, site->stack[names_headline(site)]);
	for (unsigned i = 0; i < depth; i++)
		complaints_add_caller(c, site->stack[i]);
}

void
complaints_free(struct complaints *c)
{
	free(c->list);
}

void
complaints_put(FILE *to, struct complaints *c, const struct render_look *look)
{
	for (size_t i = 0; i < c->count; i++) {
		fputs("  ", to);
		render_put(to, c->list[i]->path, UINT16_MAX, look->utf8);
		fprintf(to, ": %s\n", c->list[i]->complaint);
	}
	complaints_free(c);
}
