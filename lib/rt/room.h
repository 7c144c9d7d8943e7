/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process can still be given.  Who touches more is
 * killed for it, so the pool asks before. */
#ifndef RT_ROOM_H
#define RT_ROOM_H

#include <stdint.h>

struct rt_room {
	uint64_t bytes;		/* UINT64_MAX when nothing says a bound */
	const char *what;	/* bounds it, for a message */
};

/* The least of what the system has available and what each control group
 * above us (version 1 or 2) leaves.  File caches give way, so they count as
 * room; swap does not, as a pool is there to be in memory.  One caller at a
 * time. */
struct rt_room rt_room_find(void);

#endif
