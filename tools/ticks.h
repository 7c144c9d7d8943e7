/* SPDX-License-Identifier: Apache-2.0 */
/* Where an axis has its marks, and what they say: round numbers in a unit
 * that people read. */
#ifndef TOOLS_TICKS_H
#define TOOLS_TICKS_H

#include <stdint.h>

enum { TICKS_MOST = 12 };

struct tick {
	double at;		/* bytes, seconds */
	char text[24];
};

/* Both return how many there are, from 0 to TICKS_MOST. */
unsigned ticks_bytes(double most, struct tick list[TICKS_MOST]);
unsigned ticks_seconds(double from, double to, struct tick list[TICKS_MOST]);

#endif
