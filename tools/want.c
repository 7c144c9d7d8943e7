/* SPDX-License-Identifier: Apache-2.0 */
#include "want.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "room.h"

enum {
	OPTION_DUMP = CLI_LONG, OPTION_FROM, OPTION_TO, OPTION_THREAD,
	OPTION_PID, OPTION_RANK, OPTION_TOP, OPTION_SORT, OPTION_LEAKS,
	OPTION_SUPPRESS, OPTION_DEBUG_PATH, OPTION_BUNDLE, OPTION_DIFF,
	OPTION_CALLERS, OPTION_CALLEES, OPTION_ONCE,
};

static const struct cli_option options[] = {
	{ "from", OPTION_FROM, "TIME", NULL, "A part of it" },
	{ "to", OPTION_TO, "TIME", "only between these, since the start",
	    NULL },
	{ "thread", OPTION_THREAD, "NAME", "only what threads with this name "
	    "allocated", NULL },
	{ "pid", OPTION_PID, "N", NULL, NULL },
	{ "rank", OPTION_RANK, "N", "only logs of this process, this rank",
	    NULL },
	{ "top", OPTION_TOP, "N", NULL, "Call stacks" },
	{ "sort", OPTION_SORT, "KEY", NULL, NULL },
	{ "once", OPTION_ONCE, NULL, "N sites, by peak live total "
	    "calls temporary", NULL },
	{ "leaks", OPTION_LEAKS, NULL, NULL, NULL },
	{ "suppress", OPTION_SUPPRESS, "FILE", "what is live at the end, but "
	    "not what FILE names", NULL },
	{ "callers", OPTION_CALLERS, "FUNCTION", NULL, NULL },
	{ "callees", OPTION_CALLEES, "FUNCTION", "of its bytes, a tree", NULL },
	{ "diff", OPTION_DIFF, "LOG", "what changed since LOG", NULL },
	{ "debug-path", OPTION_DEBUG_PATH, "DIR", "where more debug files "
	    "are", NULL },
	{ "format", 'f', "FORMAT", "text, json, csv; svg, pdf, png; for "
	    "viewers\nmassif, heaptrack, pprof, folded, speedscope,\n"
	    "callgrind, dhat", "Output" },
	{ "dump", OPTION_DUMP, NULL, "every event, one line each", NULL },
	{ "output", 'o', "FILE", "where to, if not standard output", NULL },
	{ "bundle", OPTION_BUNDLE, "[FILE]", "LOG and what names its calls "
	    "into a file,\nto be read anywhere", NULL },
	{ "quiet", 'q', NULL, "no progress bar", NULL },
	CLI_COMMON
};

static const struct cli_tool tool = {
	.name = "heaphook-report",
	.operands = "LOG...",
	.purpose = "Say what the logs of heaphook-run mean.",
	.usage_status = WANT_USAGE,
	.options = options,
};

struct want want = { .part = { .to_s = INFINITY } };

static double
parse_time(const char *option, const char *text)
{
	uint64_t ns;

	if (!cli_time(text, &ns))
		cli_misuse("--%s: %s: expected a time, such as 1.5 or 20ms",
		    option, text);
	return (double)ns / 1e9;
}

static struct profile_number
parse_number(const char *option, const char *text)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n > INT_MAX)
		cli_misuse("--%s: %s: expected a number", option, text);
	return (struct profile_number){ true, n };
}

static const struct order *
parse_order(const char *text)
{
	const struct order *order = order_find(text);

	if (!order)
		cli_misuse("--sort: %s: expected peak, live, total, calls or "
		    "temporary", text);
	return order;
}

static size_t
parse_top(const char *text)
{
	size_t top = parse_number("top", text).value;

	if (!top)
		cli_misuse("--top: 0: expected how many sites to show");
	return top;
}

static void
take_suppressions(const char *path)
{
	const char *wrong = leaks_read(&want.suppressed, path);

	if (wrong)
		die(WANT_USAGE, "%s", wrong);
}

void
want_debug_path(const char *path)
{
	want.debug_paths = room_grow(want.debug_paths,
	    want.debug_path_count + 2, sizeof *want.debug_paths);
	want.debug_paths[want.debug_path_count++] = path;
	want.debug_paths[want.debug_path_count] = NULL;
}

