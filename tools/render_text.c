/* SPDX-License-Identifier: Apache-2.0 */
/* One screen for people; with several logs, one line each. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chart.h"
#include "cli.h"
#include "render_branches.h"
#include "render_diff.h"
#include "render_latency.h"
#include "render_sites.h"
#include "room.h"

enum {
	CHART_ROWS = 8,
	THREADS_SHOWN = 10,
	MARKS_SHOWN = 10,
	SIZES_SHOWN = 12,
	BAR_COLUMNS = 24,
	LINE_COLUMNS = 61,	/* of a log's line, before its command */
};

static void
put_padded(FILE *to, const char *text, unsigned columns, bool utf8)
{
	fprintf(to, "%*s", (int)render_put(to, text, columns, utf8), "");
}

/* The arguments; of the first, with SHORTLY, only the last part. */
static void
put_command(FILE *to, const struct profile *p, unsigned columns, bool utf8,
    bool shortly)
{
	const char *name = p->argv.count ? p->argv.list[0] : p->exe;
	const char *slash = name && shortly ? strrchr(name, '/') : NULL;

	columns = render_put(to, slash ? slash + 1 : name ? name : "?", columns,
	    utf8);
	for (size_t i = 1; i < p->argv.count && columns; i++) {
		fputc(' ', to);
		columns = render_put(to, p->argv.list[i], columns - 1, utf8);
	}
	fputc('\n', to);
}

static const char *
bytes_of(struct profile_number n, struct cli_text *t)
{
	*t = cli_bytes(n.value);
	return n.known ? t->text : "unknown";
}

static const char *
count_of(struct profile_number n, struct cli_text *t)
{
	*t = cli_count(n.value);
	return n.known ? t->text : "unknown";
}

static const char *
plural_of(struct profile_number n)
{
	return cli_plural(n.known ? n.value : 0);
}

static const char *
seconds_of(double s, struct cli_text *t)
{
	snprintf(t->text, sizeof t->text, !isfinite(s) || s > 1e9 ? "unknown"
	    : s < 10 ? "%.4f s" : s < 1000 ? "%.2f s" : "%.0f s", s);
	return t->text;
}

static void
put_end(FILE *to, const struct profile *p)
{
	struct cli_text t;

	if (p->status.known)
		fprintf(to, "exited with status %" PRIu64, p->status.value);
	else if (!strcmp(p->state, "running"))
		fputs("still running", to);
	else if (!strcmp(p->state, "execed"))
		fputs("became another program (exec)", to);
	else
		fputs("died without a word (killed?)", to);
	fprintf(to, " after %s\n", seconds_of(p->elapsed_s, &t));
}

