/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of suppressions. */
#ifndef TOOLS_PATTERN_H
#define TOOLS_PATTERN_H

#include <stdbool.h>

/* Whether PATTERN is about TEXT: '*' is anything, '^' and '$' are the
 * ends. */
bool pattern_matches(const char *pattern, const char *text);

#endif
