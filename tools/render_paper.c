/* SPDX-License-Identifier: Apache-2.0 */
/* By cairo: what does not move, for papers and slides. */
#include "render.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "picture.h"

enum { STATUS_FAILED = 3 };

/* A pixel of the layout in pixels of a png: screens have become finer. */
enum { PNG_SCALE = 2 };

const char *const render_paper_lacks = NULL;

static void
set_color(cairo_t *c, unsigned rgb)
{
	cairo_set_source_rgb(c, (rgb >> 16 & 255) / 255.,
	    (rgb >> 8 & 255) / 255., (rgb & 255) / 255.);
}

/* ALIGN is 0, 0.5 or 1: where in the text X is. */
static void
put_line(cairo_t *c, double x, double y, double align, const char *text)
{
	cairo_text_extents_t e;

	cairo_text_extents(c, text, &e);
	set_color(c, picture_colors.ink);
	cairo_move_to(c, x - align * e.x_advance, y);
	cairo_show_text(c, text);
}

static void
put_stroke(cairo_t *c, double x, double y, double to_x, double to_y)
{
	cairo_move_to(c, x, y);
	cairo_line_to(c, to_x, to_y);
	cairo_stroke(c);
}

static void
put_axes(cairo_t *c, const struct picture *it)
{
	for (unsigned i = 0; i < it->up_count; i++) {
		double y = it->up[i].at;

		set_color(c, picture_colors.faint);
		put_stroke(c, PICTURE_LEFT, y, PICTURE_RIGHT, y);
		put_line(c, PICTURE_LEFT - 6, y + 4, 1, it->up[i].text);
	}
	for (unsigned i = 0; i < it->across_count; i++) {
		double x = it->across[i].at;

		set_color(c, picture_colors.faint);
		put_stroke(c, x, PICTURE_BASE, x, PICTURE_BASE + 4);
		put_line(c, x, PICTURE_ACROSS_Y, 0.5, it->across[i].text);
	}
}

static void
put_curves(cairo_t *c, const struct picture *it)
{
	const struct picture_point *p = it->points;

	if (!it->point_count)
		return;
	cairo_move_to(c, p->x, PICTURE_BASE);
	for (size_t i = 0; i < it->point_count; i++) {
		cairo_line_to(c, p[i].x, p[i].peak_y);
		cairo_line_to(c, p[i].x + p[i].width, p[i].peak_y);
	}
	cairo_line_to(c, PICTURE_RIGHT, PICTURE_BASE);
	set_color(c, picture_colors.most);
	cairo_fill(c);
	cairo_move_to(c, p->x, p->live_y);
	for (size_t i = 0; i < it->point_count; i++)
		cairo_line_to(c, p[i].x + p[i].width, p[i].live_y);
	set_color(c, picture_colors.live);
	cairo_stroke(c);
}

static void
put_mark(cairo_t *c, const struct picture_mark *mark)
{
	static const double dashes[] = { 3 };

	set_color(c, picture_colors.ink);
	cairo_set_dash(c, dashes, 1, 0);
	put_stroke(c, mark->x, PICTURE_TOP, mark->x, PICTURE_BASE);
	cairo_set_dash(c, NULL, 0, 0);
	if (mark->has_room)
		put_line(c, mark->x + PICTURE_INDENT, PICTURE_TOP - 4, 0,
		    mark->label);
}

static void
put_timeline(cairo_t *c, const struct picture *it)
{
	const struct picture_peak *peak = &it->peak;

	put_axes(c, it);
	put_curves(c, it);
	for (size_t i = 0; i < it->mark_count; i++)
		put_mark(c, it->marks + i);
	if (!peak->known)
		return;
	cairo_arc(c, peak->x, peak->y, 4, 0, 2 * M_PI);
	set_color(c, picture_colors.peak);
	cairo_fill(c);
	put_line(c, peak->x + (peak->left ? -8 : 8), peak->y + 4, peak->left,
	    peak->text);
}

