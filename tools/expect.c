/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include "replay.h"

enum {
	FEW_SITES = 1 << 11,	/* they stay in the cache by themselves */
	PROGRESS_BATCHES = 1 << 11,
};

static bool
is_short_alloc(const struct log_event *e)
{
	return e->kind == LOG_MALLOC || e->kind == LOG_CALLOC;
}

/* The site that E is about, if it is known; else 0. */
static uint32_t
likely_site(const struct replay *r, const struct log_event *e)
{
	const struct stacks_number *n;
	const struct block *block;

	if (e->kind == LOG_FREE) {
		block = blocks_home_of(&r->blocks, e->address);
		return block->address == e->address ? block->site : 0;
	}
	n = is_short_alloc(e) ? stacks_number(r->stacks, e->stack) : NULL;
	return n ? n->site : 0;
}

/* These looks go to memory all at once: what they wait for was asked for
 * just before. */
static void
expect_sites(const struct replay *r, const struct log_event *events,
    unsigned n)
{
	uint32_t sites[STREAM_BATCH];

	for (unsigned i = 0; i < n; i++)
		sites[i] = likely_site(r, events + i);
	r->watch->expect(r->watch->who, sites, n);
}

static void
show_progress(const struct replay *r)
{
	if (r->watch && r->watch->progress && r->log->bytes)
		r->watch->progress(r->watch->who,
		    (double)r->log->done / (double)r->log->bytes);
}

void
expect_events(void *replay, const struct log_event *events, unsigned n)
{
	struct replay *r = replay;
	bool many = r->stacks && r->stacks->site_count > FEW_SITES;

	for (unsigned i = 0; i < n; i++)
		blocks_expect(&r->blocks, events[i].address);
	for (unsigned i = 0; many && i < n; i++)
		if (is_short_alloc(events + i))
			stacks_expect(r->stacks, events[i].stack);
	if (many && r->watch && r->watch->expect)
		expect_sites(r, events, n);
	if (++r->batches % PROGRESS_BATCHES == 0)
		show_progress(r);
}
