/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks, and what each of them allocated. */
#include "tools/sites.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "made.h"
#include "unit.h"

static struct maker m;
static struct profile p;
static struct profile_part part;

/* Two slots; a program and a library. */
static void
begin(void)
{
	part = (struct profile_part){ .to_s = INFINITY };
	maker_begin(&m);
	m.head.h.stack_depth = 32;
	maker_slot(&m, 1, "main", 0);
	maker_slot(&m, 2, "helper", 0);
	maker_object(&m, 0, 0x400000, 0x400000, 0x10000, "");
	maker_object(&m, 0, 0x700000, 0x700000, 0x10000, "/lib/liba.so");
}

static void
make(void)
{
	made_once(&p, &part, maker_save(&m));
}

static void
done(void)
{
	profile_free(&p);
	maker_end(&m);
}

/* "10@prog 20@liba.so", innermost first, where frames return to. */
static const char *
stack_of(const struct profile_site *site)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t f = site->frame; f; f = p.tree[f].caller) {
		const struct profile_call *call = p.calls + p.tree[f].call;
		const char *path = call->object ? call->object->path : "?";

		n += (size_t)snprintf(text + n, sizeof text - n,
		    "%s%" PRIx64 "@%s", n ? " " : "", call->address + 1,
		    call->object ? strrchr(path, '/') + 1 : path);
		ck_assert_uint_lt(n, sizeof text);
	}
	return text;
}

static const struct profile_site *
site_of(const char *stack)
{
	for (size_t i = 0; i < p.site_count; i++)
		if (!strcmp(stack_of(p.sites + i), stack))
			return p.sites + i;
	ck_abort_msg("no site %s", stack);
	return NULL;
}

static void
expect_problem(const char *said)
{
	for (size_t i = 0; i < p.problems.count; i++)
		if (strstr(p.problems.list[i], said))
			return;
	ck_abort_msg("no problem says \"%s\"", said);
}

/* Each column adds up to that of the whole. */
static void
expect_sums(void)
{
	struct profile_site sum = { 0 };

	for (size_t i = 0; i < p.site_count; i++) {
		const struct profile_site *s = p.sites + i;

		sum.allocations += s->allocations;
		sum.allocated_bytes += s->allocated_bytes;
		sum.live_blocks += s->live_blocks;
		sum.live_bytes += s->live_bytes;
		sum.peak_bytes += s->peak_bytes;
		ck_assert_uint_le(s->temporary, s->allocations);
	}
	ck_assert_uint_eq(sum.allocations, p.allocations.value);
	ck_assert_uint_eq(sum.allocated_bytes, p.allocated_bytes.value);
	ck_assert_uint_eq(sum.live_blocks, p.live_blocks.value);
	ck_assert_uint_eq(sum.live_bytes, p.live_bytes.value);
	ck_assert_uint_eq(sum.peak_bytes, p.peak_bytes.value);
}

START_TEST(a_site_is_a_stack_and_its_blocks)
{
	begin();
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 0, 2, 1, 0x400200);
	maker_frame(&m, 0, 3, 1, 0x700300);
	maker_malloc_at(&m, 0, 0x1000, 100, 1, 2);
	maker_malloc_at(&m, 0, 0x2000, 200000, 1, 3);
	maker_malloc_at(&m, 0, 0x3000, 7, 1, 2);
	maker_free(&m, 0, 0x2000, 1);
	maker_malloc(&m, 0, 0x4000, 5, 1);
	make();
	ck_assert(p.has_sites);
	ck_assert_uint_eq(p.site_count, 3);
	ck_assert_uint_eq(site_of("200@prog 100@prog")->allocations, 2);
	ck_assert_uint_eq(site_of("200@prog 100@prog")->peak_bytes, 107);
	ck_assert_uint_eq(site_of("300@liba.so 100@prog")->peak_bytes, 200000);
	ck_assert_uint_eq(site_of("300@liba.so 100@prog")->peak_blocks, 1);
	ck_assert_uint_eq(site_of("300@liba.so 100@prog")->live_bytes, 0);
	ck_assert_uint_eq(site_of("")->live_bytes, 5);
	ck_assert_uint_eq(site_of("")->peak_bytes, 0);
	ck_assert_str_eq(p.calls[p.tree[site_of("200@prog 100@prog")->frame]
	    .call].object->path, "/bin/prog");
	expect_sums();
	ck_assert_uint_eq(p.problems.count, 0);
	done();
}
END_TEST

