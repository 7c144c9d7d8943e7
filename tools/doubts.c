/* SPDX-License-Identifier: Apache-2.0 */
#include "doubts.h"

#include <string.h>

static void
take(struct doubts *d, unsigned i, struct doubt *found)
{
	*found = d->list[i];
	d->count--;
	memmove(d->list + i, d->list + i + 1,
	    (d->count - i) * sizeof *d->list);
}

bool
doubts_take(struct doubts *d, uint64_t address, struct doubt *found)
{
	for (unsigned i = 0; i < d->count; i++)
		if (d->list[i].block.address == address) {
			take(d, i, found);
			return true;
		}
	return false;
}

bool
doubts_expire(struct doubts *d, uint64_t time, struct doubt *found)
{
	if (!d->count || (d->count < DOUBTS && d->list->time >= time))
		return false;
	take(d, 0, found);
	return true;
}
