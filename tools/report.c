/* SPDX-License-Identifier: Apache-2.0 */
/* heaphook-report: options, logs, profiles, one renderer. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "dump.h"
#include "leaks.h"
#include "names.h"
#include "profile.h"
#include "progress.h"
#include "reader.h"
#include "render.h"
#include "room.h"
#include "symbols.h"

enum { STATUS_USAGE = 2, STATUS_UNUSABLE = 3 };

enum {
	OPTION_DUMP = CLI_LONG, OPTION_FROM, OPTION_TO, OPTION_THREAD,
	OPTION_PID, OPTION_RANK, OPTION_TOP, OPTION_SORT, OPTION_LEAKS,
	OPTION_SUPPRESS, OPTION_DEBUG_PATH,
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
	{ "sort", OPTION_SORT, "KEY", "N sites, by peak, live, total, "
	    "calls, temporary", NULL },
	{ "leaks", OPTION_LEAKS, NULL, "what is live at the end, by site",
	    NULL },
	{ "suppress", OPTION_SUPPRESS, "FILE", "but not what its lines "
	    "leak:PATTERN name", NULL },
	{ "debug-path", OPTION_DEBUG_PATH, "DIR", "where more debug files "
	    "are", NULL },
	{ "format", 'f', "FORMAT", "text, json, csv; svg, pdf, png; for "
	    "viewers\nmassif, heaptrack, pprof, folded, speedscope,\n"
	    "callgrind, dhat", "Output" },
	{ "dump", OPTION_DUMP, NULL, "every event, one line each", NULL },
	{ "output", 'o', "FILE", "where to, if not standard output", NULL },
	{ "quiet", 'q', NULL, "no progress bar", NULL },
	CLI_COMMON
};

static const struct cli_tool tool = {
	.name = "heaphook-report",
	.operands = "LOG...",
	.purpose = "Say what the logs of heaphook-run mean.",
	.usage_status = STATUS_USAGE,
	.options = options,
};

/* What the command line asks for. */
static struct {
	struct profile_part part;
	struct profile_number pid, rank;
	const struct renderer *renderer;
	const char *format, *output;
	bool dump, quiet;
	const struct order *order;
	size_t top;
	bool leaks;
	struct leaks suppressed;
	const char **debug_paths;	/* up to a NULL */
	size_t debug_path_count;
} want = { .part = { .to_s = INFINITY } };

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
		die(STATUS_USAGE, "%s", wrong);
}

static void
take_debug_path(const char *path)
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
		take_debug_path(optarg);
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
		want.output = optarg;
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

static void
take_options(int argc, char **argv)
{
	int key;

	while ((key = cli_next(argc, argv)) != -1)
		take_option(key);
	if ((want.format || want.leaks) && want.dump)
		cli_misuse("--dump has a form of its own: --format and "
		    "--leaks cannot go with it");
	if (want.suppressed.count && !want.leaks)
		cli_misuse("--suppress is for --leaks");
	if (!want.order)
		want.order = want.leaks ? order_find("live") : orders;
	want.renderer = find_form(want.format ? want.format : "text");
	if (want.renderer->events && want.part.from_s > 0)
		cli_misuse("--format=%s is from the start, so without --from",
		    want.format);
	if (want.part.from_s > want.part.to_s)
		cli_misuse("--from is later than --to");
	if (optind == argc)
		cli_misuse("no log is given");
}

/* Output goes where stdout goes; not over what is about to be read. */
static void
open_output(int argc, char **argv)
{
	struct stat to, from;

	if (!want.output)
		return;
	if (!stat(want.output, &to))
		for (int i = optind; i < argc; i++)
			if (!stat(argv[i], &from) && from.st_dev == to.st_dev
			    && from.st_ino == to.st_ino)
				cli_misuse("%s: is one of the logs",
				    want.output);
	if (!freopen(want.output, "w", stdout))
		die(STATUS_USAGE, "%s: %s", want.output, strerror(errno));
}

static void
finish_output(void)
{
	bool failed = ferror(stdout);

	if (fclose(stdout) || failed)
		die(STATUS_USAGE, "%s: %s", want.output ? want.output
		    : "standard output", strerror(errno));
}

