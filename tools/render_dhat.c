/* SPDX-License-Identifier: Apache-2.0 */
/* For dh_view.html: version 2 of what DHAT writes, with lives of blocks but
 * without accesses.  Time is in microseconds. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "render_util.h"

#define SITE(field) offsetof(struct profile_site, field)

/* Bytes and blocks: in all, at a site's own peak, at the program's, at the
 * end. */
static const struct render_value before_life[] = {
	{ "tb", "bytes", SITE(allocated_bytes) },
	{ "tbk", "blocks", SITE(allocations) },
	{ NULL, NULL, 0 }
}, after_life[] = {
	{ "mb", "bytes", SITE(most_bytes) },
	{ "mbk", "blocks", SITE(most_blocks) },
	{ "gb", "bytes", SITE(peak_bytes) },
	{ "gbk", "blocks", SITE(peak_blocks) },
	{ "eb", "bytes", SITE(live_bytes) },
	{ "ebk", "blocks", SITE(live_blocks) },
	{ NULL, NULL, 0 }
};

static uint64_t
us(double s)
{
	return isfinite(s) && s > 0 ? (uint64_t)(s * 1e6) : 0;
}

/* Short fields are a reader's: te is the end, tg the peak, tuth what lives
 * shortly. */
static void
put_head(FILE *to, const struct profile *p)
{
	char *command = render_command(p);

	fputs("{\"dhatFileVersion\":2,\"mode\":\"heaphook\","
	    "\"verb\":\"Allocated\",\n\"bklt\":true,\"bkacc\":false,\n"
	    "\"tu\":\"\xc2\xb5s\",\"Mtu\":\"s\",\"tuth\":500,\n\"cmd\":", to);
	render_quote(to, command);
	fprintf(to, ",\"pid\":%" PRIu64 ",\"te\":%" PRIu64 ",\"tg\":%" PRIu64,
	    p->pid.value, us(p->elapsed_s), us(p->peak_s));
	free(command);
}

static void
put_values(FILE *to, const struct profile_site *site,
    const struct render_value *v)
{
	for (; v->name; v++)
		fprintf(to, "\"%s\":%" PRIu64 ",", v->name,
		    render_value_of(site, v));
}

/* Frames are numbered as they are put: 0 is the root, 1 the unknown. */
static void
put_site(FILE *to, const struct profile *p, const uint32_t *first,
    const struct profile_site *site)
{
	fputc('{', to);
	put_values(to, site, before_life);
	fprintf(to, "\"tl\":%" PRIu64 ",", us(site->lived_s));
	put_values(to, site, after_life);
	fputs("\"fs\":[", to);
	if (!site->depth)
		fputc('1', to);
	for (unsigned i = 0; i < site->depth; i++)
		fprintf(to, "%s%" PRIu32, i ? "," : "",
		    render_frame(p, first, site->stack[i]) + 1);
	fputs("]}", to);
}

static void
put_frame(FILE *to, const struct profile_frame *f)
{
	const struct profile_object *o = f->call->object;
	char room[RENDER_NAME], *text = NULL;
	size_t bytes;
	FILE *line = open_memstream(&text, &bytes);

	if (!line)
		return;
	fprintf(line, "0x%" PRIX64 ": %s (", f->call->address,
	    render_name(f, room));
	if (f->file && f->line)
		fprintf(line, "%s:%u)", f->file, f->line);
	else
		fprintf(line, "in %s)", o && o->path ? o->path : "???");
	fclose(line);
	fputs(",\n", to);
	render_quote(to, text);
	free(text);
}

void
render_dhat(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	uint32_t *first;

	(void)look;
	if (!count)
		return;
	first = render_frames(list);
	put_head(to, list);
	fputs(",\n\"pps\":[", to);
	for (size_t i = 0; i < list->site_count; i++) {
		fputs(i ? ",\n" : "\n", to);
		put_site(to, list, first, list->sites + i);
	}
	fputs("],\n\"ftbl\":[\"[root]\",\n\"(stack unknown)\"", to);
	for (size_t i = 0; i < list->call_count; i++)
		for (unsigned k = 0; k < list->calls[i].frame_count; k++)
			put_frame(to, list->calls[i].frames + k);
	fputs("]}\n", to);
	free(first);
}
