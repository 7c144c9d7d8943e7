/* SPDX-License-Identifier: Apache-2.0 */
/* The same facts in each form, byte for byte as in tests/golden; and
 * whatever a log says, a form stays what it is. */
#include "tools/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/chart.h"
#include "unit.h"

/* A profile owns its texts, but nobody frees these. */
#define TEXT(literal) ((char *)(literal))

static char *argv[] = { TEXT("prog"), TEXT("-x \"y\"") };
static char *problems[] = { TEXT("something, said"), TEXT("else") };
static struct profile_thread threads[] = {
	{ 11, "main", 7, 3, 700 }, { 12, "wor\tker", 3, 0, 524288 },
};
static struct profile_point timeline[] = {
	{ 0, 0, 100, 0, false }, { 0.5, 2048, 4096, 0, false },
	{ 1, 1024, 2048, 0, false },
};
static struct profile_mark marks[] = { { 0.75, TEXT("solve") } };

static struct profile_number
known(uint64_t value)
{
	return (struct profile_number){ true, value };
}

static struct profile
usual(void)
{
	return (struct profile){
		.path = TEXT("a.log"), .pid = known(11), .ppid = known(1),
		.exe = TEXT("/bin/prog"), .cwd = TEXT("/tmp"),
		.host = TEXT("box"),
		.argv = { argv, 2 }, .mode = "events", .bytes = "requested",
		.state = "exited", .status = known(0), .complete = true,
		.problems = { problems, 2 }, .start = 0.25,
		.elapsed_s = 1.5, .allocations = known(10),
		.frees = known(3), .failed = known(0),
		.allocated_bytes = known(524988), .peak_bytes = known(4096),
		.peak_usable_bytes = known(4200), .peak_s = 0.7,
		.peak_error_bytes = known(0), .live_blocks = known(7),
		.live_bytes = known(1024), .live_usable_bytes = known(1100),
		.unknown_frees = known(0), .inherited_blocks = known(0),
		.inherited_bytes = known(0), .threads = threads,
		.thread_count = 2, .has_sizes = true,
		.sizes = { { 8, 15, 9 }, { 1024, 2047, 1 } }, .size_count = 2,
		.timeline = timeline, .point_count = 3,
		.timeline_end_s = 1.5, .marks = marks, .mark_count = 1,
	};
}

static struct profile_object program = { .path = TEXT("/bin/prog") };
static struct profile_object library = { .path = TEXT("/lib/libc.so.6") };
static struct profile_call calls[] = {
	{ .object = &program, .address = 0x10 },
	{ .object = &library, .address = 0x20 },
	{ .object = &program, .address = 0x30 },
};
static const struct profile_frame frames[] = {
	{ "strdup", .plumbing = true, .call = calls + 1 },
	{ "copy(char const*)", "/src/copy.cc", 7, true, .call = calls },
	{ "main", "main.cc", 12, .call = calls },
	{ .call = calls + 2 },
	{ "below_main", .call = calls + 1 },
};
static const struct profile_frame *stacks[][4] = {
	{ frames, frames + 1, frames + 2, frames + 4 }, { frames + 3 },
};
static struct profile_site sites[] = {
	{ 1, stacks[0], 4, false, 10, 1000, 4, 2, 200, 3, 3072,
	    3, 3072, 1.5, 50 },
	{ 2, stacks[1], 1, true, 20, 900, 0, 5, 824, 1, 1024,
	    5, 1024, 20, 0 },
	{ 0, NULL, 0, false, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0 },
};

static struct profile
with_sites(void)
{
	struct profile p = usual();

	p.has_sites = true;
	p.sites = sites;
	p.site_count = 3;
	return p;
}

/* What FORMAT makes of LIST; until the next call. */
static const char *
looked(const char *format, const struct profile *list, size_t count,
    struct render_look look)
{
	static char *text;
	size_t bytes;
	FILE *to;

	free(text);
	to = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(to);
	if (!look.columns)
		look.columns = 60;
	render_find(format)->run(to, list, count, &look);
	fclose(to);
	return text;
}

static const char *
rendered(const char *format, const struct profile *list, size_t count,
    bool utf8)
{
	return looked(format, list, count,
	    (struct render_look){ .utf8 = utf8 });
}

static void
expect_golden(const char *got, const char *name)
{
	const char *source = getenv("HH_SRC");
	char path[4096], wanted[16384];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/golden/%s",
	    source ? source : ".", name);
	f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s cannot be read", path);
	n = fread(wanted, 1, sizeof wanted - 1, f);
	fclose(f);
	wanted[n] = '\0';
	ck_assert_str_eq(got, wanted);
}

START_TEST(json_is_as_it_was)
{
	const struct profile p = usual();

	const char *head = "{\n  \"heaphook\": \"" PACKAGE_VERSION "\",\n";
	const char *text = rendered("json", &p, 1, false);

	ck_assert_int_eq(strncmp(text, head, strlen(head)), 0);
	expect_golden(text + strlen(head), "report.json");
	ck_assert_ptr_nonnull(strstr(rendered("json", &p, 0, false),
	    "\"logs\": []"));
}
END_TEST

