/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a picture: the timeline above, a flame graph below.  Places
 * are settled here, in pixels from the top left, as far as they depend on
 * the profile; who paints adds nothing of his own. */
#ifndef TOOLS_PICTURE_H
#define TOOLS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "flames.h"
#include "profile.h"
#include "render.h"
#include "ticks.h"

enum {
	PICTURE_WIDTH = 1200,
	PICTURE_MARGIN = 10,
	PICTURE_TITLE_Y = 24,		/* where its line of text stands */
	PICTURE_FACTS_Y = 44,
	PICTURE_LEFT = 80,		/* of the timeline's area */
	PICTURE_RIGHT = PICTURE_WIDTH - PICTURE_MARGIN,
	PICTURE_TOP = 72,
	PICTURE_BASE = 272,
	PICTURE_ACROSS_Y = 288,		/* the labels below it */
	PICTURE_HEAD_Y = 320,		/* of the flame graph */
	PICTURE_INFO_Y = 338,
	PICTURE_FLAMES = 348,		/* their top */
	PICTURE_ROW = 18,
	PICTURE_BOX = PICTURE_ROW - 1,	/* its height */
	PICTURE_TEXT = 12,		/* size of letters */
	PICTURE_BIG = 16,
	PICTURE_INDENT = 3,		/* of the text in a box */
	PICTURE_DROP = 13,		/* from a box's top to where its text
					 * stands */
	PICTURE_NARROW = 24,		/* a box without text */
};

/* The color of a thing, 0xRRGGBB. */
struct picture_colors {
	unsigned boxes[FLAMES_FOLDED + 1];
	unsigned paper, ink, faint, most, live, peak;
};
extern const struct picture_colors picture_colors;

struct picture_tick {
	double at;		/* its x, or y */
	char text[24];
};

/* As long as one point of the timeline lasts. */
struct picture_point {
	double x, width;
	double live_y, peak_y;
	const struct profile_point *is;
};

struct picture_mark {
	double x;
	bool has_room;		/* for its label */
	char *label;
};

struct picture {
	char *title;		/* how the program was called */
	char facts[160];
	struct picture_tick up[TICKS_MOST], across[TICKS_MOST];
	unsigned up_count, across_count;
	struct picture_point *points;
	size_t point_count;
	struct picture_mark *marks;
	size_t mark_count;
	struct picture_peak {
		bool known;
		double x, y;
		char text[64];
		bool left;	/* its text ends there */
	} peak;
	struct flames flames;
	char head[160];		/* what the flame graph is about */
	bool bytes;		/* it is */
	unsigned height;
};

void picture_make(struct picture *it, const struct profile *p,
    const struct render_look *look);
void picture_free(struct picture *it);

static inline double
picture_x(const struct picture *it, uint64_t value)
{
	return PICTURE_MARGIN + (double)value / (double)it->flames.total
	    * (PICTURE_RIGHT - PICTURE_MARGIN);
}

static inline double
picture_box_width(const struct picture *it, const struct flames_box *box)
{
	return picture_x(it, box->value) - PICTURE_MARGIN;
}

static inline double
picture_percent(const struct picture *it, const struct flames_box *box)
{
	return (double)box->value / (double)it->flames.total * 100;
}

static inline unsigned
picture_box_y(const struct flames_box *box)
{
	return PICTURE_FLAMES + box->row * PICTURE_ROW;
}

/* How much VALUE is, in words. */
enum { PICTURE_AMOUNT = 80 };
const char *picture_amount(const struct picture *it, uint64_t value,
    char room[PICTURE_AMOUNT]);

#endif
