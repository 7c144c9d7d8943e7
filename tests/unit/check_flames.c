/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of a flame graph lie within each other, lose nothing, and stay few;
 * axes have round numbers. */
#include "tools/flames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/render.h"
#include "tools/room.h"
#include "tools/ticks.h"
#include "unit.h"

/* A profile made to order: each call has one frame. */
struct made {
	struct profile p;
	struct profile_frame *frames;
	char (*names)[40];
};

static void
make(struct made *m, size_t calls, size_t sites)
{
	*m = (struct made){ .p = { .has_sites = true, .call_count = calls } };
	m->p.calls = room_new(calls, sizeof *m->p.calls);
	m->frames = room_new(calls, sizeof *m->frames);
	m->names = room_new(calls, sizeof *m->names);
	m->p.sites = room_new(sites, sizeof *m->p.sites);
	for (size_t i = 0; i < calls; i++) {
		snprintf(m->names[i], sizeof m->names[i], "f%zu", i);
		m->frames[i] = (struct profile_frame){
			.function = m->names[i], .call = m->p.calls + i,
		};
		m->p.calls[i].frames = m->frames + i;
		m->p.calls[i].frame_count = 1;
	}
}

/* Of BYTES; the calls that follow are from the innermost, up to -1. */
static void
add_site(struct made *m, uint64_t bytes, const int *calls)
{
	struct profile_site *site = m->p.sites + m->p.site_count++;

	site->peak_bytes = bytes;
	site->allocations = 1;
	while (calls[site->depth] >= 0)
		site->depth++;
	site->stack = room_new(site->depth + 1, sizeof *site->stack);
	for (unsigned i = 0; i < site->depth; i++)
		site->stack[i] = m->frames + calls[i];
}
#define CALLS(...) (const int[]){ __VA_ARGS__, -1 }

static void
unmake(struct made *m)
{
	for (size_t i = 0; i < m->p.site_count; i++)
		free(m->p.sites[i].stack);
	free(m->p.sites);
	free(m->p.calls);
	free(m->frames);
	free(m->names);
}

/* NULL, or what is wrong first. */
static const char *
check(const struct flames *f)
{
	uint64_t next[FLAMES_ROWS + 1] = { 0 }, end[FLAMES_ROWS + 1] = { 0 };

	for (size_t i = 0; i < f->count; i++) {
		const struct flames_box *b = f->boxes + i;

		if (b->row >= FLAMES_ROWS || b->row >= f->rows)
			return "too deep";
		if (b->row && (b->from < next[b->row]
		    || b->from + b->value > end[b->row - 1]))
			return "beside its caller, or over another";
		if (!b->value || b->color > FLAMES_FOLDED)
			return "empty, or of no color";
		if (!b->name != !!b->folded)
			return "folded, but named";
		if (b->folded != (b->color == FLAMES_FOLDED ? b->folded : 0))
			return "folded, but of a function's color";
		next[b->row] = end[b->row] = b->from + b->value;
		next[b->row + 1] = b->from;
	}
	return NULL;
}

/* The one called NAME in ROW, or one that has nothing. */
static const struct flames_box *
find(const struct flames *f, const char *name, unsigned row)
{
	static const struct flames_box none;

	for (size_t i = 0; i < f->count; i++)
		if (f->boxes[i].row == row && f->boxes[i].name
		    && !strcmp(f->boxes[i].name, name))
			return f->boxes + i;
	return &none;
}

START_TEST(callers_are_above_and_most_comes_first)
{
	struct made m;
	struct flames f;

	make(&m, 4, 5);
	add_site(&m, 10, CALLS(2, 1, 0));
	add_site(&m, 30, CALLS(3, 1, 0));
	add_site(&m, 5, CALLS(1, 0));
	add_site(&m, 50, CALLS(2, 0));
	add_site(&m, 7, (const int[]){ -1 });
	flames_make(&f, &m.p, orders, false);
	ck_assert_pstr_eq(check(&f), NULL);
	ck_assert_uint_eq(f.total, 102);
	ck_assert_uint_eq(f.rows, 4);
	ck_assert_uint_eq(f.count, 7);
	ck_assert_uint_eq(find(&f, "all", 0)->value, 102);
	ck_assert_uint_eq(find(&f, "f0", 1)->value, 95);
	ck_assert_uint_eq(find(&f, "f2", 2)->from, 0);
	ck_assert_uint_eq(find(&f, "f1", 2)->from, 50);
	ck_assert_uint_eq(find(&f, "f1", 2)->value, 45);
	ck_assert_uint_eq(find(&f, "f3", 3)->from, 50);
	ck_assert_uint_eq(find(&f, "f2", 3)->from, 80);
	ck_assert_uint_eq(find(&f, "f2", 3)->color,
	    find(&f, "f2", 2)->color);
	ck_assert_uint_eq(find(&f, "(stack unknown)", 1)->from, 95);
	flames_free(&f);
	m.p.sites[4].suppressed = true;
	flames_make(&f, &m.p, orders, true);
	ck_assert_uint_eq(f.total, 95);
	flames_free(&f);
	unmake(&m);
}
END_TEST

