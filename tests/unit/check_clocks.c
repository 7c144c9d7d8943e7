/* SPDX-License-Identifier: Apache-2.0 */
/* Threads whose clocks differ, and blocks that go from one to the other: a
 * little world whose true order is known is written down with wrong stamps
 * and must come out as it was. */
#include "tools/replay.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "unit.h"

enum {
	THREADS = 3,
	BLOCKS = 64,
	STEPS = 300000,
	MOST = 5000,			/* bytes of one block */
	US = 1000,			/* ticks */
	MS = 1000 * US,
	CLOSE = 4, TWO = 8,		/* so many of the clocks below are */
	SOME = 12,			/* blocks; in no world 9 */
};

static const uint64_t BEFORE = 1000 * (uint64_t)MS;	/* of any clock */

struct world {
	struct maker m;
	uint64_t now, told[THREADS];
	int64_t clock[THREADS];		/* less the true one */
	uint64_t seed;
	uint64_t free[BLOCKS];		/* addresses, the last one freed last */
	unsigned free_count;
	struct { uint64_t address, size; } live[BLOCKS], moving[THREADS];
	unsigned live_count;
	uint64_t bytes, peak;
	uint64_t strange;		/* frees of blocks from before */
};

static struct world w;
static uint64_t unknown, bytes, peak;

static unsigned
below(unsigned n)
{
	w.seed = w.seed * UINT64_C(6364136223846793005) + 1;
	return (unsigned)(w.seed >> 33) % n;
}

static void
begin_world(const int64_t *clock, uint64_t seed)
{
	w = (struct world){ .now = BEFORE, .seed = seed };
	memcpy(w.clock, clock, sizeof w.clock);
	maker_begin(&w.m);
	w.m.chunk_bytes = 1 << 20;
	for (int i = 0; i < THREADS; i++)
		maker_slot(&w.m, i + 1, "thread", 0);
	for (; w.free_count < BLOCKS; w.free_count++)
		w.free[w.free_count] = 0x1000 * (1 + (uint64_t)w.free_count);
}

/* How much later than the last the thread's next stamp is. */
static uint64_t
stamp(unsigned thread)
{
	uint64_t stamp = w.now + (uint64_t)w.clock[thread];
	uint64_t dt = stamp > w.told[thread] ? stamp - w.told[thread] : 0;

	w.told[thread] += dt;
	return dt;
}

static void
grow(uint64_t by, uint64_t less)
{
	w.bytes += by - less;
	if (w.peak < w.bytes)
		w.peak = w.bytes;
}

static uint64_t
take(uint64_t size)
{
	uint64_t address = w.free[--w.free_count];

	w.live[w.live_count].address = address;
	w.live[w.live_count++].size = size;
	return address;
}

static uint64_t
give(uint64_t *size)
{
	unsigned i = below(w.live_count);
	uint64_t address = w.live[i].address;

	*size = w.live[i].size;
	w.live[i] = w.live[--w.live_count];
	w.free[w.free_count++] = address;
	return address;
}

static void
end_move(unsigned thread)
{
	uint64_t size = below(MOST), address = take(size);

	maker_resized(&w.m, thread, address, size, stamp(thread));
	grow(size, w.moving[thread].size);
	w.moving[thread].address = 0;
}

/* Anybody frees anybody's block; addresses are given again at once. */
static void
act(unsigned thread, unsigned most)
{
	uint64_t size = below(MOST);

	w.now += 50 + below(900);
	if (w.moving[thread].address) {
		end_move(thread);
	} else if (w.live_count < 2 || (w.live_count < most && below(2))) {
		maker_malloc(&w.m, thread, take(size), size, stamp(thread));
		grow(size, 0);
	} else if (below(20)) {
		maker_free(&w.m, thread, give(&size), stamp(thread));
		grow(0, size);
	} else {
		w.moving[thread].address = give(&w.moving[thread].size);
		maker_resize(&w.m, thread, w.moving[thread].address,
		    stamp(thread));
	}
}

