/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of heaphook-report asks for. */
#ifndef TOOLS_WANT_H
#define TOOLS_WANT_H

#include <stdbool.h>
#include <stddef.h>

#include "leaks.h"
#include "profile.h"
#include "render.h"

enum { WANT_USAGE = 2, WANT_UNUSABLE = 3 };	/* exit statuses */

struct want {
	struct profile_part part;
	struct profile_number pid, rank;
	const struct renderer *renderer;
	const char *format, *output, *bundle;
	bool packs;			/* into BUNDLE; NULL: the default */
	bool dump, quiet;
	const struct order *order;
	size_t top;
	bool once;			/* show sites that called once, too */
	bool leaks;
	struct leaks suppressed;
	const char *before;		/* to compare with; NULL */
	const char *callers, *callees;	/* of this function; NULL */
	const char **debug_paths;	/* up to a NULL */
	size_t debug_path_count;
};

extern struct want want;

/* Or the end, with a line that says what is wrong.  Then `optind` is the
 * first log. */
void want_take(int argc, char **argv);

/* Whether only call sites that called more than once are wanted, or would be
 * without --once. */
bool want_repeats(void);

/* One more folder where debug files are. */
void want_debug_path(const char *path);

#endif
