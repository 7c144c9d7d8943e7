/* SPDX-License-Identifier: Apache-2.0 */
/* How long the next allocator takes, when that is asked for.
 *
 * Its functions are taken out of hh_real and others put there, which look at
 * the clock before and after.  So who calls them need not know, and where
 * nobody asks nothing is different. */
#ifndef HH_LATENCY_H
#define HH_LATENCY_H

#include <stdint.h>

/* While the caller starts, and when the clock is chosen. */
void hh_latency_begin(void);

/* What a look at the clock takes by itself, in its units. */
uint32_t hh_latency_least(void);

/* What the thread's last call took, at least 1, once; 0: it was told, or
 * there was none.  A signal handler that comes before it is told may take
 * its place. */
uint64_t hh_latency_take(void);

#endif
