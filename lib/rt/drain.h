/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept for nothing better comes back before the pool grows or a
 * request fails: from what threads exchange, from those a fork left behind,
 * and from each thread's cache, whatever that thread does meanwhile. */
#ifndef RT_DRAIN_H
#define RT_DRAIN_H

#include <stdbool.h>

/* Before there are threads: the kernel is told that rt_drain_locked() will
 * ask it to see to it that all have looked. */
void rt_drain_start(void);

/* The heap's lock is held.  False when a thread was in the middle of a call,
 * so that its cache was left: it will soon be through.
 *
 * Last of all what each thread freed last: the heap looks at that first. */
bool rt_drain_locked(void);

#endif
