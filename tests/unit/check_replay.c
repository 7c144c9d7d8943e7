/* SPDX-License-Identifier: Apache-2.0 */
/* What comes and what goes, event by event. */
#include "tools/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "unit.h"

static struct maker m;
static struct reader r;
static struct replay replay;
static char said[4096];
static uint64_t live;
static unsigned inherited;

static void
say(const char *format, uint64_t value)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof said - n, format, (unsigned)value);
}

/* "+SIZE" comes, "-SIZE" goes, "-?" was unknown, "!SIZE" went without a
 * free; each step that changes something ends with a blank. */
static void
step(void *who, const struct replay_step *s)
{
	static uint64_t last;

	ck_assert_ptr_eq(who, &replay);
	if (s->event->kind == LOG_X_THREAD)
		last = 0;
	ck_assert_uint_ge(s->ticks, last);
	last = s->ticks;
	if (s->come)
		say("+%u", s->come->requested);
	if (s->gone)
		say(s->freed ? "-%u" : "!%u", s->gone->requested);
	else if (s->freed)
		say("-?", 0);
	if (s->come || s->freed || s->gone)
		say(" ", 0);
	live += s->come ? block_usable(s->come) : 0;
	live -= s->gone ? block_usable(s->gone) : 0;
}

static void
inherit(void *who, const struct block *block)
{
	ck_assert_ptr_eq(who, &replay);
	say("(%u) ", block->requested);
	live += block_usable(block);
	inherited++;
}

static const char *
steps_of(const char *path, uint64_t until)
{
	const struct replay_watch watch = {
		.who = &replay, .step = step, .inherited = inherit,
		.until = until,
	};
	uint64_t total = 0;

	said[0] = '\0';
	live = inherited = 0;
	ck_assert_pstr_eq(reader_open(&r, path), NULL);
	replay_run(&replay, &r, &watch);
	for (size_t i = 0; i <= replay.blocks.mask; i++)
		if (replay.blocks.places[i].address)
			total += block_usable(replay.blocks.places + i);
	ck_assert_uint_eq(total, live);
	return said;
}

static const char *
steps(void)
{
	char *path = maker_save(&m);

	maker_end(&m);
	steps_of(path, UINT64_MAX);
	unlink(path);
	free(path);
	return said;
}

static void
done(void)
{
	replay_free(&replay);
	reader_close(&r);
}

/* The log with one slot, or two. */
static void
begin(unsigned slots)
{
	maker_begin(&m);
	for (unsigned i = 0; i < slots; i++)
		maker_slot(&m, (int)i + 1, "thread", 0);
}

START_TEST(a_balanced_log_ends_with_nothing)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_alloc(&m, 0, LOG_CALL_MEMALIGN, 0x2000, 5, 12, 19);
	maker_free(&m, 0, 0x1000, 0);
	maker_free(&m, 0, 0x2000, 0);
	ck_assert_str_eq(steps(), "+100 +5 -100 -5 ");
	ck_assert_uint_eq(replay.blocks.count, 0);
	ck_assert_uint_eq(live, 0);
	ck_assert(!r.problems.loss);
	done();
}
END_TEST

START_TEST(a_realloc_is_one_change)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_realloc(&m, 0, 0x1000, 0x1000, 200, 0);
	maker_realloc(&m, 0, 0x1000, 0x3000, 300, 0);
	maker_realloc(&m, 0, 0x9000, 0x4000, 7, 0);
	ck_assert_str_eq(steps(), "+100 +200-100 +300-200 +7-? ");
	ck_assert_uint_eq(replay.blocks.count, 2);
	done();
}
END_TEST

START_TEST(a_moving_block_is_live_but_its_address_is_free)
{
	begin(2);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_resize(&m, 0, 0x1000, 10);
	maker_malloc(&m, 1, 0x1000, 50, 15);
	maker_resized(&m, 0, 0x2000, 300, 10);
	maker_free(&m, 1, 0x1000, 10);
	ck_assert_str_eq(steps(), "+100 +50 +300-100 -50 ");
	ck_assert_uint_eq(replay.lost, 0);
	done();
}
END_TEST

START_TEST(a_failed_realloc_leaves_the_block)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_resize(&m, 0, 0x1000, 1);
	maker_failed(&m, 0, LOG_CALL_REALLOC, 1 << 30);
	maker_failed(&m, 0, LOG_CALL_MALLOC, 1 << 30);
	maker_free(&m, 0, 0x1000, 1);
	ck_assert_str_eq(steps(), "+100 -100 ");
	done();
}
END_TEST

