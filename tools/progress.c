/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_COLUMNS = 40 };

static const double PATIENCE_S = 0.5, REDRAW_S = 0.1;

static struct {
	bool shown, drawn;
	size_t piece, count;
	double last;		/* when it was drawn, or began */
} bar;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
progress_begin(size_t count, bool show)
{
	bar.shown = show && isatty(STDERR_FILENO);
	bar.count = count;
	bar.last = now();
}

void
progress_next(void)
{
	bar.piece++;
	progress_show(NULL, 0);
}

void
progress_show(void *who, double done)
{
	double wait = bar.drawn ? REDRAW_S : PATIENCE_S;
	int full;

	(void)who;
	if (!bar.shown || now() < bar.last + wait)
		return;
	bar.drawn = true;
	bar.last = now();
	done = done < 0 ? 0 : done > 1 ? 1 : done;
	full = (int)(done * BAR_COLUMNS);
	fprintf(stderr, "\r[%.*s%*s] %3.0f%%", full,
	    "########################################", BAR_COLUMNS - full, "",
	    done * 100);
	if (bar.count > 1)
		fprintf(stderr, " of log %zu of %zu", bar.piece, bar.count);
	fflush(stderr);
}

void
progress_end(void)
{
	if (bar.drawn)
		fputs("\r\033[K", stderr);
	bar.shown = false;
}
