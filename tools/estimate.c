/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate.h"

/* 1 - exp(-X), X not negative: by its series where X is small, from there on
 * by 1 - exp(-2X) = (1 - exp(-X)) (1 + exp(-X)). */
static double
chance(double x)
{
	unsigned doubled = 0;
	double p;

	if (x > 64)
		return 1;
	for (; x > 1 / 64.; x /= 2)
		doubled++;
	p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
	while (doubled--)
		p *= 2 - p;
	return p;
}

/* Newton's way, which comes down from above. */
static double
root(double v)
{
	double x = v > 1 ? v : 1, next;

	for (; (next = (x + v / x) / 2) < x; x = next)
		;
	return x;
}

uint64_t
estimate_whole(double v)
{
	return v < 0x1p63 ? (uint64_t)(v + 0.5) : UINT64_C(1) << 63;
}

struct estimate
estimate_block(const struct block *block, double mean)
{
	uint64_t size = block->requested ? block->requested : 1;
	double p = chance((double)size / mean);

	return (struct estimate){
		.blocks = estimate_whole((1 << ESTIMATE_SHIFT) / p),
		.bytes = estimate_whole((double)block_usable(block) / p),
		.variance = (1 - p) / (p * p),
	};
}

uint64_t
estimate_error(double variance)
{
	return variance > 0 ? estimate_whole(3 * root(variance)) : 0;
}
