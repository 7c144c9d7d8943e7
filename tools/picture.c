/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "render_util.h"
#include "room.h"

/* Dark letters can be read on all of those for boxes. */
const struct picture_colors picture_colors = {
	.boxes = {
		0xf6c6b0, 0xf7d6a8, 0xf3e3a1, 0xe2e8a5, 0xcde9ac, 0xb8e8bd,
		0xb3e6d2, 0xb3e2e6, 0xb9d9f2, 0xc3cff5, 0xd3c8f6, 0xe3c6f2,
		0xf2c6e4, 0xf6c8d2, 0xe8d5c4, 0xd3dccb,
		[FLAMES_ROOT] = 0xe4e4e4, [FLAMES_FOLDED] = 0xf2f2f2,
	},
	.paper = 0xffffff, .ink = 0x222222, .faint = 0xdddddd,
	.most = 0xcfe0f5, .live = 0x2b6cb0, .peak = 0xb3261e,
};

enum {
	LETTER = 7,		/* about as wide as most are */
	MARKS_MOST = 1000,	/* more than there are pixels */
};

/* The area of the timeline in what it shows. */
struct frame {
	double from_s, to_s;
	double most;		/* bytes, a bit above the peak */
};

static struct frame
frame_of(const struct profile *p)
{
	struct frame f = { 0 };

	for (size_t i = 0; i < p->point_count; i++)
		if ((double)p->timeline[i].peak_bytes > f.most)
			f.most = (double)p->timeline[i].peak_bytes;
	if (p->peak_bytes.known && (double)p->peak_bytes.value > f.most)
		f.most = (double)p->peak_bytes.value;
	f.most = f.most > 0 ? f.most * 1.05 : 1;
	if (p->point_count && isfinite(p->timeline[0].s))
		f.from_s = p->timeline[0].s;
	f.to_s = isfinite(p->timeline_end_s) ? p->timeline_end_s : 0;
	/* Something that took no time is as wide as everything else. */
	if (!(f.to_s > f.from_s))
		f.to_s = f.from_s + 1e-6;
	return f;
}

static double
x_of(const struct frame *f, double s)
{
	double part = (s - f->from_s) / (f->to_s - f->from_s);

	if (!(part > 0))
		part = 0;
	return PICTURE_LEFT
	    + (part < 1 ? part : 1) * (PICTURE_RIGHT - PICTURE_LEFT);
}

static double
y_of(const struct frame *f, double bytes)
{
	double part = bytes / f->most;

	return PICTURE_BASE
	    - (part < 1 ? part : 1) * (PICTURE_BASE - PICTURE_TOP);
}

static void
set_points(struct picture *it, const struct profile *p, const struct frame *f)
{
	it->points = room_new(p->point_count, sizeof *it->points);
	it->point_count = p->point_count;
	for (size_t i = 0; i < p->point_count; i++) {
		const struct profile_point *point = p->timeline + i;
		double x = x_of(f, point->s), end = i + 1 < p->point_count
		    ? x_of(f, point[1].s) : PICTURE_RIGHT;

		it->points[i] = (struct picture_point){
			.x = x, .width = end > x ? end - x : 0,
			.live_y = y_of(f, (double)point->live_bytes),
			.peak_y = y_of(f, (double)point->peak_bytes),
			.is = point,
		};
	}
}

static void
set_peak(struct picture *it, const struct profile *p, const struct frame *f)
{
	struct picture_peak *peak = &it->peak;

	peak->known = p->peak_bytes.known && isfinite(p->peak_s)
	    && p->point_count;
	if (!peak->known)
		return;
	peak->x = x_of(f, p->peak_s);
	peak->y = y_of(f, (double)p->peak_bytes.value);
	peak->left = peak->x > (PICTURE_LEFT + PICTURE_RIGHT) / 2;
	snprintf(peak->text, sizeof peak->text, "peak %s at %.4f s",
	    cli_bytes(p->peak_bytes.value).text, p->peak_s);
}