/* Options about stacks.  False: it is another. */
static bool
take_stack_option(int key)
{
	switch (key) {
	case OPTION_TOP:
		want.top = parse_top(optarg);
		return true;
	case OPTION_SORT:
		want.order = parse_order(optarg);
		return true;
	case OPTION_LEAKS:
		want.leaks = true;
		return true;
	case OPTION_SUPPRESS:
		take_suppressions(optarg);
		return true;
	case OPTION_DEBUG_PATH:
		want_debug_path(optarg);
		return true;
	case OPTION_BUNDLE:
		want.packs = true;
		want.bundle = optarg;
		return true;
	case OPTION_DIFF:
		want.before = optarg;
		return true;
	case OPTION_ONCE:
		want.once = true;
		return true;
	case OPTION_CALLERS:
		want.callers = optarg;
		return true;
	case OPTION_CALLEES:
		want.callees = optarg;
		return true;
	default:
		return false;
	}
}

static void
take_option(int key)
{
	if (take_stack_option(key))
		return;
	switch (key) {
	case OPTION_FROM:
		want.part.from_s = parse_time("from", optarg);
		break;
	case OPTION_TO:
		want.part.to_s = parse_time("to", optarg);
		break;
	case OPTION_THREAD:
		want.part.thread = optarg;
		break;
	case OPTION_PID:
		want.pid = parse_number("pid", optarg);
		break;
	case OPTION_RANK:
		want.rank = parse_number("rank", optarg);
		break;
	case OPTION_DUMP:
		want.dump = true;
		break;
	case 'f':
		want.format = optarg;
		break;
	case 'o':
		want.output = strcmp(optarg, "-") ? optarg : NULL;
		break;
	case 'q':
		want.quiet = true;
		break;
	default:
		break;
	}
}

static const struct renderer *
find_form(const char *name)
{
	const struct renderer *form = render_find(name);
	char names[256] = "";
	size_t used = 0;

	if (form && form->lacks && *form->lacks)
		cli_misuse("--format=%s: this heaphook was built without %s",
		    name, *form->lacks);
	if (form)
		return form;
	for (form = renderers; form->name && used < sizeof names; form++)
		used += (size_t)snprintf(names + used, sizeof names - used,
		    "%s%s", form == renderers ? "" : " ", form->name);
	cli_misuse("--format: %s: expected one of %s", name, names);
}

/* One at a time. */
static void
check_question(void)
{
	const struct {
		bool asked;
		const char *option;
	} questions[] = {
		{ want.dump, "--dump" }, { want.leaks, "--leaks" },
		{ want.before, "--diff" }, { want.callers, "--callers" },
		{ want.callees, "--callees" },
	};
	const char *asked = NULL;

	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		if (!questions[i].asked)
			continue;
		if (asked)
			cli_misuse("%s and %s cannot go together", asked,
			    questions[i].option);
		asked = questions[i].option;
	}
}

/* A bundle is of whole logs. */
static void
check_pack(void)
{
	if (want.packs && (want.format || want.output || want.dump
	    || want.leaks || want.before || want.callers || want.callees
	    || want.part.from_s > 0 || isfinite(want.part.to_s)
	    || want.part.thread || want.pid.known || want.rank.known))
		cli_misuse("--bundle packs whole logs: options about a part "
		    "or another output cannot go with it");
}

bool
want_repeats(void)
{
	return want.top && want.order->repeats && !want.leaks && !want.before
	    && !want.callers && !want.callees
	    && want.renderer->about == RENDER_LOGS;
}

static void
check_form(void)
{
	const char *form = want.renderer->name;
	bool csv = !strcmp(form, "csv");

	if (want.before && want.renderer->about != RENDER_LOGS)
		cli_misuse("--diff has the forms text, json and csv only");
	if ((want.callers || want.callees)
	    && (want.renderer->about != RENDER_LOGS || csv))
		cli_misuse("--%s has the forms text and json only",
		    want.callers ? "callers" : "callees");
}

void
want_take(int argc, char **argv)
{
	int key;

	cli_start(&tool);
	while ((key = cli_next(argc, argv)) != -1)
		take_option(key);
	check_question();
	check_pack();
	if (want.format && want.dump)
		cli_misuse("--dump has a form of its own: --format cannot go "
		    "with it");
	if (want.suppressed.count && !want.leaks)
		cli_misuse("--suppress is for --leaks");
	if (!want.order)
		want.order = want.leaks ? order_find("live") : orders;
	want.renderer = find_form(want.format ? want.format : "text");
	check_form();
	if (want.once && !want_repeats())
		cli_misuse("--once is for --top with --sort=calls or "
		    "--sort=total");
	if (want.renderer->events && want.part.from_s > 0)
		cli_misuse("--format=%s is from the start, so without --from",
		    want.format);
	if (want.part.from_s > want.part.to_s)
		cli_misuse("--from is later than --to");
	if (optind == argc)
		cli_misuse("no log is given");
}
