/* SPDX-License-Identifier: Apache-2.0 */
#include "totals.h"

#include "count.h"
#include "../interpose/head.h"

/* Each is one word that its thread writes whole. */
#define LOOK(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

static int64_t
add(struct heaphook_stats *total, const struct log_counters *c)
{
	total->allocations += LOOK(c->allocations);
	total->frees += LOOK(c->frees);
	total->failed += LOOK(c->failed);
	return LOOK(c->live) - LOOK(c->told);
}

/* What is not in the slot yet is in the stream. */
static int64_t
add_stream(struct heaphook_stats *total, const struct hh_stream *s)
{
	if (!s->chunk)
		return 0;
	add(total, &s->chunk->counters);
	total->allocations += LOOK(s->allocations);
	total->frees += LOOK(s->frees);
	return LOOK(s->top) - (int64_t)LOOK(s->headroom)
	    - LOOK(s->chunk->counters.told);
}

void
hh_totals(struct heaphook_stats *total)
{
	const struct log_header *h = &hh_head->h;
	int64_t live = LOOK(h->live), peak = LOOK(h->peak);

	*total = (struct heaphook_stats){0};
	live += add(total, &h->others);
	for (uint32_t i = 0; hh_stream_at(i); i++)
		live += add_stream(total, hh_stream_at(i));
	total->pool_bytes = LOOK(h->pool.bytes);
	total->pool_used_bytes = LOOK(h->pool.used);
	total->pool_largest_free_bytes = LOOK(h->pool.largest_free);
	total->pool_growths = LOOK(h->pool.growths);
	total->live_bytes = live > 0 ? (uint64_t)live : 0;
	total->peak_bytes = (uint64_t)(peak > live ? peak : live);
}
