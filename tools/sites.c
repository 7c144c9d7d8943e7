/* SPDX-License-Identifier: Apache-2.0 */
#include "sites.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "room.h"
#include "sites_change.h"

void
sites_init(struct sites *s)
{
	*s = (struct sites){ 0 };
	stacks_init(&s->stacks);
	growth_start(&s->clock, 0);
}

void
sites_free(struct sites *s)
{
	stacks_free(&s->stacks);
	for (size_t i = 0; i < s->room; i++)
		free(s->list[i].growth.low);
	free(s->list);
	free(s->last);
}

/* LIST, of ROOM, has a place AT from now on, and zeros where it is new. */
static void *
need_place(void *list, size_t *room, size_t at, size_t bytes)
{
	size_t more = *room ? *room : 64;

	while (more <= at)
		more *= 2;
	list = room_grow(list, more, bytes);
	memset((char *)list + *room * bytes, 0, (more - *room) * bytes);
	*room = more;
	return list;
}

void
sites_more(struct sites *s, uint32_t number)
{
	s->list = need_place(s->list, &s->room, number, sizeof *s->list);
}

void
sites_more_threads(struct sites *s, uint32_t thread)
{
	s->last = need_place(s->last, &s->last_room, thread, sizeof *s->last);
}

void
sites_expect(const struct sites *s, const uint32_t *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (numbers[i] >= s->room)
			continue;
		__builtin_prefetch(&s->list[numbers[i]].live_blocks, 1);
		__builtin_prefetch(&s->list[numbers[i]].most_bytes, 1);
	}
}

void
sites_begin(struct sites *s, uint64_t ticks)
{
	s->counts = true;
	growth_start(&s->clock, ticks);
	for (size_t i = 0; i < s->room; i++) {
		struct site *site = s->list + i;

		free(site->growth.low);
		site->growth = (struct growth){ .least = site->live_bytes };
		site->most_bytes = site->live_bytes;
		site->most_blocks = site->live_blocks;
		site->lived = -sites_lives(s->mean, site->live_blocks, ticks);
		site->gone = 0;
	}
}

/* The most of several is at most their sum. */
static void
add_up(struct profile_site *to, const struct site *site, uint64_t peak)
{
	bool same = site->peak != peak;		/* nothing changed since */

	to->allocations += site->allocations;
	if (__builtin_add_overflow(to->allocated_bytes, site->allocated_bytes,
	    &to->allocated_bytes))
		to->allocated_bytes = UINT64_MAX;
	to->temporary += site->temporary;
	to->live_blocks += site->live_blocks;
	to->live_bytes += site->live_bytes;
	to->peak_blocks += same ? site->live_blocks : site->peak_blocks;
	to->peak_bytes += same ? site->live_bytes : site->peak_bytes;
	to->most_blocks += site->most_blocks;
	to->most_bytes += site->most_bytes;
}

/* The history of several that are one. */
struct history {
	uint64_t *low;		/* NULL: nothing */
	double live, gone;	/* as growth_is_sure has them */
};

static void
add_growth(struct history *sum, struct site *site,
    const struct growth_clock *c)
{
	growth_before(&site->growth, c, site->live_bytes);
	if (!site->growth.low)
		return;
	if (!sum->low)
		sum->low = room_new(GROWTH_POINTS, sizeof *sum->low);
	growth_add(sum->low, &site->growth);
	sum->live += site->variance.live;
	sum->gone += site->gone;
}

static double
slope_of(const struct history *h, unsigned points, bool sampled)
{
	double slope = h->low ? growth_slope(h->low, points) : 0;

	if (slope > 0 && sampled
	    && !growth_is_sure(h->low, points, h->live, h->gone))
		return 0;
	return slope;
}

static void
give_growth(struct profile *p, struct history *sums,
    const struct growth_clock *c, double ticks_per_s)
{
	for (size_t i = 0; i < p->site_count; i++) {
		p->sites[i].growth = slope_of(sums + i, c->at + 1, p->errors)
		    / (double)c->width * ticks_per_s;
		free(sums[i].low);
	}
	free(sums);
}

/* Blocks are whole again. */
static void
round_up(struct profile_site *site)
{
	uint64_t *const parts[] = {
		&site->allocations, &site->live_blocks, &site->peak_blocks,
		&site->most_blocks,
	};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		*parts[i] = (*parts[i] + (1 << (ESTIMATE_SHIFT - 1)))
		    >> ESTIMATE_SHIFT;
}

