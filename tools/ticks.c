/* SPDX-License-Identifier: Apache-2.0 */
#include "ticks.h"

#include <stdio.h>

/* As many as fit an axis without being crowded. */
enum { BYTES_APART = 5, SECONDS_APART = 10 };

struct unit {
	const char *name;
	double size;
	double from;		/* the axis ends at so much, at least */
};

static const struct unit byte_units[] = {
	{ "B", 1, 0 }, { "KiB", 1024., 1024. },
	{ "MiB", 1024. * 1024, 1024. * 1024 },
	{ "GiB", 1024. * 1024 * 1024, 1024. * 1024 * 1024 },
	{ "TiB", 1024. * 1024 * 1024 * 1024, 1024. * 1024 * 1024 * 1024 },
};
enum { BYTE_UNITS = sizeof byte_units / sizeof *byte_units };

static const struct unit second_units[] = {
	{ "µs", 1e-6, 0 }, { "ms", 1e-3, 1e-3 }, { "s", 1, 1 },
	{ "min", 60, 180 }, { "h", 3600, 10800 }, { "d", 86400, 259200 },
};
enum { SECOND_UNITS = sizeof second_units / sizeof *second_units };

static const struct unit *
unit_of(double end, const struct unit *units, unsigned count)
{
	while (count > 1 && end < units[count - 1].from)
		count--;
	return units + count - 1;
}

/* 1, 2 or 5 times a power of ten, so that at most COUNT make up SPAN. */
static double
step_of(double span, unsigned count, int *decimals)
{
	static const double steps[] = { 1, 2, 5 };
	double decade = 1e-9;

	for (*decimals = 9;; decade *= 10, --*decimals)
		for (unsigned i = 0; i < 3; i++)
			if (decade * steps[i] * count >= span)
				return decade * steps[i];
}

static unsigned
lay(double from, double to, unsigned apart, const struct unit *unit,
    struct tick *list)
{
	int decimals;
	double step, first;
	unsigned count = 0;

	if (!(to > from) || to / unit->size > 1e15)
		return 0;
	step = step_of((to - from) / unit->size, apart, &decimals);
	if (to / unit->size / step > 1e15)
		return 0;
	first = (double)(uint64_t)(from / unit->size / step);
	for (unsigned i = 0; i <= apart + 1 && count < TICKS_MOST; i++) {
		double at = (first + i) * step;

		if (at * unit->size < from || at * unit->size > to)
			continue;
		list[count].at = at * unit->size;
		snprintf(list[count++].text, sizeof list->text, "%.*f %s",
		    decimals > 0 ? decimals : 0, at, unit->name);
	}
	return count;
}

unsigned
ticks_bytes(double most, struct tick list[TICKS_MOST])
{
	/* There is no half byte. */
	if (most < BYTES_APART)
		most = BYTES_APART;
	return lay(0, most, BYTES_APART,
	    unit_of(most, byte_units, BYTE_UNITS), list);
}

unsigned
ticks_seconds(double from, double to, struct tick list[TICKS_MOST])
{
	/* Long after the start, minutes say nothing of what took few. */
	double wide = to < 1 ? to : to - from < 1 ? 1 : to - from;

	return lay(from, to, SECONDS_APART,
	    unit_of(wide, second_units, SECOND_UNITS), list);
}