START_TEST(without_stacks_there_are_no_sites)
{
	begin();
	m.head.h.stack_depth = 0;
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_malloc_at(&m, 0, 0x1000, 100, 1, 1);
	make();
	ck_assert(!p.has_sites);
	ck_assert_uint_eq(p.site_count, 0);
	ck_assert_uint_eq(p.peak_bytes.value, 100);
	done();
}
END_TEST

START_TEST(equal_frames_are_one_whatever_their_numbers)
{
	begin();
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 1, 2, 0, 0x400100);
	maker_frame(&m, 0, 3, 1, 0x400200);
	maker_frame(&m, 1, 4, 2, 0x400200);
	maker_malloc_at(&m, 0, 0x1000, 10, 1, 3);
	maker_malloc_at(&m, 1, 0x2000, 20, 1, 4);
	maker_free(&m, 0, 0x1000, 10);
	make();
	ck_assert_uint_eq(p.site_count, 1);
	ck_assert_uint_eq(p.sites[0].peak_bytes, 30);
	ck_assert_uint_eq(p.sites[0].live_bytes, 20);
	ck_assert_uint_eq(p.tree_count, 3);
	expect_sums();
	done();
}
END_TEST

START_TEST(a_frame_is_in_what_was_mapped_when_it_was_stored)
{
	begin();
	maker_object(&m, 0, 0x800000, 0x800000, 0x1000, "/lib/one.so");
	maker_frame(&m, 0, 1, 0, 0x800100);
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 1);
	maker_unload(&m, 0, 0x800000);
	maker_frame(&m, 0, 2, 0, 0x800100);
	maker_malloc_at(&m, 0, 0x2000, 2, 1, 2);
	maker_object(&m, 0, 0x7ff000, 0x7ff000, 0x2000, "/lib/two.so");
	maker_frame(&m, 0, 3, 0, 0x800100);
	maker_malloc_at(&m, 0, 0x3000, 4, 1, 3);
	/* Nobody said that it went. */
	maker_object(&m, 0, 0x800000, 0x800000, 0x1000, "/lib/three.so");
	maker_frame(&m, 0, 4, 0, 0x800100);
	maker_malloc_at(&m, 0, 0x4000, 8, 1, 4);
	maker_unload(&m, 0, 0x800000);
	make();
	ck_assert_uint_eq(site_of("100@one.so")->live_bytes, 1);
	ck_assert_uint_eq(site_of("1100@two.so")->live_bytes, 4);
	ck_assert_uint_eq(site_of("100@three.so")->live_bytes, 8);
	ck_assert_uint_eq(site_of("800100@?")->live_bytes, 2);
	expect_sums();
	done();
}
END_TEST

START_TEST(the_same_object_elsewhere_is_the_same)
{
	static const char path[] = "/lib/one.so";

	begin();
	for (uint32_t i = 1; i < 5; i++) {
		const uint64_t at = 0x800000 + 0x10000 * i;
		const struct log_object o = {
			at, at, 0x1000, (const unsigned char *)"id", 2,
		};
		struct log_long l;

		log_long_object(&l, &o, path, strlen(path), 0);
		log_put_long(&m.slots[0].w, &l, 0);
		maker_frame(&m, 0, i, 0, at + 0x100);
		maker_malloc_at(&m, 0, 0x1000 * i, 1, 1, i);
		maker_unload(&m, 0, at);
	}
	make();
	ck_assert_uint_eq(p.site_count, 1);
	ck_assert_uint_eq(site_of("100@one.so")->live_blocks, 4);
	ck_assert_uint_eq(p.object_count, 2);
	done();
}
END_TEST

