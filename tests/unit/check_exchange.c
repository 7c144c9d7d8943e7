/* SPDX-License-Identifier: Apache-2.0 */
/* What a cache and its depot exchange, block by block, as bounds let them. */
#include "lib/tlsf/cache.h"

#include <string.h>

#include "unit.h"

static struct tlsf t;
static struct tlsf_depot depot;
static struct tlsf_cache caches[2];
static _Alignas(16) unsigned char memory[4 << 20];

/* A long cache and a short one. */
static void
begin(uint64_t each, uint64_t most)
{
	tlsf_init(&t);
	ck_assert(tlsf_add(&t, memory, sizeof memory));
	tlsf_depot_init(&depot);
	tlsf_depot_bound(&depot, most, each, most);
	tlsf_cache_init(&caches[0], CACHE_LONG);
	tlsf_cache_init(&caches[1], CACHE_SHORT);
}

static void
drain(struct tlsf_cache *c)
{
	while (tlsf_cache_drain(c, &depot, &t))
		;
}

static void
take_all(void **blocks, unsigned count, unsigned label)
{
	for (unsigned i = 0; i < count; i++)
		blocks[i] = tlsf_take(&t, label, tlsf_label_size(label));
}

static void
keep(struct tlsf_cache *c, void *block)
{
	if (tlsf_cache_has_room(c, block))
		tlsf_cache_put(c, block);
	else
		tlsf_cache_spill(c, &depot, &t, block);
}

/* One thread alone has filled what is exchanged; then others come, and with
 * them its bound is lowered: what they take of it becomes theirs to keep. */