static void
put_box(cairo_t *c, const struct picture *it, const struct flames_box *box)
{
	char room[FLAMES_LABEL];
	double x = picture_x(it, box->from), y = picture_box_y(box);
	double width = picture_box_width(it, box);

	cairo_rectangle(c, x, y, width, PICTURE_BOX);
	set_color(c, picture_colors.boxes[box->color]);
	cairo_fill_preserve(c);
	set_color(c, picture_colors.paper);
	cairo_stroke_preserve(c);
	if (width < PICTURE_NARROW) {
		cairo_new_path(c);
		return;
	}
	cairo_save(c);
	cairo_clip(c);
	put_line(c, x + PICTURE_INDENT, y + PICTURE_DROP, 0,
	    flames_label(box, room));
	cairo_restore(c);
}

static void
put_picture(cairo_t *c, const struct picture *it)
{
	set_color(c, picture_colors.paper);
	cairo_paint(c);
	cairo_set_line_width(c, 1);
	cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
	    CAIRO_FONT_WEIGHT_BOLD);
	cairo_set_font_size(c, PICTURE_BIG);
	put_line(c, PICTURE_MARGIN, PICTURE_TITLE_Y, 0, it->title);
	cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
	    CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(c, PICTURE_TEXT);
	put_line(c, PICTURE_MARGIN, PICTURE_FACTS_Y, 0, it->facts);
	put_timeline(c, it);
	put_line(c, PICTURE_MARGIN, PICTURE_HEAD_Y, 0, it->head);
	cairo_set_line_width(c, 0.5);
	for (size_t i = 0; i < it->flames.count; i++)
		put_box(c, it, it->flames.boxes + i);
}

static cairo_status_t
write_some(void *to, const unsigned char *bytes, unsigned count)
{
	return fwrite(bytes, 1, count, to) == count ? CAIRO_STATUS_SUCCESS
	    : CAIRO_STATUS_WRITE_ERROR;
}

/* What could not be written is noticed by who closes the file. */
static void
check(cairo_status_t status)
{
	if (status && status != CAIRO_STATUS_WRITE_ERROR)
		die(STATUS_FAILED, "the picture cannot be drawn: cairo says "
		    "\"%s\"", cairo_status_to_string(status));
}

static void
paint(cairo_surface_t *surface, const struct picture *it, double scale)
{
	cairo_t *c = cairo_create(surface);

	cairo_scale(c, scale, scale);
	put_picture(c, it);
	check(cairo_status(c));
	cairo_destroy(c);
}

/* One log makes the same bytes whenever it is drawn. */
static void
set_date(cairo_surface_t *surface, double start)
{
	char date[32] = "1970-01-01T00:00:00Z";
	time_t when = isfinite(start) ? (time_t)start : 0;
	struct tm tm;

	if (gmtime_r(&when, &tm) && tm.tm_year < 8000)
		strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
	cairo_pdf_surface_set_metadata(surface,
	    CAIRO_PDF_METADATA_CREATE_DATE, date);
}

void
render_pdf(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct picture it;
	cairo_surface_t *surface;

	if (!count)
		return;
	picture_make(&it, list, look);
	surface = cairo_pdf_surface_create_for_stream(write_some, to,
	    PICTURE_WIDTH, it.height);
	cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
	    it.title);
	set_date(surface, list->start);
	paint(surface, &it, 1);
	cairo_surface_finish(surface);
	check(cairo_surface_status(surface));
	cairo_surface_destroy(surface);
	picture_free(&it);
}

void
render_png(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct picture it;
	cairo_surface_t *surface;

	if (!count)
		return;
	picture_make(&it, list, look);
	surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
	    PNG_SCALE * PICTURE_WIDTH, PNG_SCALE * (int)it.height);
	paint(surface, &it, PNG_SCALE);
	check(cairo_surface_write_to_png_stream(surface, write_some, to));
	cairo_surface_destroy(surface);
	picture_free(&it);
}
