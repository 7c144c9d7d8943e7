/* SPDX-License-Identifier: Apache-2.0 */
#include "chart.h"

#include <string.h>

enum { LABEL_COLUMNS = 10, MAX_COLUMNS = 400 };

/* How full a cell can be. */
static const char *const eighths[] = {
	" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█", NULL
};
static const char *const thirds[] = { " ", ".", ":", "#", NULL };

static const char *const *
cells_of(bool utf8)
{
	return utf8 ? eighths : thirds;
}

static unsigned
steps_of(bool utf8)
{
	return utf8 ? 8 : 3;
}

/* PART of WHOLE in steps, rounded, but at least one of what is there. */
static unsigned
scale(uint64_t part, uint64_t whole, unsigned steps)
{
	double at = whole ? (double)part / (double)whole * steps : 0;

	return part && at < 1 ? 1 : (unsigned)(at + 0.5);
}

/* The most of the values that fall, even in part, into a column. */
static uint64_t
most_in(const uint64_t *values, size_t count, size_t column, size_t columns)
{
	size_t from = column * count / columns;
	size_t to = ((column + 1) * count + columns - 1) / columns;
	uint64_t most = 0;

	for (size_t i = from; i < to && i < count; i++)
		if (values[i] > most)
			most = values[i];
	return most;
}

static void
print_row(FILE *to, const struct chart *c, const unsigned *heights,
    unsigned columns, unsigned row)
{
	const char *const *cells = cells_of(c->utf8);
	unsigned steps = steps_of(c->utf8), base = row * steps;
	const char *label = row == c->rows - 1 ? c->top
	    : row == 0 ? c->bottom : "";

	fprintf(to, "%*s %s", LABEL_COLUMNS, label, c->utf8 ? "│" : "|");
	while (columns && heights[columns - 1] <= base)
		columns--;
	for (unsigned i = 0; i < columns; i++) {
		unsigned over = heights[i] > base ? heights[i] - base : 0;

		fputs(cells[over < steps ? over : steps], to);
	}
	fputc('\n', to);
}

static void
print_axis(FILE *to, const struct chart *c, unsigned columns)
{
	int gap = (int)columns - (int)strlen(c->left);

	fprintf(to, "%*s %s", LABEL_COLUMNS, "", c->utf8 ? "└" : "+");
	for (unsigned i = 0; i < columns; i++)
		fputs(c->utf8 ? "─" : "-", to);
	fprintf(to, "\n%*s  %s%*s\n", LABEL_COLUMNS, "", c->left,
	    gap > 0 ? gap : 0, c->right);
}

void
chart_print(FILE *to, const struct chart *c, const uint64_t *values,
    size_t count)
{
	unsigned heights[MAX_COLUMNS];
	unsigned columns = c->columns > LABEL_COLUMNS + 12
	    ? c->columns - LABEL_COLUMNS - 2 : 10;
	uint64_t most = most_in(values, count, 0, 1);

	if (columns > MAX_COLUMNS)
		columns = MAX_COLUMNS;
	for (unsigned i = 0; i < columns; i++)
		heights[i] = scale(most_in(values, count, i, columns), most,
		    c->rows * steps_of(c->utf8));
	for (unsigned row = c->rows; row-- > 0; )
		print_row(to, c, heights, columns, row);
	print_axis(to, c, columns);
}

void
chart_bar(FILE *to, uint64_t part, uint64_t whole, unsigned columns,
    bool utf8)
{
	for (unsigned n = scale(part, whole, columns); n && columns;
	    n--, columns--)
		fputs(utf8 ? "█" : "#", to);
}