START_TEST(a_long_path_comes_in_pieces)
{
	static char path[2000];

	begin();
	memset(path, 'p', sizeof path - 1);
	path[0] = '/';
	maker_object(&m, 0, 0x800000, 0x800000, 0x1000, path);
	maker_object(&m, 1, 0x900000, 0x900000, 0x1000, "/lib/b.so");
	maker_frame(&m, 0, 1, 0, 0x800100);
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 1);
	make();
	ck_assert_str_eq(p.calls[p.tree[p.sites[0].frame].call].object->path,
	    path);
	done();
}
END_TEST

START_TEST(an_object_may_be_told_a_little_late)
{
	begin();
	maker_frame(&m, 0, 1, 0, 0x800100);
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 1);
	maker_object(&m, 1, 0x800000, 0x800000, 0x1000, "/lib/one.so");
	make();
	ck_assert_uint_eq(site_of("100@one.so")->live_bytes, 1);
	done();
}
END_TEST

START_TEST(so_may_a_frame)
{
	begin();
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 1);
	maker_frame(&m, 1, 1, 0, 0x400100);
	make();
	ck_assert_uint_eq(site_of("100@prog")->live_bytes, 1);
	ck_assert_uint_eq(p.problems.count, 0);
	done();
}
END_TEST

START_TEST(our_own_frames_are_left_out)
{
	begin();
	maker_object(&m, 0, 0x800000, 0x800000, 0x1000,
	    "/usr/lib/libheaphook-track.so");
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 0, 2, 1, 0x800100);
	maker_frame(&m, 0, 3, 2, 0x400200);
	maker_frame(&m, 0, 4, 3, 0x800200);
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 4);
	maker_malloc_at(&m, 0, 0x2000, 2, 1, 3);
	make();
	ck_assert_uint_eq(p.site_count, 1);
	ck_assert_uint_eq(site_of("200@prog 100@prog")->live_bytes, 3);
	done();
}
END_TEST

START_TEST(senseless_frames_are_left_out)
{
	begin();
	maker_frame(&m, 0, 1, 1, 0x400100);	/* its own caller */
	maker_frame(&m, 0, 2, 3, 0x400100);	/* a circle */
	maker_frame(&m, 0, 3, 2, 0x400200);
	maker_frame(&m, 0, 0, 0, 0x400100);
	maker_frame(&m, 0, 4, 0, 0);
	maker_frame(&m, 0, 5, 0, 0x400500);
	maker_frame(&m, 0, 5, 0, 0x400600);	/* said already */
	maker_object(&m, 0, 1, UINT64_MAX - 5, 100, "/lib/wraps.so");
	maker_object(&m, 0, 1, 0x400000, 0, "/lib/none.so");
	maker_unload(&m, 0, 0x123);
	for (uint32_t i = 0; i < 6; i++)
		maker_malloc_at(&m, 0, 0x1000 * (i + 1), 1, 1, i);
	maker_malloc_at(&m, 0, 0x10000, 1, 1, LOG_FRAMES_MOST);
	make();
	ck_assert_uint_eq(site_of("200@prog")->live_blocks, 1);
	ck_assert_uint_eq(site_of("500@prog")->live_blocks, 1);
	ck_assert_uint_eq(site_of("")->live_blocks, 5);
	expect_problem("7 records of stacks make no sense");
	expect_problem("4 stacks are unknown");
	expect_sums();
	done();
}
END_TEST

START_TEST(no_stack_is_too_deep)
{
	begin();
	for (uint32_t i = 1; i <= 5000; i++)
		maker_frame(&m, 0, i, i - 1, 0x400000 + i);
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 5000);
	make();
	ck_assert_uint_eq(p.tree_count, STACKS_DEEPEST + 1);
	expect_sums();
	done();
}
END_TEST