START_TEST(csv_is_as_it_was)
{
	struct profile list[] = { usual(), usual() };

	list[1].rank = known(2);
	list[1].status.known = false;
	list[1].has_pool = true;
	list[1].pool_bytes = known(1 << 20);
	expect_golden(rendered("csv", list, 2, false), "report.csv");
}
END_TEST

START_TEST(text_is_as_it_was)
{
	const struct profile p = usual();

	setenv("TZ", "UTC", 1);
	expect_golden(rendered("text", &p, 1, false), "report.txt");
}
END_TEST

START_TEST(text_of_a_pool_says_what_is_left)
{
	struct profile p = usual();
	const char *text;

	p.has_pool = true;
	p.pool_bytes = known(4096);
	p.pool_used_bytes = known(1096);
	p.pool_peak_bytes = known(2048);
	p.pool_largest_free_bytes = known(2700);
	p.pool_growths = known(3);
	text = rendered("text", &p, 1, false);
	ck_assert_ptr_nonnull(strstr(text, "  pool         4.00 KiB, used "
	    "1.07 KiB, at most 2.00 KiB; growths 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "  free in it   2.93 KiB, largest "
	    "block 2.64 KiB, fragmentation 10.0 %\n"));
	p.pool_used_bytes = known(5000);	/* as a damaged log says */
	text = rendered("text", &p, 1, false);
	ck_assert_ptr_nonnull(strstr(text, "  free in it   0 B, largest"));
	ck_assert_ptr_null(strstr(text, "fragmentation"));
}
END_TEST

START_TEST(text_of_sites_is_as_it_was)
{
	const struct profile p = with_sites();
	const char *text = rendered("text", &p, 1, false);

	text = strstr(text, "\n  top sites");
	ck_assert_ptr_nonnull(text);
	expect_golden(text, "sites.txt");
	text = looked("text", &p, 1, (struct render_look){ .top = 1,
	    .columns = 80, .order = order_find("temporary") });
	ck_assert_ptr_nonnull(strstr(text, "          4 100.0%            10  "
	    "copy(char const*) (copy.cc:7)\n"));
	ck_assert_ptr_null(strstr(text, "prog+0x30"));
}
END_TEST

START_TEST(text_of_leaks_is_as_it_was)
{
	struct profile list[] = { with_sites(), usual() };
	const char *text;

	setenv("TZ", "UTC", 1);
	expect_golden(looked("text", list, 2, (struct render_look){
	    .leaks = true, .order = order_find("live") }), "leaks.txt");
	list[0].stopped = true;
	list[0].stopped_s = 1.5;
	text = looked("text", list, 1, (struct render_look){ .leaks = true,
	    .order = order_find("live") });
	ck_assert_ptr_nonnull(strstr(text, "  recording stopped at 1.5000 s: "
	    "this is what was live then;\n  which of it was freed later is "
	    "not known\n\n  live then    200 B "));
	ck_assert_ptr_null(strstr(text, "leaks"));
	list[1].live_blocks = known(1);
	ck_assert_ptr_nonnull(strstr(looked("text", list + 1, 1,
	    (struct render_look){ .columns = 80 }), " in 1 block, "));
	ck_assert_ptr_nonnull(strstr(looked("text", list + 1, 1,
	    (struct render_look){ .leaks = true }), " in 1 block\n"));
}
END_TEST

START_TEST(json_of_sites_is_as_it_was)
{
	const struct profile p = with_sites();
	const char *text = strstr(rendered("json", &p, 1, false),
	    "      \"sites\"");

	ck_assert_ptr_nonnull(text);
	expect_golden(text, "sites.json");
	text = looked("json", &p, 1, (struct render_look){ .leaks = true,
	    .top = 1 });
	ck_assert_ptr_nonnull(strstr(text, "\"temporary\": 4, "
	    "\"growth_bytes_per_s\": 50.000, \"suppressed\": false }]"));
}
END_TEST

START_TEST(text_of_several_has_a_line_each)
{
	struct profile list[] = { usual(), usual() };

	list[1].state = "died";
	list[1].status.known = false;
	list[1].problems.count = 0;
	list[1].peak_bytes.known = false;
	expect_golden(rendered("text", list, 2, false), "reports.txt");
	ck_assert_str_eq(rendered("text", list, 0, false), "");
}
END_TEST

