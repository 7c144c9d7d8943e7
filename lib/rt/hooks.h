/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions beside the malloc family ask of the back end, rt.c. */
#ifndef RT_HOOKS_H
#define RT_HOOKS_H

#include <stdbool.h>

/* Whether this process runs on our heap; false where we stand aside.  Starts
 * it if need be. */
bool rt_serves(void);

/* rt_pool_unreserve under the growth lock. */
void rt_unreserve(void);

#endif
