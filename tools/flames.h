/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as boxes: each is as wide as what its function and all that
 * it called have of something, and lies below that of its caller. */
#ifndef TOOLS_FLAMES_H
#define TOOLS_FLAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "profile.h"

enum {
	FLAMES_ROWS = 256,	/* with the root */
	FLAMES_BOXES = 10000,	/* more are too small to be read */
	FLAMES_COLORS = 16,
	FLAMES_ROOT = FLAMES_COLORS,
	FLAMES_FOLDED,		/* no function either */
	FLAMES_LABEL = 64,
};

struct flames_box {
	const char *name;	/* UTF-8, no control characters; NULL: see
				 * flames_label */
	size_t folded;		/* functions that are too small for a box, or
				 * too deep */
	uint64_t from, value;	/* of the total */
	unsigned row;		/* that of the root is 0 */
	unsigned color;		/* one function has one everywhere; below
				 * FLAMES_COLORS, or what it is instead */
};

struct flames {
	struct flames_box *boxes;	/* each before those within it */
	size_t count;			/* 0: there is nothing to show */
	size_t room;
	uint64_t total;
	unsigned rows;
	char **names;			/* that boxes have */
	size_t name_count;
};

/* What the sites of P, which are named, have by ORDER; without those that
 * are suppressed if these are LEAKS. */
void flames_make(struct flames *f, const struct profile *p,
    const struct order *order, bool leaks);
void flames_free(struct flames *f);

/* What BOX is called, in ROOM if need be. */
const char *flames_label(const struct flames_box *box,
    char room[FLAMES_LABEL]);

#endif
