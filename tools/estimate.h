/* SPDX-License-Identifier: Apache-2.0 */
/* What all blocks come to, by those that a sample has: each that is there
 * stands for as many as it takes for one to be chosen. */
#ifndef TOOLS_ESTIMATE_H
#define TOOLS_ESTIMATE_H

#include <stdint.h>

#include "blocks.h"

enum { ESTIMATE_SHIFT = 16 };	/* of a block's parts, 65,536 are one */

/* No recorder has its points further apart. */
#define ESTIMATE_MEAN_MOST (UINT64_C(1) << 40)

struct estimate {
	uint64_t blocks;	/* in parts */
	uint64_t bytes;		/* usable ones */
	double variance;	/* of blocks; of bytes it is so many times the
				 * square of the block's own */
};

/* The nearest whole number that V is, which is not negative; of what is too
 * much the most. */
uint64_t estimate_whole(double v);

/* BLOCK was chosen, one point every MEAN bytes. */
struct estimate estimate_block(const struct block *block, double mean);

/* Within how much of a sum its truth is, nearly always: three times the root
 * of its variance. */
uint64_t estimate_error(double variance);

/* The same where nothing was chosen: of 6 MEAN bytes that were asked for none
 * is chosen with a chance of exp(-6), which is as rare. */
static inline double
estimate_of_nothing(uint64_t mean)
{
	return 6 * (double)mean;
}

#endif