static void
put_identity(FILE *to, const struct profile *p, const struct render_look *l)
{
	time_t start = (time_t)p->start;
	struct tm tm;
	char date[32] = "?";

	put_command(to, p, l->columns, l->utf8, false);
	fputs("  pid ", to);
	if (p->pid.known)
		fprintf(to, "%" PRIu64, p->pid.value);
	else
		fputc('?', to);
	if (p->rank.known)
		fprintf(to, ", rank %" PRIu64, p->rank.value);
	if (p->host) {
		fputs(" on ", to);
		render_put(to, p->host, 64, l->utf8);
	}
	if (localtime_r(&start, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(to, ", %s, ", date);
	put_end(to, p);
}

static void
put_totals(FILE *to, const struct profile *p)
{
	bool both = !strcmp(p->bytes, "requested");
	struct cli_text a, b, c, d;

	fprintf(to, "\n  peak         %s", bytes_of(p->peak_bytes, &a));
	if (p->peak_bytes.known)
		fprintf(to, " (%s bytes) at %s", count_of(p->peak_bytes, &b),
		    seconds_of(p->peak_s, &c));
	if (both)
		fprintf(to, ", usable %s", bytes_of(p->peak_usable_bytes, &d));
	if (p->peak_error_bytes.value)
		fprintf(to, ", off by at most %s",
		    bytes_of(p->peak_error_bytes, &a));
	fprintf(to, "\n  %s  %s in %s block%s", strcmp(p->state, "running")
	    ? "live at end" : "live now   ", bytes_of(p->live_bytes, &a),
	    count_of(p->live_blocks, &b), plural_of(p->live_blocks));
	if (both)
		fprintf(to, ", usable %s", bytes_of(p->live_usable_bytes, &c));
	fprintf(to, "\n  allocations  %s, %s in all",
	    count_of(p->allocations, &a), bytes_of(p->allocated_bytes, &b));
	fprintf(to, "; frees %s; failed %s\n", count_of(p->frees, &a),
	    count_of(p->failed, &b));
	if (!both)
		fputs("  bytes        usable ones: counters do not know what "
		    "was asked for\n", to);
}

/* What most programs have nothing of. */
static void
put_specials(FILE *to, const struct profile *p, const struct render_look *l)
{
	struct cli_text a, b;

	if (p->inherited_blocks.value)
		fprintf(to, "  inherited    %s in %s block%s, at the fork\n",
		    bytes_of(p->inherited_bytes, &a),
		    count_of(p->inherited_blocks, &b),
		    plural_of(p->inherited_blocks));
	if (p->unknown_frees.value)
		fprintf(to, "  unknown      %s free%s of blocks from before "
		    "the record%s\n", count_of(p->unknown_frees, &a),
		    plural_of(p->unknown_frees),
		    p->paused ? ", or a pause" : "");
	/* A summary has nothing but counters, and they go on. */
	if (p->paused && strcmp(p->mode, "summary"))
		fprintf(to, "  paused       at times: blocks that came then "
		    "are %s\n", p->sample_bytes.known || p->stopped
		    ? "only counted" : "not in it");
	if (p->has_mappings)
		fprintf(to, "  mappings     %s, %s in all, apart from the "
		    "heap\n", count_of(p->mappings, &a),
		    bytes_of(p->mapped_bytes, &b));
	if (p->allocator) {
		fputs("  allocator    ", to);
		render_put(to, p->allocator, l->columns, l->utf8);
		fputc('\n', to);
	}
}

/* Fragmented is what of the free bytes no single block can have. */
static void
put_pool(FILE *to, const struct profile *p)
{
	uint64_t all = p->pool_bytes.value, used = p->pool_used_bytes.value;
	uint64_t largest = p->pool_largest_free_bytes.value;
	uint64_t rest = used < all ? all - used : 0;
	struct cli_text a, b;

	if (!p->has_pool)
		return;
	fprintf(to, "  pool         %s, used %s", bytes_of(p->pool_bytes, &a),
	    bytes_of(p->pool_used_bytes, &b));
	fprintf(to, ", at most %s; growths %s\n",
	    bytes_of(p->pool_peak_bytes, &a), count_of(p->pool_growths, &b));
	fprintf(to, "  free in it   %s", bytes_of((struct profile_number){
	    p->pool_used_bytes.known, rest }, &a));
	fprintf(to, ", largest block %s",
	    bytes_of(p->pool_largest_free_bytes, &b));
	if (p->pool_largest_free_bytes.known && largest <= rest && rest)
		fprintf(to, ", fragmentation %.1f %%",
		    100 - 100 * ((double)largest / (double)rest));
	fputc('\n', to);
}

static void
put_timeline(FILE *to, const struct profile *p, const struct render_look *l)
{
	uint64_t values[PROFILE_POINTS], most = 0;
	bool counted = false;
	size_t n = 0;
	struct cli_text top, left, right;
	struct chart c = {
		.bottom = "0", .columns = l->columns, .rows = CHART_ROWS,
		.utf8 = l->utf8,
	};

	for (; n < p->point_count && n < PROFILE_POINTS; n++) {
		counted |= p->timeline[n].counted;
		values[n] = p->timeline[n].peak_bytes;
		if (most < values[n])
			most = values[n];
	}
	if (!most)
		return;
	top = cli_bytes(most);
	c.top = top.text;
	c.left = seconds_of(p->timeline[0].s, &left);
	c.right = seconds_of(p->timeline_end_s, &right);
	fputs(counted ? "\nusable bytes from where events end\n" : "\n", to);
	chart_print(to, &c, values, n);
}

static int
by_count(const void *a, const void *b)
{
	const struct profile_size *x = a, *y = b;

	return (x->allocations < y->allocations)
	    - (x->allocations > y->allocations);
}

static int
by_from(const void *a, const void *b)
{
	const struct profile_size *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* The most frequent, smallest first. */
static void
put_sizes(FILE *to, const struct profile *p, const struct render_look *l)
{
	struct profile_size list[PROFILE_SIZES];
	size_t n = p->size_count < SIZES_SHOWN ? p->size_count : SIZES_SHOWN;
	uint64_t most;

	if (!n)
		return;
	memcpy(list, p->sizes, p->size_count * sizeof *list);
	qsort(list, p->size_count, sizeof *list, by_count);
	most = list[0].allocations;
	qsort(list, n, sizeof *list, by_from);
	fprintf(to, "\n%24s %15s\n", "bytes", "allocations");
	for (size_t i = 0; i < n; i++) {
		struct cli_text from = cli_count(list[i].from);
		struct cli_text last = cli_count(list[i].to);

		fprintf(to, "%11s%s%11s %15s ",
		    list[i].to > list[i].from ? from.text : "",
		    list[i].to > list[i].from ? " -" : "  ", last.text,
		    cli_count(list[i].allocations).text);
		chart_bar(to, list[i].allocations, most, BAR_COLUMNS, l->utf8);
		fputc('\n', to);
	}
	if (n < p->size_count)
		fprintf(to, "%24s\n", "and rarer ones");
}

static int
by_activity(const void *a, const void *b)
{
	const struct profile_thread *const *x = a, *const *y = b;

	if ((*x)->allocations != (*y)->allocations)
		return (*x)->allocations < (*y)->allocations ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static void
put_threads(FILE *to, const struct profile *p, const struct render_look *l)
{
	const struct profile_thread **list;

	if (p->thread_count < 2)
		return;
	list = room_new(p->thread_count, sizeof *list);
	for (size_t i = 0; i < p->thread_count; i++)
		list[i] = p->threads + i;
	qsort(list, p->thread_count, sizeof *list, by_activity);
	fprintf(to, "\n%9s %-15s %13s %13s %10s\n", "thread", "name",
	    "allocations", "frees", "in all");
	for (size_t i = 0; i < p->thread_count && i < THREADS_SHOWN; i++) {
		fprintf(to, "%9" PRId32 " ", list[i]->tid);
		put_padded(to, list[i]->name, 15, l->utf8);
		fprintf(to, " %13s %13s %10s\n",
		    cli_count(list[i]->allocations).text,
		    cli_count(list[i]->frees).text,
		    cli_bytes(list[i]->allocated_bytes).text);
	}
	if (p->thread_count > THREADS_SHOWN)
		fprintf(to, "%9s %s more\n", "and",
		    cli_count(p->thread_count - THREADS_SHOWN).text);
	free(list);
}

static void
put_marks(FILE *to, const struct profile *p, const struct render_look *l)
{
	struct cli_text t;

	for (size_t i = 0; i < p->mark_count && i < MARKS_SHOWN; i++) {
		fprintf(to, "%s  mark at %s: ", i ? "" : "\n",
		    seconds_of(p->marks[i].s, &t));
		render_put(to, p->marks[i].label, l->columns, l->utf8);
		fputc('\n', to);
	}
	if (p->mark_count > MARKS_SHOWN)
		fprintf(to, "  and %s marks more\n",
		    cli_count(p->mark_count - MARKS_SHOWN).text);
}

static void
put_problems(FILE *to, const struct profile *p, const struct render_look *l)
{
	for (size_t i = 0; i < p->problems.count; i++) {
		fputs(i ? "; " : "\nproblems: ", to);
		render_put(to, p->problems.list[i], UINT16_MAX, l->utf8);
	}
	fputs(p->problems.count ? "\n" : "", to);
}

static void
put_one(FILE *to, const struct profile *p, const struct render_look *l)
{
	put_identity(to, p, l);
	put_totals(to, p);
	put_specials(to, p, l);
	put_pool(to, p);
	put_timeline(to, p, l);
	put_sizes(to, p, l);
	put_threads(to, p, l);
	render_latency(to, p, l);
	put_marks(to, p, l);
	render_sites(to, p, l);
	put_problems(to, p, l);
}

/* Only sites. */
static void
put_sites(FILE *to, const struct profile *p, const struct render_look *l)
{
	put_identity(to, p, l);
	render_sites(to, p, l);
	put_problems(to, p, l);
}

static void
put_line(FILE *to, const struct profile *p, const struct render_look *l)
{
	struct cli_text a, b, c, d;
	char status[24];

	snprintf(status, sizeof status, "%" PRIu64, p->status.value);
	fprintf(to, "%8" PRIu64 " %7s%s%9s %9s %12s %9s  ", p->pid.value,
	    p->status.known ? status : p->state, p->problems.count ? "!" : " ",
	    bytes_of(p->peak_bytes, &a), bytes_of(p->live_bytes, &b),
	    count_of(p->allocations, &c), seconds_of(p->elapsed_s, &d));
	put_command(to, p, l->columns > LINE_COLUMNS + 12
	    ? l->columns - LINE_COLUMNS : 12, l->utf8, true);
}

/* Peaks of different times do not add up; their sum bounds what all of
 * them together ever had. */
static void
put_sum(FILE *to, const struct profile *list, size_t count)
{
	struct profile_number peak = { true, 0 }, live = peak, calls = peak;
	struct cli_text a, b, c;

	for (size_t i = 0; i < count; i++) {
		peak.value += list[i].peak_bytes.value;
		peak.known &= list[i].peak_bytes.known;
		live.value += list[i].live_bytes.value;
		live.known &= list[i].live_bytes.known;
		calls.value += list[i].allocations.value;
		calls.known &= list[i].allocations.known;
	}
	fprintf(to, "%16s %9s %9s %12s %9s  %zu logs\n", "sum",
	    bytes_of(peak, &a), bytes_of(live, &b), count_of(calls, &c), "",
	    count);
}

static void
put_many(FILE *to, const struct profile *list, size_t count,
    const struct render_look *l)
{
	size_t bad = 0;

	fprintf(to, "%8s %7s %9s %9s %12s %9s  %s\n", "pid", "end", "peak",
	    "live", "allocations", "after", "program");
	for (size_t i = 0; i < count; i++) {
		put_line(to, list + i, l);
		bad += list[i].problems.count > 0;
	}
	put_sum(to, list, count);
	if (bad)
		fprintf(to, "problems: %zu of the logs have some (!); look at "
		    "them one by one\n", bad);
}

void
render_text(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	bool many;

	if (look->branches && count) {
		put_identity(to, list, look);
		render_branches(to, look->branches, look);
		put_problems(to, list, look);
		return;
	}
	if (look->diff && count) {
		put_identity(to, list, look);
		render_diff(to, look->diff, look);
		put_problems(to, list, look);
		return;
	}
	many = look->leaks || (look->top && count > 1);
	for (size_t i = 0; many && i < count; i++) {
		fputs(i ? "\n" : "", to);
		put_sites(to, list + i, look);
	}
	if (many)
		return;
	if (count == 1)
		put_one(to, list, look);
	else if (count)
		put_many(to, list, count, look);
}