static struct render_look
find_look(void)
{
	struct render_look look = {
		.columns = 80, .order = want.order, .top = want.top,
		.leaks = want.leaks,
	};
	const char *told = getenv("COLUMNS");
	struct winsize size;

	if (told && atoi(told) >= 40 && atoi(told) <= 500)
		look.columns = (unsigned)atoi(told);
	else if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 40)
		look.columns = size.ws_col;
	setlocale(LC_CTYPE, "");
	look.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return look;
}

static bool
is_wanted(const struct log_header *h)
{
	return (!want.pid.known || (uint64_t)h->pid == want.pid.value)
	    && (!want.rank.known || (uint64_t)h->rank == want.rank.value);
}

struct result {
	struct symbols *symbols;	/* NULL: not needed yet */
	const struct render_look *look;
	struct profile *list;
	size_t count;		/* profiles, or logs dumped */
	bool unusable;		/* at least one log */
};

/* Names take time: a text needs few. */
static void
name_sites(struct result *result, struct profile *p)
{
	static const char *const none[] = { NULL };
	bool all = want.leaks || want.renderer->about != RENDER_LOGS;
	size_t shown = all ? p->site_count
	    : render_top(p, result->look, want.renderer->sites);

	if (!shown)
		return;
	if (!result->symbols)
		result->symbols = symbols_open(want.debug_paths
		    ? want.debug_paths : none);
	order_sites(p, want.order);
	names_give(p, result->symbols, shown);
	leaks_mark(&want.suppressed, p);
}

static void
read_log(struct result *result, const char *path)
{
	struct profile *p = result->list + result->count;
	struct reader log;
	const char *why = reader_open(&log, path);

	if (why) {
		warn("%s: %s", path, why);
		result->unusable = true;
		return;
	}
	if (!is_wanted(&log.head.h)) {
		reader_close(&log);
		return;
	}
	result->count++;
	if (want.dump && log.head.h.mode == LOG_SUMMARY)
		warn("%s: a summary, which has no events to dump", path);
	if (want.dump)
		dump_log(stdout, &log, &want.part, progress_show);
	else
		profile_make(p, &log, &want.part, progress_show);
	if (!want.dump)
		name_sites(result, p);
	if (!want.dump && want.part.thread && !p->thread_count)
		warn("%s: no thread is called %s", path, want.part.thread);
	reader_close(&log);
}

/* Not all logs have what a form is about. */
static void
check_form(const struct result *result)
{
	const struct renderer *form = want.renderer;

	if (want.dump || form->about == RENDER_LOGS)
		return;
	if (result->count > 1)
		cli_misuse("--format=%s is about one log, and these are %zu",
		    form->name, result->count);
	if (form->about == RENDER_STACKS && result->count
	    && !result->list->has_sites)
		die(STATUS_USAGE, "%s: recorded without stacks "
		    "(heaphook-run -k), which --format=%s is about",
		    result->list->path, form->name);
}

/* The log is read once more. */
static void
put_events(struct result *result)
{
	const struct profile *p = result->list;
	struct reader log;
	const char *why;

	if (want.dump || !want.renderer->events || !result->count)
		return;
	why = reader_open(&log, p->path);
	if (why) {
		warn("%s: %s", p->path, why);
		result->unusable = true;
		return;
	}
	want.renderer->events(stdout, p, &log, &want.part, progress_show);
	reader_close(&log);
}

int
main(int argc, char **argv)
{
	struct result result = { 0 };
	struct render_look look;

	cli_start(&tool);
	take_options(argc, argv);
	open_output(argc, argv);
	look = find_look();
	result.look = &look;
	result.list = room_new((size_t)(argc - optind), sizeof *result.list);
	progress_begin((size_t)(argc - optind), !want.quiet
	    && !(want.dump && isatty(STDOUT_FILENO)));
	for (int i = optind; i < argc; i++) {
		progress_next();
		read_log(&result, argv[i]);
	}
	if (!result.count && !result.unusable) {
		warn("none of the logs is of this process or rank");
		result.unusable = true;
	}
	check_form(&result);
	if (!want.dump)
		want.renderer->run(stdout, result.list, result.count, &look);
	put_events(&result);
	progress_end();
	finish_output();
	for (size_t i = 0; !want.dump && i < result.count; i++)
		profile_free(result.list + i);
	free(result.list);
	if (result.symbols)
		symbols_close(result.symbols);
	leaks_free(&want.suppressed);
	free(want.debug_paths);
	return result.unusable ? STATUS_UNUSABLE : 0;
}
