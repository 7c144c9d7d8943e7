/* SPDX-License-Identifier: Apache-2.0 */
/* A chart for the terminal: columns of blocks over time. */
#ifndef TOOLS_CHART_H
#define TOOLS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct chart {
	const char *top, *bottom;	/* labels of the vertical axis */
	const char *left, *right;	/* of the horizontal one */
	unsigned columns;		/* of the whole, with labels */
	unsigned rows;			/* of the columns */
	bool utf8;			/* eighths of a block; else ASCII */
};

/* VALUES are equally far apart. */
void chart_print(FILE *to, const struct chart *c, const uint64_t *values,
    size_t count);

/* PART of WHOLE as a bar of at most COLUMNS columns, never empty unless
 * PART is 0. */
void chart_bar(FILE *to, uint64_t part, uint64_t whole, unsigned columns,
    bool utf8);

#endif
