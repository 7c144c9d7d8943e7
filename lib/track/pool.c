/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pool.h"

#include <dlfcn.h>
#include <string.h>

#include "../interpose/real.h"

static void (*record)(struct log_pool *);

/* In whichever order of the two. */
void
hh_pool_find(void)
{
	void *found = hh_real_has_peer()
	    ? hh_real_symbol(HH_ANY, "heaphook_pool_record_") : NULL;

	memcpy(&record, &found, sizeof found);
}

bool
hh_pool_is_next(void)
{
	Dl_info heap, next;
	void *at[2];

	memcpy(&at[0], &record, sizeof at[0]);
	memcpy(&at[1], &hh_real.malloc, sizeof at[1]);
	return record && dladdr(at[0], &heap) && dladdr(at[1], &next)
	    && heap.dli_fbase == next.dli_fbase;
}

void
hh_pool_record(struct log_pool *to)
{
	if (record)
		record(to);
}