START_TEST(what_is_unknown_is_null)
{
	struct profile p = { .mode = "events", .bytes = "requested",
	    .state = "died", .start = NAN, .elapsed_s = INFINITY,
	    .peak_s = NAN };
	const char *text = rendered("json", &p, 1, false);

	for (const struct render_field *f = render_fields; f->name; f++) {
		char line[64];

		if (f->kind == RENDER_TRUTH || f->kind == RENDER_TEXTS
		    || f->when != RENDER_ALWAYS || !strcmp(f->name, "mode")
		    || !strcmp(f->name, "bytes") || !strcmp(f->name, "state"))
			continue;
		snprintf(line, sizeof line, "\"%s\": null,\n", f->name);
		ck_assert_msg(strstr(text, line) != NULL, "%s", line);
	}
	ck_assert_ptr_nonnull(strstr(text, "\"sizes\": null"));
	rendered("text", &p, 1, true);
	rendered("csv", &p, 1, true);
}
END_TEST

START_TEST(no_text_of_a_log_gets_out_of_its_place)
{
	struct profile p = usual();
	char *bad[] = { TEXT("\"\\\n\x1b[2J\x7f\xc2\x9b\xff\xc0\xaf"
	    "\xed\xa0\x80\xf4\x90\x80\x80\xc3") };

	p.argv = (struct profile_texts){ bad, 1 };
	ck_assert_ptr_nonnull(strstr(rendered("json", &p, 1, true),
	    "\"argv\": [\"\\\"\\\\\\u000a\\u001b[2J\\u007f"
	    "\\ufffd\\ufffd\\ufffd"));
	ck_assert_ptr_nonnull(strstr(rendered("csv", &p, 1, true),
	    ",\"\"\"\\\n\xef\xbf\xbd[2J\xef\xbf\xbd"));
	ck_assert_ptr_nonnull(strstr(rendered("text", &p, 1, true),
	    "\"\\\\x0a\\x1b[2J\\x7f\\xc2\\x9b\\xff"));
}
END_TEST

START_TEST(what_can_be_seen_is_utf8_and_no_control)
{
	ck_assert_uint_eq(render_seen("a"), 1);
	ck_assert_uint_eq(render_seen("é"), 2);
	ck_assert_uint_eq(render_seen("█"), 3);
	ck_assert_uint_eq(render_seen("😀"), 4);
	ck_assert_uint_eq(render_seen(""), 0);
	ck_assert_uint_eq(render_seen("\n"), 0);
	ck_assert_uint_eq(render_seen("\x80"), 0);
	ck_assert_uint_eq(render_seen("\xe2\x96"), 0);
	ck_assert_uint_eq(render_seen("\xf8\x88\x80\x80"), 0);
	ck_assert_uint_eq(render_seen("\xe0\x80\xaf"), 0);
	ck_assert_uint_eq(render_seen("\xef\xbf\xbf"), 0);
	ck_assert_uint_eq(render_seen("\xef\xb7\x90"), 0);
	ck_assert_uint_eq(render_seen("\xf3\xbf\xbf\xbe"), 0);
}
END_TEST

static const char *
charted(const struct chart *c, const uint64_t *values, size_t count)
{
	static char *text;
	size_t bytes;
	FILE *to;

	free(text);
	to = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(to);
	chart_print(to, c, values, count);
	fclose(to);
	return text;
}

START_TEST(a_chart_shows_each_spike)
{
	static uint64_t values[256] = { [100] = 9, [200] = 3 };
	const struct chart c = {
		.top = "9 B", .bottom = "0", .left = "0 s", .right = "1 s",
		.columns = 32, .rows = 3, .utf8 = false,
	};

	ck_assert_str_eq(charted(&c, values, 256),
	    "       9 B |       #\n"
	    "           |       #\n"
	    "         0 |       #       #\n"
	    "           +--------------------\n"
	    "            0 s              1 s\n");
}
END_TEST

START_TEST(a_chart_of_few_points_fills_the_width)
{
	static const uint64_t values[] = { 1, 8 };
	const struct chart c = {
		.top = "8 B", .bottom = "0", .left = "0 s", .right = "1 s",
		.columns = 32, .rows = 1, .utf8 = true,
	};

	ck_assert_str_eq(charted(&c, values, 2),
	    "       8 B │▁▁▁▁▁▁▁▁▁▁██████████\n"
	    "           └────────────────────\n"
	    "            0 s              1 s\n");
	charted(&c, values, 0);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, json_is_as_it_was);
	tcase_add_test(t, csv_is_as_it_was);
	tcase_add_test(t, text_is_as_it_was);
	tcase_add_test(t, text_of_a_pool_says_what_is_left);
	tcase_add_test(t, text_of_sites_is_as_it_was);
	tcase_add_test(t, text_of_leaks_is_as_it_was);
	tcase_add_test(t, json_of_sites_is_as_it_was);
	tcase_add_test(t, text_of_several_has_a_line_each);
	tcase_add_test(t, what_is_unknown_is_null);
	tcase_add_test(t, no_text_of_a_log_gets_out_of_its_place);
	tcase_add_test(t, what_can_be_seen_is_utf8_and_no_control);
	tcase_add_test(t, a_chart_shows_each_spike);
	tcase_add_test(t, a_chart_of_few_points_fills_the_width);
}

int
main(void)
{
	return unit_run("render", add);
}
