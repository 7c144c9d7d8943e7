/* SPDX-License-Identifier: Apache-2.0 */
/* heaphook-report: logs, profiles, one renderer. */
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

#include "branches.h"
#include "cli.h"
#include "diff.h"
#include "dump.h"
#include "leaks.h"
#include "names.h"
#include "operands.h"
#include "pack.h"
#include "profile.h"
#include "progress.h"
#include "reader.h"
#include "render.h"
#include "room.h"
#include "symbols.h"
#include "want.h"

static void
check_output(const char *log)
{
	struct stat to, from;

	if (!stat(want.output, &to) && !stat(log, &from)
	    && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		cli_misuse("%s: is one of the logs", want.output);
}

/* Output goes where stdout goes; not over what is about to be read. */
static void
open_output(int argc, char **argv)
{
	if (!want.output)
		return;
	for (int i = optind; i < argc; i++)
		check_output(argv[i]);
	if (want.before)
		check_output(want.before);
	if (!freopen(want.output, "w", stdout))
		die(WANT_USAGE, "%s: %s", want.output, strerror(errno));
}

static void
finish_output(void)
{
	bool failed = ferror(stdout);

	if (fclose(stdout) || failed)
		die(WANT_USAGE, "%s: %s", want.output ? want.output
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
	bool all = want.leaks || want.before || want.callers || want.callees
	    || want.renderer->about != RENDER_LOGS;
	size_t shown;

	order_sites(p, want.order);
	if (want_repeats() && !want.once)
		order_once_last(p);
	shown = all ? p->site_count
	    : render_top(p, result->look, want.renderer->sites);
	if (!shown)
		return;
	if (!result->symbols)
		result->symbols = symbols_open(want.debug_paths
		    ? want.debug_paths : none);
	names_give(p, result->symbols, shown);
	leaks_mark(&want.suppressed, p, want.part.thread != NULL);
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
		die(WANT_USAGE, "%s: recorded without stacks "
		    "(heaphook-run -k), which --format=%s is about",
		    result->list->path, form->name);
}

static void
climb(const struct result *result, struct render_look *look,
    struct branches *b)
{
	const char *option = want.callers ? "callers" : "callees";
	const char *function = want.callers ? want.callers : want.callees;
	const struct profile *p = result->list;

	if (!function || !result->count)
		return;
	if (result->count > 1)
		cli_misuse("--%s is about one log, and these are %zu", option,
		    result->count);
	if (!p->has_sites)
		die(WANT_USAGE, "%s: recorded without stacks (heaphook-run "
		    "-k), which --%s is about", p->path, option);
	if (!branches_make(b, p, function, want.callers, want.order))
		die(WANT_USAGE, "%s: no stack in %s has this function",
		    function, p->path);
	look->branches = b;
}

/* The log of before becomes BEFORE, and what changed since then D. */
static void
compare(struct result *result, struct render_look *look,
    struct profile *before, struct diff *d)
{
	struct reader log;
	const char *why;

	if (!want.before || !result->count)
		return;
	if (result->count > 1)
		cli_misuse("--diff compares one log with %s, and these are "
		    "%zu", want.before, result->count);
	progress_next();
	why = reader_open(&log, want.before);
	if (why)
		die(WANT_UNUSABLE, "%s: %s", want.before, why);
	profile_make(before, &log, &want.part, progress_show);
	name_sites(result, before);
	reader_close(&log);
	diff_make(d, before, result->list, want.order);
	look->diff = d;
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

/* --bundle, and no report. */
static int
pack(char **logs)
{
	static const char *const none[] = { NULL };
	size_t count = 0;
	int status;

	while (logs[count])
		count++;
	progress_begin(count, !want.quiet);
	status = pack_logs(want.bundle, logs, want.debug_paths
	    ? want.debug_paths : none);
	progress_end();
	free(want.debug_paths);
	return status;
}

/* A bundle with one log may be compared with. */
static void
open_before(struct operands *before)
{
	if (!want.before)
		return;
	operands_add(before, want.before, want_debug_path);
	if (before->unusable)
		exit(WANT_UNUSABLE);
	if (before->count > 1)
		cli_misuse("--diff compares with one log, and in %s are %zu",
		    want.before, before->count);
	want.before = *before->logs;
}

int
main(int argc, char **argv)
{
	struct result result = { 0 };
	struct operands named = { 0 }, old = { 0 };
	struct render_look look;
	struct profile before = { 0 };
	struct diff diff = { 0 };
	struct branches branches = { 0 };

	want_take(argc, argv);
	if (want.packs)
		return pack(argv + optind);
	open_output(argc, argv);
	open_before(&old);
	for (int i = optind; i < argc; i++)
		operands_add(&named, argv[i], want_debug_path);
	result.unusable = named.unusable;
	look = find_look();
	result.look = &look;
	result.list = room_new(named.count, sizeof *result.list);
	progress_begin(named.count + !!want.before, !want.quiet
	    && !(want.dump && isatty(STDOUT_FILENO)));
	for (size_t i = 0; i < named.count; i++) {
		progress_next();
		read_log(&result, named.logs[i]);
	}
	if (!result.count && !result.unusable) {
		warn("none of the logs is of this process or rank");
		result.unusable = true;
	}
	check_form(&result);
	compare(&result, &look, &before, &diff);
	climb(&result, &look, &branches);
	if (!want.dump)
		want.renderer->run(stdout, result.list, result.count, &look);
	put_events(&result);
	progress_end();
	finish_output();
	for (size_t i = 0; !want.dump && i < result.count; i++)
		profile_free(result.list + i);
	free(result.list);
	diff_free(&diff);
	branches_free(&branches);
	profile_free(&before);
	if (result.symbols)
		symbols_close(result.symbols);
	leaks_free(&want.suppressed);
	operands_free(&named);
	operands_free(&old);
	free(want.debug_paths);
	return result.unusable ? WANT_UNUSABLE : 0;
}