static void
add_variance(struct profile_error *sum, const struct site *site, uint64_t peak)
{
	const struct profile_error *v = &site->variance;

	sum->peak += site->peak != peak ? v->live : v->peak;
	sum->live += site->live_blocks ? v->live : 0;
	sum->allocated += v->allocated;
	sum->allocations += v->allocations;
}

static double
error_of(uint64_t value, double variance, double of_nothing)
{
	return value ? (double)estimate_error(variance) : of_nothing;
}

/* Of a sample: what was summed up by frame.  Where all blocks were certain to
 * be chosen, nothing is none. */
static void
finish(struct profile *p, uint64_t mean)
{
	for (size_t i = 0; i < p->site_count; i++) {
		struct profile_site *site = p->sites + i;
		struct profile_error *e = p->errors + site->frame;
		double none = site->allocations && !(e->allocations > 0) ? 0
		    : estimate_of_nothing(mean);

		round_up(site);
		*e = (struct profile_error){
			error_of(site->peak_bytes, e->peak, none),
			error_of(site->live_bytes, e->live, none),
			error_of(site->allocated_bytes, e->allocated, none),
			error_of(site->allocations, e->allocations, none),
		};
	}
}

/* Sites whose frames are the same are one. */
static void
give_sites(struct profile *p, struct sites *s, uint64_t end,
    double ticks_per_s)
{
	size_t *at = room_new(s->stacks.frame_count, sizeof *at);
	size_t most = s->stacks.site_count < s->room ? s->stacks.site_count
	    : s->room;
	struct history *sums = room_new(most, sizeof *sums);

	p->sites = room_new(most, sizeof *p->sites);
	growth_now(&s->clock, end);
	for (size_t i = 0; i < most; i++) {
		struct site *site = s->list + i;
		uint32_t frame = s->stacks.sites[i];
		uint64_t lived = site->lived
		    + sites_lives(s->mean, site->live_blocks, end);

		if (!site->allocations && !site->live_blocks && !site->peak)
			continue;
		if (!at[frame]) {
			p->sites[p->site_count++].frame = frame;
			at[frame] = p->site_count;
		}
		add_up(p->sites + at[frame] - 1, site, s->peak);
		if (p->errors)
			add_variance(p->errors + frame, site, s->peak);
		p->sites[at[frame] - 1].lived_s += (double)lived
		    * (1 << SITES_LIFE_SHIFT) / ticks_per_s;
		add_growth(sums + at[frame] - 1, site, &s->clock);
	}
	free(at);
	give_growth(p, sums, &s->clock, ticks_per_s);
	if (p->errors)
		finish(p, s->mean);
}

static void
give_objects(struct profile *p, const struct stacks *s)
{
	p->object_count = s->object_count;
	p->objects = room_new(s->object_count, sizeof *p->objects);
	for (size_t i = 1; i < s->object_count; i++) {
		const struct stacks_object *from = s->objects + i;
		struct profile_object *to = p->objects + i;

		to->path = *from->path ? room_text(from->path, STACKS_PATH)
		    : p->exe ? room_text(p->exe, STACKS_PATH) : NULL;
		to->build_id_bytes = from->build_id_bytes;
		memcpy(to->build_id, from->build_id, from->build_id_bytes);
		to->imprint = from->imprint;
	}
}

static void
give_tree(struct profile *p, const struct stacks *s)
{
	p->call_count = s->call_count;
	p->calls = room_new(s->call_count, sizeof *p->calls);
	for (size_t i = 1; i < s->call_count; i++) {
		uint32_t object = s->calls[i].object;

		p->calls[i].object = object ? p->objects + object : NULL;
		p->calls[i].address = s->calls[i].address;
	}
	p->tree_count = s->frame_count;
	p->tree = room_new(s->frame_count, sizeof *p->tree);
	for (size_t i = 1; i < s->frame_count; i++)
		p->tree[i] = (struct profile_node){
			s->frames[i].call, s->frames[i].caller,
		};
}

void
sites_give(struct profile *p, struct sites *s, uint64_t end,
    double ticks_per_s)
{
	size_t bytes = s->stacks.site_count * sizeof *p->site_frames;

	p->site_frame_count = s->stacks.site_count;
	p->site_frames = room_new(bytes, 1);
	memcpy(p->site_frames, s->stacks.sites, bytes);
	p->has_sites = true;
	if (s->mean)
		p->errors = room_new(s->stacks.frame_count, sizeof *p->errors);
	give_objects(p, &s->stacks);
	give_tree(p, &s->stacks);
	give_sites(p, s, end, ticks_per_s);
}