START_TEST(a_bound_that_shrinks_holds)
{
	enum { LABEL = 5, COUNT = 20 };
	struct tlsf_cache *c = &caches[0];
	const struct tlsf_magazine *m = &c->magazines[LABEL];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	tlsf_cache_spill(c, &depot, &t, blocks[0]);
	tlsf_depot_bound(&depot, 1, 1, 1);
	for (unsigned i = 1; i < COUNT; i++) {
		keep(c, blocks[i]);
		ck_assert_uint_le(m->top, m->end);
		ck_assert_uint_le(m->end, m->first + PAIR);
	}
	drain(c);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

START_TEST(what_is_exchanged_makes_room_for_threads)
{
	enum { COUNT = 512, LABEL = 30 };	/* more than are kept */
	uint64_t before, size = tlsf_label_size(LABEL) + TLSF_OVERHEAD;
	struct tlsf_cache *c = &caches[0], *later = &caches[1];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	before = depot.cache.granted;
	ck_assert_uint_eq(before, (uint64_t)(depot.cache.magazines[LABEL].last
	    - depot.cache.magazines[LABEL].first) * size);
	tlsf_depot_bound(&depot, 8 << 20, 1 << 20, size);
	blocks[0] = tlsf_cache_refill(later, &depot, &t, LABEL);
	ck_assert_ptr_nonnull(blocks[0]);
	ck_assert_uint_le(depot.cache.granted, before - CACHE_BATCH * size);
	tlsf_free(&t, blocks[0]);
	drain(c);
	drain(later);
	drain(&depot.cache);
	ck_assert_ptr_null(tlsf_check(&t));
	ck_assert_uint_eq(depot.granted, 0);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* And does not go to the heap, one by one. */
START_TEST(who_has_used_up_its_share_passes_half_on)
{
	enum { COUNT = 17, LABEL = 30 };
	uint64_t size = tlsf_label_size(LABEL) + TLSF_OVERHEAD;
	const struct tlsf_magazine *mine = &caches[0].magazines[LABEL];
	const struct tlsf_magazine *theirs = &depot.cache.magazines[LABEL];
	void *blocks[COUNT];

	begin((COUNT - 1) * size, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(&caches[0], blocks[i]);
	ck_assert_uint_eq((unsigned)(mine->top - mine->first), COUNT / 2 + 1);
	ck_assert_uint_eq((unsigned)(theirs->top - theirs->first), COUNT / 2);
	drain(&caches[0]);
	drain(&depot.cache);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* The depot's bound is one of all labels together. */
START_TEST(room_that_nobody_uses_goes_to_other_labels)
{
	enum { OLD = 40, LABEL = 30, COUNT = 2 * MANY, ROUNDS = 16 * LABELS };
	const struct tlsf_magazine *old = &depot.cache.magazines[OLD];
	const struct tlsf_magazine *new = &depot.cache.magazines[LABEL];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	tlsf_depot_bound(&depot, 8 << 20, 1 << 20,
	    CACHE_BATCH * (tlsf_label_size(OLD) + TLSF_OVERHEAD));
	take_all(blocks, COUNT, OLD);
	for (unsigned i = 0; i < COUNT; i++)
		keep(&caches[0], blocks[i]);
	ck_assert_int_eq(old->end - old->first, CACHE_BATCH);
	for (unsigned i = 0; i < ROUNDS && new->end == new->first; i++) {
		take_all(blocks, COUNT, LABEL);
		for (unsigned j = 0; j < COUNT; j++)
			keep(&caches[0], blocks[j]);
		drain(&caches[0]);
	}
	ck_assert_int_gt(new->end - new->first, 0);
	drain(&depot.cache);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* What a cache was granted when there were fewer comes back as its magazines
 * become empty. */
START_TEST(a_share_that_shrinks_is_given_back)
{
	enum { COUNT = 40, LABEL = 30 };
	uint64_t size = tlsf_label_size(LABEL) + TLSF_OVERHEAD;
	struct tlsf_cache *c = &caches[0];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(c->granted, COUNT * size);
	tlsf_depot_bound(&depot, 8 << 20, size, 1 << 20);
	for (unsigned i = 0; i < COUNT; i++)
		blocks[i] = tlsf_cache_get(c, LABEL);
	ck_assert_uint_eq(c->granted, COUNT * size);
	/* Who could not enter before comes although there is a block. */
	keep(c, blocks[0]);
	blocks[0] = tlsf_cache_refill(c, &depot, &t, LABEL);
	ck_assert_uint_eq(c->granted, COUNT * size);
	tlsf_free(&t, tlsf_cache_get(c, LABEL));
	tlsf_free(&t, tlsf_cache_refill(c, &depot, &t, LABEL));
	ck_assert_uint_eq(c->granted, 0);
	ck_assert_uint_eq(depot.granted, depot.cache.granted);
	for (unsigned i = 0; i < COUNT; i++)
		tlsf_free(&t, blocks[i]);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* A child forked amid an end goes on with what was kept.  And what was freed
 * last is looked at. */
START_TEST(an_end_goes_in_pairs_and_looks_at_the_last)
{
	enum { LABEL = 5, COUNT = 20 };
	struct tlsf_cache *c = &caches[0], *other = &caches[1];
	const struct tlsf_magazine *m = &c->magazines[LABEL];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_ptr_null(tlsf_cache_defer(other, blocks[0]));
	drain(other);
	ck_assert_int_eq(t.fault, TLSF_TWICE);
	while (tlsf_cache_drain(c, &depot, &t))
		ck_assert_uint_eq((unsigned)(m->end - m->first) % PAIR, 0);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* A short one stays within what it says it needs. */
START_TEST(a_short_one_is_short)
{
	const struct tlsf_magazine *m
	    = &caches[1].magazines[LABEL_ALIGNED - 1];

	begin(1 << 20, 8 << 20);
	ck_assert_uint_lt(tlsf_cache_bytes(CACHE_SHORT), 62000);
	ck_assert_ptr_eq((char *)&caches[1]
	    + tlsf_cache_bytes(CACHE_SHORT), &caches[1].slots[m->last]);
	ck_assert_uint_le(tlsf_cache_bytes(CACHE_LONG), sizeof caches[0]);
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, a_bound_that_shrinks_holds);
	tcase_add_test(tests, what_is_exchanged_makes_room_for_threads);
	tcase_add_test(tests, who_has_used_up_its_share_passes_half_on);
	tcase_add_test(tests, room_that_nobody_uses_goes_to_other_labels);
	tcase_add_test(tests, a_share_that_shrinks_is_given_back);
	tcase_add_test(tests, an_end_goes_in_pairs_and_looks_at_the_last);
	tcase_add_test(tests, a_short_one_is_short);
}

int
main(void)
{
	return unit_run("exchange", add);
}