START_TEST(a_handler_may_realloc_within_a_realloc)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_malloc(&m, 0, 0x2000, 200, 0);
	maker_resize(&m, 0, 0x1000, 1);
	maker_resize(&m, 0, 0x2000, 1);
	maker_resized(&m, 0, 0x3000, 250, 1);
	maker_resized(&m, 0, 0x4000, 150, 1);
	ck_assert_str_eq(steps(), "+100 +200 +250-200 +150-100 ");
	ck_assert_uint_eq(replay.blocks.count, 2);
	ck_assert_uint_eq(replay.lost, 0);
	done();
}
END_TEST

START_TEST(a_realloc_may_begin_in_one_chunk_and_end_in_the_next)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_resize(&m, 0, 0x1000, 1);
	maker_next_chunk(&m, 0);
	maker_resized(&m, 0, 0x3000, 250, 1);
	ck_assert_str_eq(steps(), "+100 +250-100 ");
	done();
}
END_TEST

START_TEST(the_next_thread_does_not_end_the_last_ones_realloc)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_resize(&m, 0, 0x1000, 1);
	maker_thread(&m, 0, 7, "next");
	maker_malloc(&m, 0, 0x2000, 20, 1);
	maker_resize(&m, 0, 0x2000, 1);
	maker_resized(&m, 0, 0x3000, 30, 1);
	ck_assert_str_eq(steps(), "+100 +20 +30-20 ");
	ck_assert_uint_eq(replay.blocks.count, 2);
	done();
}
END_TEST

START_TEST(who_dies_in_a_realloc_keeps_the_block)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_resize(&m, 0, 0x1000, 1);
	ck_assert_str_eq(steps(), "+100 ");
	ck_assert_uint_eq(replay.blocks.count, 1);
	done();
}
END_TEST

START_TEST(unknown_frees_change_nothing)
{
	begin(1);
	maker_free(&m, 0, 0x5000, 0);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_free(&m, 0, 0x1008, 0);
	ck_assert_str_eq(steps(), "-? +100 -? ");
	ck_assert_uint_eq(replay.blocks.count, 1);
	ck_assert(!r.problems.loss);
	done();
}
END_TEST

START_TEST(an_address_given_twice_loses_its_first_block)
{
	begin(1);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_malloc(&m, 0, 0x1000, 50, 0);
	maker_free(&m, 0, 0x1000, 0);
	ck_assert_str_eq(steps(), "+100 !100 +50 -50 ");
	ck_assert(r.problems.loss);
	done();
}
END_TEST

START_TEST(causality_decides_where_clocks_slip)
{
	begin(2);
	/* Thread 2 frees what thread 1 will have made only later, and makes
	 * a block where thread 1 will have freed one only later. */
	maker_malloc(&m, 0, 0x2000, 70, 0);
	maker_malloc(&m, 0, 0x1000, 100, 500);
	maker_free(&m, 0, 0x2000, 500);
	maker_free(&m, 1, 0x1000, 300);
	maker_malloc(&m, 1, 0x2000, 50, 300);
	maker_free(&m, 1, 0x2000, 100);
	ck_assert_str_eq(steps(), "+70 +100 -100 -70 +50 -50 ");
	ck_assert_uint_eq(replay.blocks.count, 0);
	ck_assert_uint_eq(replay.lost, 0);
	done();
}
END_TEST

START_TEST(a_realloc_that_slips_is_waited_for_too)
{
	begin(2);
	maker_malloc(&m, 0, 0x1000, 100, 0);
	maker_realloc(&m, 0, 0x1000, 0x2000, 200, 500);
	maker_free(&m, 1, 0x2000, 200);
	maker_malloc(&m, 1, 0x1000, 1, 100);
	ck_assert_str_eq(steps(), "+100 +200-100 -200 +1 ");
	ck_assert_uint_eq(replay.lost, 0);
	done();
}
END_TEST

START_TEST(what_is_wrong_holds_nobody_up_for_long)
{
	begin(2);
	maker_free(&m, 0, 0x7000, 10);
	maker_malloc(&m, 0, 0x1000, 100, 10);
	maker_malloc(&m, 1, 0x3000, 1, 90000000);
	maker_malloc(&m, 1, 0x4000, 2, 90000000);
	ck_assert_str_eq(steps(), "+1 -? +100 +2 ");
	done();
}
END_TEST

