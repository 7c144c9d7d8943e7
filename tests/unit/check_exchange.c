/* SPDX-License-Identifier: Apache-2.0 */
/* What a cache and its depot exchange, block by block, as bounds let them. */
#include "lib/tlsf/cache.h"

#include "unit.h"

enum { MOST = 256 };	/* slots of a magazine */

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

/* What COUNT blocks are granted, in units. */
static uint64_t
granted_for(unsigned label, unsigned count)
{
	return (tlsf_label_size(label) + TLSF_OVERHEAD + TLSF_ALIGN - 1)
	    / TLSF_ALIGN * count;
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
 * them its bound is lowered: what it has room for beyond goes when it passes
 * by. */
START_TEST(a_bound_that_shrinks_holds)
{
	enum { LABEL = 5, COUNT = 20 };
	struct tlsf_cache *c = &caches[0];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	tlsf_cache_spill(c, &depot, &t, blocks[0]);
	ck_assert_uint_eq(c->granted, granted_for(LABEL, CACHE_AHEAD));
	tlsf_depot_bound(&depot, 1, 1, 1);
	for (unsigned i = 1; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(c->granted, granted_for(LABEL, CACHE_AHEAD));
	ck_assert_uint_eq(c->room, 0);
	drain(c);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

START_TEST(what_is_exchanged_makes_room_for_threads)
{
	enum { COUNT = 512, LABEL = 30 };	/* more than are kept */
	uint64_t before;
	struct tlsf_cache *c = &caches[0], *later = &caches[1];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	before = depot.cache.granted;
	ck_assert_uint_eq(before, granted_for(LABEL,
	    (unsigned)(depot.cache.magazines[LABEL].last
	    - depot.cache.magazines[LABEL].first)));
	tlsf_depot_bound(&depot, 8 << 20, 1 << 20, 1);
	blocks[0] = tlsf_cache_refill(later, &depot, &t, LABEL);
	ck_assert_ptr_nonnull(blocks[0]);
	ck_assert_uint_eq(depot.cache.granted,
	    before - granted_for(LABEL, CACHE_BATCH));
	tlsf_free(&t, blocks[0]);
	drain(c);
	drain(later);
	drain(&depot.cache);
	ck_assert_ptr_null(tlsf_check(&t));
	ck_assert_uint_eq(tlsf_depot_granted(&depot), 0);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* And does not go to the heap, one by one. */
START_TEST(who_has_used_up_its_share_passes_half_on)
{
	enum { COUNT = 2 * CACHE_AHEAD + 1, LABEL = 30 };
	const struct tlsf_magazine *mine = &caches[0].magazines[LABEL];
	const struct tlsf_magazine *theirs = &depot.cache.magazines[LABEL];
	void *blocks[COUNT];

	begin(granted_for(LABEL, COUNT - 1) * TLSF_ALIGN, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(&caches[0], blocks[i]);
	ck_assert_uint_eq((unsigned)(mine->top - mine->first), COUNT / 2);
	ck_assert_uint_eq((unsigned)(theirs->top - theirs->first),
	    COUNT / 2 + 1);
	drain(&caches[0]);
	drain(&depot.cache);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

static unsigned
kept(const struct tlsf_cache *c, unsigned label)
{
	return (unsigned)(c->magazines[label].top - c->magazines[label].first);
}

/* Its bound is one of all labels together. */
START_TEST(what_the_depot_gave_out_leaves_its_room_to_others)
{
	enum { LABEL = 30, COUNT = 2 * MOST };
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(&caches[0], blocks[i]);
	ck_assert_uint_gt(kept(&depot.cache, LABEL), 0);
	while (kept(&depot.cache, LABEL))
		tlsf_free(&t, tlsf_cache_refill(&caches[1], &depot, &t,
		    LABEL));
	ck_assert_uint_eq(depot.cache.granted, 0);
	drain(&caches[0]);
	drain(&caches[1]);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* Fill the share of a cache with what it keeps no room for others beside. */
static void
fill(struct tlsf_cache *c, unsigned label, unsigned count)
{
	void *blocks[MOST];

	take_all(blocks, count, label);
	for (unsigned i = 0; i < count; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(kept(c, label), count);
}

/* Whatever others did with it meanwhile. */
START_TEST(who_only_frees_passes_on_what_it_has_no_room_for)
{
	enum { OLD = 31, LABEL = 30, COUNT = 16 };
	void *block;

	begin(granted_for(OLD, COUNT) * TLSF_ALIGN, 8 << 20);
	fill(&caches[0], OLD, COUNT);
	for (unsigned i = 1; i <= COUNT; i++) {
		take_all(&block, 1, LABEL);
		keep(&caches[0], block);
		ck_assert_uint_eq(kept(&depot.cache, LABEL), i);
	}
	drain(&caches[0]);
	drain(&depot.cache);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* What blocks of other sizes left is room like any. */
START_TEST(who_exchanges_has_room_where_it_uses_none)
{
	enum { OLD = 31, LABEL = 30, COUNT = 16 };
	struct tlsf_cache *c = &caches[0];
	void *blocks[COUNT];

	begin(granted_for(OLD, COUNT) * TLSF_ALIGN, 8 << 20);
	fill(c, OLD, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		tlsf_free(&t, tlsf_cache_get(c, OLD));
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(kept(c, LABEL), COUNT);
	ck_assert_uint_eq(c->granted, granted_for(OLD, COUNT));
	drain(c);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* Of a step or two more, and no more; it goes back to where it was. */
START_TEST(who_has_none_borrows_what_is_a_little_bigger)
{
	enum { LABEL = 30 };
	struct tlsf_cache *c = &caches[0];
	void *block, *lent;

	begin(1 << 20, 8 << 20);
	take_all(&block, 1, LABEL + CACHE_LENT);
	keep(c, block);
	ck_assert_ptr_null(tlsf_cache_borrow(c, LABEL - 1));
	lent = tlsf_cache_borrow(c, LABEL);
	ck_assert_ptr_eq(lent, block);
	ck_assert_uint_eq(c->room, c->granted);
	keep(c, lent);
	ck_assert_uint_eq(kept(c, LABEL + CACHE_LENT), 1);
	drain(c);
	/* Behind the last plain one are those with an alignment. */
	take_all(&block, 1, LABEL_PLAIN);
	keep(c, block);
	ck_assert_ptr_null(tlsf_cache_borrow(c, LABEL_PLAIN - 1));
	drain(c);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* As after a start with big blocks that the program has no more of. */
START_TEST(big_ones_leave_room_to_small_ones)
{
	enum { BIG = 60, SMALL = 10, COUNT = 64 };
	struct tlsf_cache *c = &caches[0];
	void *blocks[COUNT];
	uint64_t each;

	begin(1, 1);
	each = granted_for(BIG, COUNT / 2) - 1;
	tlsf_depot_bound(&depot, 8 << 20, each * TLSF_ALIGN,
	    each * TLSF_ALIGN / 2);
	take_all(blocks, COUNT, BIG);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(c->granted, granted_for(BIG,
	    COUNT / 2 - CACHE_AHEAD));
	take_all(blocks, COUNT, SMALL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(kept(c, SMALL), COUNT);
	drain(c);
	drain(&depot.cache);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* Their magazines are short. */
START_TEST(big_ones_are_exchanged_too)
{
	enum { LABEL = LABEL_ALIGNED - 1 };
	const struct tlsf_magazine *m = &caches[0].magazines[LABEL];
	unsigned slots;
	void *block;

	begin(1 << 20, 8 << 20);
	slots = (unsigned)(m->last - m->first);
	ck_assert_uint_lt(slots, 8);
	for (unsigned i = 0; i <= slots; i++) {
		take_all(&block, 1, LABEL);
		keep(&caches[0], block);
	}
	ck_assert_uint_eq(kept(&depot.cache, LABEL), slots / 2 + 1);
	drain(&caches[0]);
	drain(&depot.cache);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* What a cache was granted when there were fewer comes back when it exchanges
 * anything. */
START_TEST(a_share_that_shrinks_is_given_back)
{
	enum { COUNT = 40, LABEL = 30, OTHER = 10 };
	struct tlsf_cache *c = &caches[0];
	void *blocks[COUNT], *other;

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_uint_eq(c->granted, granted_for(LABEL, COUNT));
	tlsf_depot_bound(&depot, 8 << 20, granted_for(LABEL, 1) * TLSF_ALIGN,
	    1 << 20);
	for (unsigned i = 0; i < COUNT; i++)
		blocks[i] = tlsf_cache_get(c, LABEL);
	ck_assert_uint_eq(c->granted, granted_for(LABEL, COUNT));
	take_all(&other, 1, OTHER);
	keep(&caches[1], other);
	ck_assert_uint_eq(kept(&depot.cache, OTHER), 1);
	tlsf_free(&t, tlsf_cache_refill(c, &depot, &t, OTHER));
	ck_assert_uint_eq(c->granted, granted_for(LABEL, 1));
	for (unsigned i = 0; i < COUNT; i++)
		tlsf_free(&t, blocks[i]);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* A child of a fork goes on with what another thread was in the middle of. */
START_TEST(what_was_interrupted_is_mended)
{
	enum { LABEL = 30, COUNT = 8 };
	struct tlsf_cache *c = &caches[0];

	begin(1 << 20, 8 << 20);
	fill(c, LABEL, COUNT);
	tlsf_free(&t, tlsf_cache_get(c, LABEL));
	c->room -= 7;
	tlsf_cache_mend(c);
	ck_assert_uint_eq(c->room, granted_for(LABEL, 1));
	drain(c);
	ck_assert_uint_eq(tlsf_depot_granted(&depot), 0);
	ck_assert_uint_eq(t.blocks, 0);
}
END_TEST

/* Step by step, so that what is kept fits what is granted all the time; what
 * was freed last is looked at in the end. */
START_TEST(an_end_is_in_steps_and_looks_at_the_last)
{
	enum { LABEL = 5, COUNT = 20 };
	struct tlsf_cache *c = &caches[0], *other = &caches[1];
	void *blocks[COUNT];

	begin(1 << 20, 8 << 20);
	take_all(blocks, COUNT, LABEL);
	for (unsigned i = 0; i < COUNT; i++)
		keep(c, blocks[i]);
	ck_assert_ptr_null(tlsf_cache_defer(other, blocks[0]));
	drain(other);
	ck_assert_int_eq(t.fault, TLSF_TWICE);
	while (tlsf_cache_drain(c, &depot, &t))
		ck_assert_uint_eq(c->granted - c->room,
		    granted_for(LABEL, kept(c, LABEL)));
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
	tcase_add_test(tests,
	    what_the_depot_gave_out_leaves_its_room_to_others);
	tcase_add_test(tests,
	    who_only_frees_passes_on_what_it_has_no_room_for);
	tcase_add_test(tests, who_exchanges_has_room_where_it_uses_none);
	tcase_add_test(tests, who_has_none_borrows_what_is_a_little_bigger);
	tcase_add_test(tests, big_ones_leave_room_to_small_ones);
	tcase_add_test(tests, big_ones_are_exchanged_too);
	tcase_add_test(tests, a_share_that_shrinks_is_given_back);
	tcase_add_test(tests, what_was_interrupted_is_mended);
	tcase_add_test(tests, an_end_is_in_steps_and_looks_at_the_last);
	tcase_add_test(tests, a_short_one_is_short);
}

int
main(void)
{
	return unit_run("exchange", add);
}