START_TEST(what_is_small_is_folded_and_still_counts)
{
	struct made m;
	struct flames f;
	char room[FLAMES_LABEL];

	make(&m, 12, 12);
	add_site(&m, 9990, CALLS(1, 0));
	for (int i = 2; i < 12; i++)
		add_site(&m, i == 2 ? 10 : 1, CALLS(i, 0));
	flames_make(&f, &m.p, orders, false);
	ck_assert_pstr_eq(check(&f), NULL);
	ck_assert_uint_eq(f.count, 4);
	ck_assert_uint_eq(f.boxes[3].folded, 10);
	ck_assert_uint_eq(f.boxes[3].value, 19);
	ck_assert_uint_eq(f.boxes[3].from, 9990);
	ck_assert_str_eq(flames_label(f.boxes + 3, room), "10 more");
	flames_free(&f);
	m.p.sites[0].peak_bytes = 9900;
	flames_make(&f, &m.p, orders, false);
	ck_assert_uint_eq(find(&f, "f2", 2)->value, 10);	/* of 9919 */
	flames_free(&f);
	unmake(&m);
}
END_TEST

START_TEST(nothing_has_no_boxes)
{
	struct made m;
	struct flames f;

	make(&m, 1, 1);
	flames_make(&f, &m.p, orders, false);
	ck_assert_uint_eq(f.count, 0);
	flames_free(&f);
	add_site(&m, 0, CALLS(0));
	flames_make(&f, &m.p, orders, false);
	ck_assert_uint_eq(f.count, 0);
	flames_free(&f);
	m.p.has_sites = false;
	flames_make(&f, &m.p, orders, false);
	ck_assert_uint_eq(f.count, 0);
	flames_free(&f);
	unmake(&m);
}
END_TEST

START_TEST(deep_recursion_ends_at_the_last_row)
{
	static int deep[3001];
	struct made m;
	struct flames f;

	make(&m, 1, 1);
	deep[3000] = -1;
	add_site(&m, 100, deep);
	flames_make(&f, &m.p, orders, false);
	ck_assert_pstr_eq(check(&f), NULL);
	ck_assert_uint_eq(f.rows, FLAMES_ROWS);
	ck_assert_uint_eq(f.boxes[f.count - 1].folded, 1);
	ck_assert_uint_eq(f.boxes[f.count - 1].value, 100);
	flames_free(&f);
	unmake(&m);
}
END_TEST

/* The worst: many that are just wide enough, and deep. */
START_TEST(a_hundred_thousand_stacks_make_a_file_that_can_be_sent)
{
	enum { CALLS = 1000, SITES = 100000, DEEP = 40 };
	const struct render_look look = { .order = orders };
	struct made m;
	struct flames f;
	uint32_t random = 1;
	int stack[DEEP + 1];
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	make(&m, CALLS, SITES);
	for (int i = 0; i < SITES; i++) {
		for (int k = 0; k < DEEP; k++) {
			random = random * 1103515245 + 12345;
			stack[k] = k > DEEP - 3 ? i % 900
			    : (int)(random >> 16) % CALLS;
		}
		stack[DEEP] = -1;
		add_site(&m, i < 900 ? 100000 : 1, stack);
	}
	flames_make(&f, &m.p, orders, false);
	ck_assert_pstr_eq(check(&f), NULL);
	ck_assert_uint_eq(f.total, 90000000 + 99100);
	ck_assert_uint_le(f.count, FLAMES_BOXES);
	flames_free(&f);
	render_svg(to, &m.p, 1, &look);
	fclose(to);
	ck_assert_uint_le(bytes, 4 << 20);
	free(text);
	unmake(&m);
}
END_TEST

/* All, with a ',' between. */
static const char *
joined(const struct tick *list, unsigned count)
{
	static char text[TICKS_MOST * sizeof list->text];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%s", i ? "," : "", list[i].text);
	return text;
}

START_TEST(axes_have_round_numbers)
{
	struct tick list[TICKS_MOST];

	ck_assert_str_eq(joined(list, ticks_bytes(8644801, list)),
	    "0 MiB,2 MiB,4 MiB,6 MiB,8 MiB");
	ck_assert_str_eq(joined(list, ticks_bytes(1, list)),
	    "0 B,1 B,2 B,3 B,4 B,5 B");
	ck_assert_str_eq(joined(list, ticks_bytes(1024, list)),
	    "0.0 KiB,0.2 KiB,0.4 KiB,0.6 KiB,0.8 KiB,1.0 KiB");
	ck_assert_str_eq(joined(list, ticks_seconds(0, 0.0895, list)),
	    "0 ms,10 ms,20 ms,30 ms,40 ms,50 ms,60 ms,70 ms,80 ms");
	ck_assert_str_eq(joined(list, ticks_seconds(1000.00009, 1000.00041,
	    list)), "1000.00010 s,1000.00015 s,1000.00020 s,1000.00025 s,"
	    "1000.00030 s,1000.00035 s,1000.00040 s");
	ck_assert_str_eq(joined(list, ticks_seconds(0, 86400, list)),
	    "0 h,5 h,10 h,15 h,20 h");
	ck_assert_uint_eq(ticks_seconds(1, 1, list), 0);
	ck_assert_uint_eq(ticks_seconds(0, INFINITY, list), 0);
	ck_assert_uint_eq(ticks_seconds(NAN, 1, list), 0);
	ck_assert_uint_le(ticks_bytes(1.8e19, list), TICKS_MOST);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, callers_are_above_and_most_comes_first);
	tcase_add_test(t, what_is_small_is_folded_and_still_counts);
	tcase_add_test(t, nothing_has_no_boxes);
	tcase_add_test(t, deep_recursion_ends_at_the_last_row);
	tcase_add_test(t,
	    a_hundred_thousand_stacks_make_a_file_that_can_be_sent);
	tcase_add_test(t, axes_have_round_numbers);
}

int
main(void)
{
	return unit_run("flames", add);
}