START_TEST(a_realloc_moves_a_block_to_its_site)
{
	begin();
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 0, 2, 0, 0x400200);
	maker_malloc_at(&m, 0, 0x1000, 100, 1, 1);
	maker_realloc_at(&m, 0, 0x1000, 0x2000, 300, 1, 2);
	make();
	ck_assert_uint_eq(site_of("100@prog")->live_blocks, 0);
	ck_assert_uint_eq(site_of("100@prog")->peak_bytes, 0);
	ck_assert_uint_eq(site_of("100@prog")->temporary, 0);
	ck_assert_uint_eq(site_of("200@prog")->peak_bytes, 300);
	expect_sums();
	done();
}
END_TEST

START_TEST(temporary_is_freed_before_the_next_is_allocated)
{
	begin();
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_malloc_at(&m, 0, 0x1000, 1, 1, 1);
	maker_free(&m, 0, 0x1000, 1);		/* so is it */
	maker_free(&m, 0, 0x1000, 1);		/* not once more */
	maker_malloc_at(&m, 0, 0x2000, 1, 1, 1);
	maker_malloc_at(&m, 0, 0x3000, 1, 1, 1);
	maker_free(&m, 0, 0x2000, 1);		/* there was another */
	maker_free(&m, 0, 0x3000, 1);		/* but not after this */
	maker_malloc_at(&m, 0, 0x4000, 1, 1, 1);
	maker_malloc_at(&m, 1, 0x5000, 1, 100, 1);
	maker_free(&m, 1, 0x4000, 1);		/* another thread did */
	maker_free(&m, 1, 0x5000, 1);		/* others do not matter */
	make();
	ck_assert_uint_eq(p.sites[0].temporary, 3);
	expect_sums();
	done();
}
END_TEST

START_TEST(parts_are_of_sites_too)
{
	begin();
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_malloc_at(&m, 0, 0x1000, 100, 1000000, 1);
	maker_malloc_at(&m, 1, 0x2000, 50, 2000000, 1);
	maker_malloc_at(&m, 0, 0x3000, 7, 3000000, 1);
	part.from_s = 0.0015;
	make();
	ck_assert_uint_eq(p.sites[0].allocations, 2);
	ck_assert_uint_eq(p.sites[0].peak_bytes, 157);
	expect_sums();
	profile_free(&p);
	part.thread = "helper";
	make();
	ck_assert_uint_eq(p.sites[0].peak_bytes, 50);
	expect_sums();
	done();
}
END_TEST

enum { RANDOM_SITES = 20, RANDOM_BLOCKS = 300, RANDOM_STEPS = 8000 };

/* What a site has, and had at the peak, without any cleverness. */
struct model {
	uint64_t now[RANDOM_SITES], peak[RANDOM_SITES], all, most;
	struct {
		uint32_t site;
		uint64_t size;
	} blocks[RANDOM_BLOCKS];
};

static void
model_come(struct model *o, unsigned block, uint32_t site, uint64_t size)
{
	o->now[site] += size;
	o->all += size;
	o->blocks[block].site = site;
	o->blocks[block].size = size;
}

static void
model_go(struct model *o, unsigned block)
{
	o->now[o->blocks[block].site] -= o->blocks[block].size;
	o->all -= o->blocks[block].size;
	o->blocks[block].size = 0;
}

static void
one_step(struct model *o, unsigned block, uint32_t site, uint64_t size,
    bool again)
{
	uint64_t address = 0x10000 * (block + 1);

	if (o->blocks[block].size && again) {
		model_go(o, block);
		maker_realloc_at(&m, 0, address, address, size, 1, site);
		model_come(o, block, site, size);
	} else if (o->blocks[block].size) {
		model_go(o, block);
		maker_free(&m, 0, address, 1);
	} else {
		model_come(o, block, site, size);
		maker_malloc_at(&m, 0, address, size, 1, site);
	}
	if (o->all <= o->most)
		return;
	o->most = o->all;
	memcpy(o->peak, o->now, sizeof o->peak);
}