static void
set_axes(struct picture *it, const struct frame *f)
{
	struct tick list[TICKS_MOST];

	it->up_count = ticks_bytes(f->most, list);
	for (unsigned i = 0; i < it->up_count; i++) {
		it->up[i].at = y_of(f, list[i].at);
		memcpy(it->up[i].text, list[i].text, sizeof list[i].text);
	}
	it->across_count = ticks_seconds(f->from_s, f->to_s, list);
	for (unsigned i = 0; i < it->across_count; i++) {
		it->across[i].at = x_of(f, list[i].at);
		memcpy(it->across[i].text, list[i].text, sizeof list[i].text);
	}
}

/* TEXT that can be shown; the caller frees it. */
static char *
clean(const char *text)
{
	char *copy = NULL;
	size_t bytes;
	FILE *to = open_memstream(&copy, &bytes);

	if (!to)
		room_none();
	render_line(to, text ? text : "", '\0');
	if (fclose(to))
		room_none();
	return copy;
}

/* One a pixel; a label where that of the one before has ended. */
static void
set_marks(struct picture *it, const struct profile *p, const struct frame *f)
{
	double last = -1, free_from = 0;

	it->marks = room_new(MARKS_MOST, sizeof *it->marks);
	for (size_t i = 0; i < p->mark_count && it->mark_count < MARKS_MOST;
	    i++) {
		const struct profile_mark *mark = p->marks + i;
		double x = x_of(f, mark->s), wide;
		struct picture_mark *to = it->marks + it->mark_count;

		if (!isfinite(mark->s) || x < last + 1)
			continue;
		*to = (struct picture_mark){ .x = x,
		    .label = clean(mark->label) };
		wide = (double)strlen(to->label) * LETTER + LETTER;
		to->has_room = x >= free_from && x + wide < PICTURE_RIGHT;
		if (to->has_room)
			free_from = x + wide;
		last = x;
		it->mark_count++;
	}
}

static void
set_facts(struct picture *it, const struct profile *p)
{
	size_t used = 0;

	if (p->peak_bytes.known)
		used += (size_t)snprintf(it->facts, sizeof it->facts,
		    "peak %s (%s bytes)", cli_bytes(p->peak_bytes.value).text,
		    cli_count(p->peak_bytes.value).text);
	if (p->live_bytes.known)
		used += (size_t)snprintf(it->facts + used,
		    sizeof it->facts - used, "%slive at end %s",
		    used ? "; " : "", cli_bytes(p->live_bytes.value).text);
	if (p->allocations.known)
		snprintf(it->facts + used, sizeof it->facts - used,
		    "%s%s allocations", used ? "; " : "",
		    cli_count(p->allocations.value).text);
}

static void
set_flames(struct picture *it, const struct profile *p,
    const struct render_look *look)
{
	const struct order *order = look->order ? look->order : orders;
	char room[PICTURE_AMOUNT];

	it->bytes = order->by.bytes;
	flames_make(&it->flames, p, order, look->leaks);
	it->height = PICTURE_FLAMES + it->flames.rows * PICTURE_ROW
	    + PICTURE_MARGIN;
	if (it->flames.count)
		snprintf(it->head, sizeof it->head, "%s by call stack: %s",
		    order->title, picture_amount(it, it->flames.total, room));
	else if (p->has_sites)
		snprintf(it->head, sizeof it->head, "no %s", order->title);
	else
		snprintf(it->head, sizeof it->head,
		    "recorded without stacks (heaphook-run -k)");
}

void
picture_make(struct picture *it, const struct profile *p,
    const struct render_look *look)
{
	const struct frame frame = frame_of(p);

	*it = (struct picture){ .title = render_command(p) };
	set_facts(it, p);
	set_axes(it, &frame);
	set_points(it, p, &frame);
	set_peak(it, p, &frame);
	set_marks(it, p, &frame);
	set_flames(it, p, look);
}

void
picture_free(struct picture *it)
{
	for (size_t i = 0; i < it->mark_count; i++)
		free(it->marks[i].label);
	free(it->marks);
	free(it->points);
	free(it->title);
	flames_free(&it->flames);
}

const char *
picture_amount(const struct picture *it, uint64_t value,
    char room[PICTURE_AMOUNT])
{
	if (it->bytes)
		snprintf(room, PICTURE_AMOUNT, "%s (%s bytes)",
		    cli_bytes(value).text, cli_count(value).text);
	else
		snprintf(room, PICTURE_AMOUNT, "%s", cli_count(value).text);
	return room;
}
