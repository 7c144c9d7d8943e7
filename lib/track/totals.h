/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of all threads together. */
#ifndef HH_TOTALS_H
#define HH_TOTALS_H

#include "../heaphook.h"

/* Never waits; what threads count meanwhile may be in or not. */
void hh_totals(struct heaphook_stats *total);

#endif
