/* SPDX-License-Identifier: Apache-2.0 */
/* One file for a browser: what it shows, and the script that zooms. */
#include "render.h"

#include <inttypes.h>

#include "cli.h"
#include "picture.h"
#include "picture_script.h"

/* TEXT can be seen, as render_line makes it. */
static void
put_text(FILE *to, const char *text)
{
	static const struct {
		char is;
		const char *as;
	} marks[] = {
		{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" },
		{ '"', "&quot;" }, { '\0', NULL }
	};
	unsigned i;

	for (; *text; text++) {
		for (i = 0; marks[i].as && marks[i].is != *text; i++)
			;
		if (marks[i].as)
			fputs(marks[i].as, to);
		else
			fputc(*text, to);
	}
}

static void
put_style(FILE *to)
{
	const struct picture_colors *c = &picture_colors;

	fprintf(to, "<style>\n"
	    "text { font: %dpx sans-serif; fill: #%06x }\n"
	    "#title { font-size: %dpx; font-weight: bold }\n"
	    "#look, #reset, .box { cursor: pointer }\n"
	    ".right { text-anchor: end }\n"
	    ".middle { text-anchor: middle }\n"
	    ".grid, .marked { stroke: #%06x }\n"
	    ".marked { stroke: #%06x; stroke-dasharray: 3 3 }\n"
	    ".point rect { fill: none; pointer-events: all }\n"
	    ".point:hover rect { fill: #%06x; fill-opacity: 0.1 }\n"
	    ".box rect { stroke: #%06x; stroke-width: 0.5 }\n"
	    ".box:hover rect { stroke: #%06x }\n"
	    ".hit rect { stroke: #%06x; stroke-width: 3 }\n",
	    PICTURE_TEXT, c->ink, PICTURE_BIG, c->faint, c->ink, c->ink,
	    c->paper, c->ink, c->peak);
	for (unsigned i = 0; i <= FLAMES_FOLDED; i++)
		fprintf(to, ".c%u { fill: #%06x }\n", i, c->boxes[i]);
	fputs("</style>\n", to);
}

static void
put_line(FILE *to, const char *id, const char *class, double x, double y,
    const char *text)
{
	fprintf(to, "<text%s%s%s class=\"%s\" x=\"%.2f\" y=\"%.2f\">",
	    *id ? " id=\"" : "", id, *id ? "\"" : "", class, x, y);
	put_text(to, text);
	fputs("</text>\n", to);
}

static void
put_axes(FILE *to, const struct picture *it)
{
	for (unsigned i = 0; i < it->up_count; i++) {
		fprintf(to, "<path class=\"grid\" d=\"M%d %.2fH%d\"/>\n",
		    PICTURE_LEFT, it->up[i].at, PICTURE_RIGHT);
		put_line(to, "", "up right", PICTURE_LEFT - 6,
		    it->up[i].at + 4, it->up[i].text);
	}
	for (unsigned i = 0; i < it->across_count; i++) {
		fprintf(to, "<path class=\"grid\" d=\"M%.2f %dv4\"/>\n",
		    it->across[i].at, PICTURE_BASE);
		put_line(to, "", "across middle", it->across[i].at,
		    PICTURE_ACROSS_Y, it->across[i].text);
	}
}

/* What was most within each point, and what was live at its end. */
static void
put_curves(FILE *to, const struct picture *it)
{
	const struct picture_colors *c = &picture_colors;

	if (!it->point_count)
		return;
	fprintf(to, "<path id=\"most\" fill=\"#%06x\" d=\"M%.2f %d", c->most,
	    it->points[0].x, PICTURE_BASE);
	for (size_t i = 0; i < it->point_count; i++)
		fprintf(to, "V%.2fH%.2f", it->points[i].peak_y,
		    it->points[i].x + it->points[i].width);
	fprintf(to, "V%dZ\"/>\n<path id=\"live\" fill=\"none\" "
	    "stroke=\"#%06x\" d=\"M%.2f %.2f", PICTURE_BASE, c->live,
	    it->points[0].x, it->points[0].live_y);
	for (size_t i = 0; i < it->point_count; i++)
		fprintf(to, "L%.2f %.2f",
		    it->points[i].x + it->points[i].width,
		    it->points[i].live_y);
	fputs("\"/>\n", to);
}

static void
put_point(FILE *to, const struct picture_point *p)
{
	fprintf(to, "<g class=\"point\"><title>from %.4f s\n", p->is->s);
	fprintf(to, "at most %s, then %s</title>",
	    cli_bytes(p->is->peak_bytes).text,
	    cli_bytes(p->is->live_bytes).text);
	fprintf(to, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
	    "height=\"%d\"/></g>\n", p->x, PICTURE_TOP, p->width,
	    PICTURE_BASE - PICTURE_TOP);
}

static void
put_mark(FILE *to, const struct picture_mark *mark)
{
	fputs("<g class=\"mark\"><title>", to);
	put_text(to, mark->label);
	fprintf(to, "</title><path class=\"marked\" d=\"M%.2f %dV%d\"/>",
	    mark->x, PICTURE_TOP, PICTURE_BASE);
	if (mark->has_room)
		put_line(to, "", "", mark->x + PICTURE_INDENT,
		    PICTURE_TOP - 4, mark->label);
	fputs("</g>\n", to);
}

static void
put_timeline(FILE *to, const struct picture *it)
{
	const struct picture_peak *peak = &it->peak;

	fputs("<g id=\"timeline\">\n", to);
	put_axes(to, it);
	put_curves(to, it);
	for (size_t i = 0; i < it->point_count; i++)
		put_point(to, it->points + i);
	for (size_t i = 0; i < it->mark_count; i++)
		put_mark(to, it->marks + i);
	if (peak->known) {
		fprintf(to, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"4\" "
		    "fill=\"#%06x\"/>\n", peak->x, peak->y,
		    picture_colors.peak);
		put_line(to, "peak", peak->left ? "right" : "",
		    peak->x + (peak->left ? -8 : 8), peak->y + 4,
		    peak->text);
	}
	fputs("</g>\n", to);
}

static void
put_box(FILE *to, const struct picture *it, const struct flames_box *box)
{
	char room[FLAMES_LABEL], amount[PICTURE_AMOUNT];
	const char *name = flames_label(box, room);
	double width = picture_box_width(it, box);

	fprintf(to, "<svg class=\"box\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" "
	    "height=\"%d\" data-row=\"%u\" data-from=\"%" PRIu64
	    "\" data-value=\"%" PRIu64 "\"><title>",
	    picture_x(it, box->from), picture_box_y(box), width, PICTURE_BOX,
	    box->row, box->from, box->value);
	put_text(to, name);
	fprintf(to, "\n%s, %.1f %%</title><rect class=\"c%u\" "
	    "width=\"100%%\" height=\"100%%\"/>",
	    picture_amount(it, box->value, amount), picture_percent(it, box),
	    box->color);
	if (width >= PICTURE_NARROW) {
		fprintf(to, "<text x=\"%d\" y=\"%d\">", PICTURE_INDENT,
		    PICTURE_DROP);
		put_text(to, name);
		fputs("</text>", to);
	}
	fputs("</svg>\n", to);
}

static void
put_flames(FILE *to, const struct picture *it)
{
	put_line(to, "head", "", PICTURE_MARGIN, PICTURE_HEAD_Y, it->head);
	if (it->flames.count) {
		put_line(to, "look", "right", PICTURE_RIGHT - 60,
		    PICTURE_HEAD_Y, "search");
		put_line(to, "reset", "right", PICTURE_RIGHT, PICTURE_HEAD_Y,
		    "reset");
	}
	put_line(to, "info", "", PICTURE_MARGIN, PICTURE_INFO_Y, "");
	fprintf(to, "<g id=\"flames\" data-left=\"%d\" data-width=\"%d\" "
	    "data-narrow=\"%d\" data-unit=\"%s\" data-total=\"%" PRIu64
	    "\">\n", PICTURE_MARGIN, PICTURE_RIGHT - PICTURE_MARGIN,
	    PICTURE_NARROW, it->bytes ? " bytes" : "", it->flames.total);
	for (size_t i = 0; i < it->flames.count; i++)
		put_box(to, it, it->flames.boxes + i);
	fputs("</g>\n", to);
}

void
render_svg(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct picture it;

	if (!count)
		return;
	picture_make(&it, list, look);
	fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%u\" viewBox=\"0 0 %d %u\">\n<title>", PICTURE_WIDTH,
	    it.height, PICTURE_WIDTH, it.height);
	put_text(to, it.title);
	fputs("</title>\n", to);
	put_style(to);
	fprintf(to, "<rect width=\"100%%\" height=\"100%%\" "
	    "fill=\"#%06x\"/>\n", picture_colors.paper);
	put_line(to, "title", "", PICTURE_MARGIN, PICTURE_TITLE_Y, it.title);
	put_line(to, "facts", "", PICTURE_MARGIN, PICTURE_FACTS_Y, it.facts);
	put_timeline(to, &it);
	put_flames(to, &it);
	fprintf(to, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
	    picture_script);
	picture_free(&it);
}
