/* SPDX-License-Identifier: Apache-2.0 */
#include "pattern.h"

/* Does TEXT begin with PATTERN, up to a '*' in that?  What is left of both
 * then. */
static bool
match_piece(const char **pattern, const char **text)
{
	const char *p = *pattern, *t = *text;

	while (*p && *p != '*' && !(*p == '$' && !p[1])) {
		if (*p++ != *t++)
			return false;
	}
	if (*p == '$' && *t)
		return false;
	*pattern = p;
	*text = t;
	return true;
}

/* Each piece is looked for from where the one before ended; of the last,
 * the '$' may need a later place, which the search goes on to. */
bool
pattern_matches(const char *pattern, const char *text)
{
	bool fixed = *pattern == '^';

	pattern += fixed;
	for (;;) {
		while (*pattern == '*') {
			pattern++;
			fixed = false;
		}
		while (!match_piece(&pattern, &text)) {
			if (fixed || !*text++)
				return false;
		}
		if (*pattern != '*')
			return true;
	}
}
