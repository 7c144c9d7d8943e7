/* SPDX-License-Identifier: Apache-2.0 */
#include "render_stack.h"

#include <inttypes.h>
#include <string.h>

#include "names.h"

enum {
	CALLERS_SHOWN = 3,	/* when nobody says how many sites */
	CALLERS_MOST = 12,
	CALLER_COLUMNS = 14,	/* before a caller */
	PLACE_BYTES = 256,
};

/* Where a frame is, for behind its function. */
static void
find_place(const struct profile_frame *f, char *place)
{
	const struct profile_object *o = f->call->object;
	const char *object = o && o->path ? names_last(o->path) : "";

	if (f->file && f->line)
		snprintf(place, PLACE_BYTES, "%s:%u", names_last(f->file),
		    f->line);
	else if (f->file)
		snprintf(place, PLACE_BYTES, "%s", names_last(f->file));
	else if (f->function)
		snprintf(place, PLACE_BYTES, "%s", object);
	else
		snprintf(place, PLACE_BYTES, "%s%s0x%" PRIx64, object,
		    *object ? "+" : "", f->call->address);
}

void
render_stack_frame(FILE *to, const struct render_look *look,
    const struct profile_frame *f, unsigned columns)
{
	char place[PLACE_BYTES];
	unsigned around, left;
	bool utf8 = look->utf8;

	find_place(f, place);
	if (!f->function) {
		render_put(to, place, columns, utf8);
		return;
	}
	around = *place ? (unsigned)strlen(place) + 3 : 0;
	left = columns > around + 12 ? columns - around : 12;
	if (strlen(f->function) <= left) {
		render_put(to, f->function, left, utf8);
	} else {
		render_put(to, f->function, left - 3, utf8);
		fputs("...", to);
	}
	if (*place) {
		fputs(" (", to);
		render_put(to, place, PLACE_BYTES, utf8);
		fputc(')', to);
	}
}

unsigned
render_stack_depth(const struct profile_site *site)
{
	for (unsigned i = 0; i < site->depth; i++) {
		const char *function = site->stack[i]->function;

		if (function && !strcmp(function, "main"))
			return i + 1;
		if (i && function && !strncmp(function, "__libc_start_", 13))
			return i;
	}
	return site->depth;
}

static void
put_callers(FILE *to, const struct render_look *look,
    const struct profile_site *site, unsigned from)
{
	unsigned most = look->top || look->leaks ? CALLERS_MOST
	    : CALLERS_SHOWN;
	unsigned depth = render_stack_depth(site);
	unsigned end = depth > from + most ? from + most : depth;

	for (unsigned i = from; i < end; i++) {
		fprintf(to, "%*s", CALLER_COLUMNS, "");
		render_stack_frame(to, look, site->stack[i],
		    look->columns - CALLER_COLUMNS);
		fputc('\n', to);
	}
	if (end < depth)
		fprintf(to, "%*sand %u more\n", CALLER_COLUMNS, "",
		    depth - end);
}

/* The headline is who asked for memory, not by what means. */
void
render_stack(FILE *to, const struct render_look *look,
    const struct profile_site *site)
{
	unsigned headline = names_headline(site);

	if (!site->depth) {
		fputs("(stack unknown)\n", to);
		return;
	}
	render_stack_frame(to, look, site->stack[headline],
	    look->columns - RENDER_STACK_COLUMNS);
	fputc('\n', to);
	if (headline) {
		fprintf(to, "%*sby ", CALLER_COLUMNS, "");
		render_stack_frame(to, look, site->stack[headline - 1],
		    look->columns - CALLER_COLUMNS - 3);
		fputc('\n', to);
	}
	put_callers(to, look, site, headline + 1);
}
