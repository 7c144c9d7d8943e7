/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "room.h"

#define BYTES(heading, field) \
	{ heading, true, offsetof(struct profile_site, field) }
#define COUNT(heading, field) \
	{ heading, false, offsetof(struct profile_site, field) }

#define ERROR(field) offsetof(struct profile_error, field)

const struct order orders[] = {
	{ "peak", "bytes at the peak", false,
	  BYTES("at peak", peak_bytes), COUNT("calls", allocations),
	  ERROR(peak) },
	{ "live", "bytes live at the end", false,
	  BYTES("live", live_bytes), COUNT("blocks", live_blocks),
	  ERROR(live) },
	{ "total", "bytes allocated in all", true,
	  BYTES("in all", allocated_bytes), COUNT("calls", allocations),
	  ERROR(allocated) },
	{ "calls", "calls", true,
	  COUNT("calls", allocations), BYTES("in all", allocated_bytes),
	  ERROR(allocations) },
	{ "temporary", "calls whose block went at once", false,
	  COUNT("temporary", temporary), COUNT("calls", allocations), 0 },
	{ NULL, NULL, false, { NULL, false, 0 }, { NULL, false, 0 }, 0 }
};

const struct order *
order_find(const char *name)
{
	const struct order *r = orders;

	while (r->name && strcmp(r->name, name))
		r++;
	return r->name ? r : NULL;
}

static int
by_value(const void *a, const void *b, void *order)
{
	const struct profile_site *x = a, *y = b;
	const struct order *r = order;
	uint64_t i = order_value(x, &r->by), j = order_value(y, &r->by);

	if (i == j) {
		i = order_value(x, &r->beside);
		j = order_value(y, &r->beside);
	}
	if (i != j)
		return i < j ? 1 : -1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

void
order_sites(struct profile *p, const struct order *order)
{
	if (p->site_count)
		qsort_r(p->sites, p->site_count, sizeof *p->sites, by_value,
		    (void *)order);
}

void
order_once_last(struct profile *p)
{
	struct profile_site *last = room_new(p->site_count, sizeof *last);
	size_t kept = 0;

	p->once_count = 0;
	for (size_t i = 0; i < p->site_count; i++) {
		if (p->sites[i].allocations <= 1)
			last[p->once_count++] = p->sites[i];
		else
			p->sites[kept++] = p->sites[i];
	}
	if (p->once_count)
		memcpy(p->sites + kept, last, p->once_count * sizeof *last);
	free(last);
}
