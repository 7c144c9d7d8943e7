/* SPDX-License-Identifier: Apache-2.0 */
/* For speedscope: a profile each for what sites had at the peak, at the end
 * and in all.  Frame 0 is the unknown. */
#include "render.h"

#include <inttypes.h>
#include <stdlib.h>

#include "render_util.h"

static const struct render_value profiles[] = {
	{ "peak", "bytes", offsetof(struct profile_site, peak_bytes) },
	{ "live at end", "bytes", offsetof(struct profile_site, live_bytes) },
	{ "allocated", "bytes",
	    offsetof(struct profile_site, allocated_bytes) },
};
enum { PROFILES = sizeof profiles / sizeof *profiles };

static void
put_frame(FILE *to, const struct profile_frame *f)
{
	char room[RENDER_NAME];

	fputs(f ? ",\n{\"name\":" : "\n{\"name\":", to);
	render_quote(to, render_name(f, room));
	if (f && f->file) {
		fputs(",\"file\":", to);
		render_quote(to, f->file);
	}
	if (f && f->line)
		fprintf(to, ",\"line\":%u", f->line);
	fputc('}', to);
}

static void
put_frames(FILE *to, const struct profile *p)
{
	fputs("\"shared\":{\"frames\":[", to);
	put_frame(to, NULL);
	for (size_t i = 0; i < p->call_count; i++)
		for (unsigned k = 0; k < p->calls[i].frame_count; k++)
			put_frame(to, p->calls[i].frames + k);
	fputs("]},\n", to);
}

/* Outermost first. */
static void
put_stack(FILE *to, const struct profile *p, const uint32_t *first,
    const struct profile_site *site)
{
	fputc('[', to);
	if (!site->depth)
		fputc('0', to);
	for (unsigned i = site->depth; i-- > 0;)
		fprintf(to, "%" PRIu32 "%s",
		    render_frame(p, first, site->stack[i]), i ? "," : "");
	fputc(']', to);
}

static void
put_profile(FILE *to, const struct profile *p, const uint32_t *first,
    const struct render_value *v)
{
	uint64_t sum = 0;
	const char *comma = "\n";

	fprintf(to, "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\","
	    "\"startValue\":0,\"samples\":[", v->name, v->unit);
	for (size_t i = 0; i < p->site_count; i++) {
		if (!render_value_of(p->sites + i, v))
			continue;
		fputs(comma, to);
		put_stack(to, p, first, p->sites + i);
		comma = ",\n";
	}
	fputs("],\n\"weights\":[", to);
	for (size_t i = 0; i < p->site_count; i++) {
		uint64_t value = render_value_of(p->sites + i, v);

		if (value)
			fprintf(to, "%s%" PRIu64, sum ? "," : "", value);
		sum += value;
	}
	fprintf(to, "],\n\"endValue\":%" PRIu64 "}", sum);
}

void
render_speedscope(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	uint32_t *first;
	char *command;

	(void)look;
	if (!count)
		return;
	first = render_frames(list);
	command = render_command(list);
	fputs("{\"$schema\":\"https://www.speedscope.app/"
	    "file-format-schema.json\",\n\"exporter\":\"heaphook-report "
	    PACKAGE_VERSION "\",\n\"name\":", to);
	render_quote(to, command);
	fputs(",\n\"activeProfileIndex\":0,\n", to);
	put_frames(to, list);
	fputs("\"profiles\":[", to);
	for (unsigned i = 0; i < PROFILES; i++) {
		fputs(i ? ",\n" : "\n", to);
		put_profile(to, list, first, profiles + i);
	}
	fputs("]}\n", to);
	free(command);
	free(first);
}
