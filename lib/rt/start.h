/* SPDX-License-Identifier: Apache-2.0 */
/* How the heap comes up in a process. */
#ifndef RT_START_H
#define RT_START_H

/* Once, with the first call or before the first constructor; afterwards
 * rt_mode says who serves.  Does not return when the pool that is asked for
 * cannot be had. */
void rt_start(void);

#endif
