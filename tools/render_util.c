/* SPDX-License-Identifier: Apache-2.0 */
#include "render_util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "render.h"
#include "room.h"

void
render_quote(FILE *to, const char *text)
{
	if (!text) {
		fputs("null", to);
		return;
	}
	fputc('"', to);
	while (*text) {
		unsigned bytes = render_seen(text);

		if (*text == '"' || *text == '\\')
			fprintf(to, "\\%c", *text);
		else if (bytes)
			fwrite(text, 1, bytes, to);
		else if ((unsigned char)*text < 0x80)
			fprintf(to, "\\u%04x", (unsigned)*text);
		else
			fputs("\\ufffd", to);
		text += bytes ? bytes : 1;
	}
	fputc('"', to);
}

void
render_line(FILE *to, const char *text, char but)
{
	while (*text) {
		unsigned bytes = render_seen(text);

		if (!bytes)
			fputc('?', to);
		else if (*text == but)
			fputc(':', to);
		else
			fwrite(text, 1, bytes, to);
		text += bytes ? bytes : 1;
	}
}

char *
render_command(const struct profile *p)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		room_none();
	for (size_t i = 0; i < p->argv.count; i++) {
		fputs(i ? " " : "", to);
		render_line(to, p->argv.list[i], '\0');
	}
	if (!p->argv.count)
		render_line(to, p->exe ? p->exe : "unknown", '\0');
	if (fclose(to))
		room_none();
	return text;
}

const char *
render_name(const struct profile_frame *f, char room[RENDER_NAME])
{
	const struct profile_object *o;

	if (!f)
		return "(stack unknown)";
	if (f->function)
		return f->function;
	o = f->call->object;
	snprintf(room, RENDER_NAME, "%s%s0x%" PRIx64,
	    o && o->path ? names_last(o->path) : "", o && o->path ? "+" : "",
	    f->call->address);
	return room;
}

uint32_t *
render_frames(const struct profile *p)
{
	uint32_t *first = room_new(p->call_count + 1, sizeof *first);

	first[0] = 1;
	for (size_t i = 0; i < p->call_count; i++)
		first[i + 1] = first[i] + p->calls[i].frame_count;
	return first;
}

#define VALUE(name, unit) { #name, unit, offsetof(struct profile_site, name) }

const struct render_value render_values[] = {
	VALUE(peak_bytes, "bytes"),
	VALUE(live_bytes, "bytes"),
	VALUE(live_blocks, "count"),
	VALUE(allocated_bytes, "bytes"),
	VALUE(allocations, "count"),
	VALUE(temporary, "count"),
	{ NULL, NULL, 0 }
};