START_TEST(the_peak_is_what_every_site_had_then)
{
	static struct model o;

	srand((unsigned)_i);
	memset(&o, 0, sizeof o);
	begin();
	for (uint32_t i = 1; i < RANDOM_SITES; i++)
		maker_frame(&m, 0, i, 0, 0x400000 + i);
	for (unsigned i = 0; i < RANDOM_STEPS; i++)
		one_step(&o, (unsigned)rand() % RANDOM_BLOCKS,
		    (unsigned)rand() % RANDOM_SITES,
		    (unsigned)rand() % 1000 + 1, rand() % 4 == 0);
	make();
	ck_assert_uint_eq(p.peak_bytes.value, o.most);
	for (uint32_t i = 0; i < RANDOM_SITES; i++) {
		char stack[32] = "";

		if (i)
			snprintf(stack, sizeof stack, "%x@prog", i);
		ck_assert_uint_eq(site_of(stack)->peak_bytes, o.peak[i]);
		ck_assert_uint_eq(site_of(stack)->live_bytes, o.now[i]);
	}
	expect_sums();
	done();
}
END_TEST

START_TEST(a_child_inherits_the_sites_of_its_parent)
{
	char *parent, *child;

	begin();
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 0, 2, 1, 0x400200);
	maker_malloc_at(&m, 0, 0x1000, 100, 1, 2);
	maker_malloc_at(&m, 0, 0x2000, 30, 1, 1);
	parent = maker_save(&m);
	maker_end(&m);

	maker_begin(&m);
	m.head.h.stack_depth = 32;
	m.head.h.flags |= LOG_FLAG_FORKED;
	m.head.h.origin_pid = 4711;
	m.head.h.origin_process_start = 99;
	m.head.h.pid = 4712;
	m.head.h.origin_path = 100;
	memcpy(m.head.text + 100, parent, strlen(parent) + 1);
	maker_slot(&m, 1, "main", 0);
	maker_place(&m, 0, LOG_X_INHERIT, 0, 1, 60000);
	/* Numbers begin anew: its 1 is what its parent called 2. */
	maker_object(&m, 0, 0x400000, 0x400000, 0x10000, "");
	maker_frame(&m, 0, 3, 0, 0x400100);
	maker_frame(&m, 0, 4, 3, 0x400200);
	maker_frame(&m, 0, 1, 0, 0x400300);
	maker_malloc_at(&m, 0, 0x3000, 5, 1, 1);
	maker_malloc_at(&m, 0, 0x4000, 7, 1, 4);
	maker_free(&m, 0, 0x2000, 1);
	child = maker_save(&m);
	made_from(&p, &part, child);
	ck_assert_uint_eq(p.inherited_bytes.value, 130);
	ck_assert_uint_eq(site_of("200@prog 100@prog")->live_bytes, 107);
	ck_assert_uint_eq(site_of("200@prog 100@prog")->allocations, 1);
	ck_assert_uint_eq(site_of("100@prog")->peak_bytes, 30);
	ck_assert_uint_eq(site_of("100@prog")->live_bytes, 0);
	ck_assert_uint_eq(site_of("300@prog")->live_bytes, 5);
	expect_sums();
	done();
	unlink(parent);
	unlink(child);
	free(parent);
	free(child);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, a_site_is_a_stack_and_its_blocks);
	tcase_add_test(t, without_stacks_there_are_no_sites);
	tcase_add_test(t, equal_frames_are_one_whatever_their_numbers);
	tcase_add_test(t, a_frame_is_in_what_was_mapped_when_it_was_stored);
	tcase_add_test(t, the_same_object_elsewhere_is_the_same);
	tcase_add_test(t, a_long_path_comes_in_pieces);
	tcase_add_test(t, an_object_may_be_told_a_little_late);
	tcase_add_test(t, so_may_a_frame);
	tcase_add_test(t, our_own_frames_are_left_out);
	tcase_add_test(t, senseless_frames_are_left_out);
	tcase_add_test(t, no_stack_is_too_deep);
	tcase_add_test(t, a_realloc_moves_a_block_to_its_site);
	tcase_add_test(t, temporary_is_freed_before_the_next_is_allocated);
	tcase_add_test(t, parts_are_of_sites_too);
	tcase_add_loop_test(t, the_peak_is_what_every_site_had_then, 1, 9);
	tcase_add_test(t, a_child_inherits_the_sites_of_its_parent);
}

int
main(void)
{
	return unit_run("sites", add);
}