START_TEST(senseless_events_are_left_out)
{
	begin(1);
	maker_alloc(&m, 0, LOG_CALL_MALLOC, 0x1000, UINT64_MAX - 8, 0, 0);
	maker_malloc(&m, 0, 0, 5, 0);
	maker_realloc(&m, 0, 0x9000, 0, 5, 0);
	maker_free(&m, 0, 0, 0);
	maker_resize(&m, 0, 0, 0);
	maker_malloc(&m, 0, 0x2000, 5, 0);
	ck_assert_str_eq(steps(), "+5 ");
	ck_assert_uint_eq(replay.senseless, 3);
	ck_assert(r.problems.loss);
	done();
}
END_TEST

START_TEST(threads_have_their_last_name)
{
	begin(2);
	maker_malloc(&m, 0, 0x1000, 1, 1);
	maker_name(&m, 0, 1000, "first");
	maker_name(&m, 0, 2000, "second");
	maker_next_chunk(&m, 0);	/* says "thread" again */
	maker_malloc(&m, 0, 0x2000, 1, 1);
	maker_thread(&m, 0, 3, "third");
	maker_malloc(&m, 0, 0x3000, 1, 1);
	steps();
	ck_assert_uint_eq(replay.threads.count, 3);
	ck_assert_str_eq(replay.threads.list[0].name, "first");
	ck_assert_str_eq(replay.threads.list[1].name, "second");
	ck_assert_str_eq(replay.threads.list[2].name, "third");
	ck_assert_int_eq(replay.threads.list[2].tid, 3);
	ck_assert_uint_eq(blocks_place(&replay.blocks, 0x3000)->owner, 2);
	done();
}
END_TEST

START_TEST(many_threads_are_told_apart)
{
	struct threads t;

	threads_init(&t);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++)
			ck_assert_uint_eq(threads_meet(&t, i, i % 7 * 4096,
			    "x", 1), (uint32_t)i);
	threads_rename(&t, 3 * 4096, "new", 3);
	ck_assert_str_eq(t.list[4994].name, "new");
	threads_rename(&t, 12345, "nobody", 6);
	threads_free(&t);
}
END_TEST

START_TEST(nothing_is_shown_from_a_time_on)
{
	char *path;

	begin(1);
	maker_malloc(&m, 0, 0x1000, 1, 10);
	maker_malloc(&m, 0, 0x2000, 2, 10);
	maker_malloc(&m, 0, 0x3000, 3, 10);
	path = maker_save(&m);
	maker_end(&m);
	ck_assert_str_eq(steps_of(path, MAKER_START + 20), "+1 ");
	unlink(path);
	free(path);
	done();
}
END_TEST

/* A parent with two slots; its child was forked when the first had made
 * 100 and 200, and the second nothing. */
static char *
make_parent(uint32_t *fork_offset)
{
	char *path;

	begin(2);
	maker_malloc(&m, 0, 0x1000, 100, 10);
	maker_malloc(&m, 0, 0x2000, 200, 10);
	*fork_offset = maker_offset(&m, 0);
	maker_free(&m, 0, 0x2000, 10);
	maker_malloc(&m, 1, 0x3000, 300, 40);
	path = maker_save(&m);
	maker_end(&m);
	return path;
}

static void
make_child(const char *parent, uint32_t fork_offset)
{
	begin(1);
	m.head.h.flags |= LOG_FLAG_FORKED;
	m.head.h.origin_pid = 4711;
	m.head.h.origin_process_start = 99;
	m.head.h.pid = 4712;
	m.head.h.process_start = 100;
	m.head.h.origin_path = 1000;
	snprintf(m.head.text + 1000, 2000, "%s", parent);
	maker_place(&m, 0, LOG_X_INHERIT, 0, 1, fork_offset);
	maker_malloc(&m, 0, 0x4000, 4, 5);
	maker_free(&m, 0, 0x1000, 5);
}

START_TEST(a_child_begins_with_what_its_parent_had)
{
	uint32_t offset;
	char *parent = make_parent(&offset);

	make_child(parent, offset);
	ck_assert_str_eq(steps(), "(100) (200) +4 -100 ");
	ck_assert_uint_eq(inherited, 2);
	ck_assert_uint_eq(replay.blocks.count, 2);
	ck_assert_uint_eq(replay.threads.count, 1);
	ck_assert_uint_eq(r.problems.kept, 0);
	done();
	unlink(parent);
	free(parent);
}
END_TEST