static void
act_long(unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		act(below(THREADS), i / (steps / 8) % 2 ? 40 : 8);
	for (unsigned i = 0; i < THREADS; i++)
		if (w.moving[i].address)
			end_move(i);
}

static void
count(void *who, const struct replay_step *s)
{
	(void)who;
	bytes += s->come ? s->come->requested : 0;
	bytes -= s->gone ? s->gone->requested : 0;
	unknown += s->freed && !s->gone;
	ck_assert_int_ge((int64_t)bytes, 0);
	if (peak < bytes)
		peak = bytes;
}

/* SLACK: blocks by which the peak may be wrong. */
static void
expect_truth(unsigned slack)
{
	static const struct replay_watch watch = {
		.step = count, .until = UINT64_MAX,
	};
	char *path = maker_save(&w.m);
	struct replay replay;
	struct reader r;

	unknown = bytes = peak = 0;
	maker_end(&w.m);
	ck_assert_pstr_eq(reader_open(&r, path), NULL);
	replay_run(&replay, &r, &watch);
	ck_assert_uint_eq(replay.lost, 0);
	ck_assert_uint_eq(unknown, w.strange);
	ck_assert_uint_eq(replay.blocks.count, w.live_count);
	ck_assert_uint_eq(bytes, w.bytes);
	ck_assert_uint_le(peak, w.peak + slack * MOST);
	ck_assert_uint_ge(peak + slack * MOST, w.peak);
	ck_assert_uint_eq(r.problems.kept, 0);
	replay_free(&replay);
	reader_close(&r);
	unlink(path);
	free(path);
}

static const int64_t clocks[][THREADS] = {
	{ 0, 0, 0 },
	{ 0, 2 * US, -2 * US },
	{ 0, 20 * US, 0 },
	{ 0, -20 * US, 0 },
	/* More than CLOSE: */
	{ 0, MS, 0 },
	{ 0, -MS, 0 },
	{ 0, 50 * MS, 0 },
	{ 0, -50 * MS, 0 },
	/* More than TWO: */
	{ -30 * MS, 50 * US, 40 * MS },
};

/* Each processor has its clock, and threads move between them.  A stream's
 * stamps never go back, so what is far off must not change. */
static void
wander(unsigned steps, unsigned stay)
{
	int64_t clock[THREADS];

	memcpy(clock, w.clock, sizeof clock);
	for (unsigned i = 0; i < steps / stay; i++) {
		w.clock[below(THREADS)] = clock[below(THREADS)];
		act_long(stay);
	}
}

/* Somebody frees a block from before the record: nothing can come. */
static void
free_strange(unsigned thread)
{
	maker_free(&w.m, thread, 0x900000 + 16 * w.strange++, stamp(thread));
}

START_TEST(a_clock_that_is_wrong_costs_no_block)
{
	begin_world(clocks[_i], 4711 + (uint64_t)_i);
	act_long(STEPS);
	expect_truth(0);
}
END_TEST

START_TEST(nor_do_threads_that_move_to_other_clocks)
{
	begin_world(clocks[_i], 4712 + (uint64_t)_i);
	wander(STEPS, 10000);
	expect_truth(0);
}
END_TEST

START_TEST(frees_of_unknown_blocks_stay_what_they_are)
{
	begin_world(clocks[_i], 4713 + (uint64_t)_i);
	for (unsigned i = 0; i < 50; i++) {
		free_strange(below(THREADS));
		act_long(STEPS / 50);
	}
	expect_truth(SOME);
}
END_TEST

static void
add(TCase *t)
{
	const int n = sizeof clocks / sizeof *clocks;

	tcase_add_loop_test(t, a_clock_that_is_wrong_costs_no_block, 0, n);
	tcase_add_loop_test(t, nor_do_threads_that_move_to_other_clocks, 0,
	    CLOSE);
	tcase_add_loop_test(t, frees_of_unknown_blocks_stay_what_they_are, 0,
	    TWO);
}

int
main(void)
{
	return unit_run("clocks", add);
}