START_TEST(a_grandchild_too)
{
	uint32_t offset;
	char *parent = make_parent(&offset), *child;

	make_child(parent, offset);
	offset = maker_offset(&m, 0);
	maker_free(&m, 0, 0x2000, 5);
	child = maker_save(&m);
	maker_end(&m);

	make_child(child, offset);
	m.head.h.origin_pid = 4712;
	m.head.h.origin_process_start = 100;
	maker_free(&m, 0, 0x4000, 5);
	ck_assert_str_eq(steps(), "(200) (4) !4 +4 -? -4 ");
	done();
	unlink(parent);
	unlink(child);
	free(parent);
	free(child);
}
END_TEST

/* maker_save puts both into the same folder. */
START_TEST(logs_that_moved_together_find_each_other)
{
	char told[4096], *parent;
	uint32_t offset;

	parent = make_parent(&offset);
	snprintf(told, sizeof told, "/gone%s", strrchr(parent, '/'));
	make_child(told, offset);
	ck_assert_str_eq(steps(), "(100) (200) +4 -100 ");
	done();
	unlink(parent);
	free(parent);
}
END_TEST

START_TEST(a_wrong_parent_is_not_believed)
{
	uint32_t offset;
	char *parent = make_parent(&offset);

	make_child(parent, offset);
	m.head.h.origin_process_start = 98;
	ck_assert_str_eq(steps(), "+4 -? ");
	ck_assert_uint_eq(r.problems.kept, 1);
	ck_assert_ptr_nonnull(strstr(r.problems.lines[0],
	    "inherited blocks are unknown"));
	done();
	unlink(parent);
	free(parent);
}
END_TEST

/* Its origin's path, pid and start are its own. */
START_TEST(who_claims_to_be_its_own_parent_comes_to_an_end)
{
	char *path;
	size_t n;
	unsigned char *all;
	FILE *f;

	make_child("?", 4000);
	m.head.h.origin_pid = 4712;
	m.head.h.origin_process_start = 100;
	path = maker_save(&m);
	snprintf(m.head.text + 1000, 2000, "%s", path);
	all = maker_bytes(&m, &n);
	maker_end(&m);
	f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(all, 1, n, f), n);
	fclose(f);
	free(all);
	steps_of(path, UINT64_MAX);
	ck_assert_ptr_nonnull(strstr(r.problems.lines[0], "has problems"));
	done();
	unlink(path);
	free(path);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, a_balanced_log_ends_with_nothing);
	tcase_add_test(t, a_realloc_is_one_change);
	tcase_add_test(t, a_moving_block_is_live_but_its_address_is_free);
	tcase_add_test(t, a_failed_realloc_leaves_the_block);
	tcase_add_test(t, a_handler_may_realloc_within_a_realloc);
	tcase_add_test(t,
	    a_realloc_may_begin_in_one_chunk_and_end_in_the_next);
	tcase_add_test(t,
	    the_next_thread_does_not_end_the_last_ones_realloc);
	tcase_add_test(t, who_dies_in_a_realloc_keeps_the_block);
	tcase_add_test(t, unknown_frees_change_nothing);
	tcase_add_test(t, an_address_given_twice_loses_its_first_block);
	tcase_add_test(t, causality_decides_where_clocks_slip);
	tcase_add_test(t, a_realloc_that_slips_is_waited_for_too);
	tcase_add_test(t, what_is_wrong_holds_nobody_up_for_long);
	tcase_add_test(t, senseless_events_are_left_out);
	tcase_add_test(t, threads_have_their_last_name);
	tcase_add_test(t, many_threads_are_told_apart);
	tcase_add_test(t, nothing_is_shown_from_a_time_on);
	tcase_add_test(t, a_child_begins_with_what_its_parent_had);
	tcase_add_test(t, a_grandchild_too);
	tcase_add_test(t, logs_that_moved_together_find_each_other);
	tcase_add_test(t, a_wrong_parent_is_not_believed);
	tcase_add_test(t, who_claims_to_be_its_own_parent_comes_to_an_end);
}

int
main(void)
{
	return unit_run("replay", add);
}
