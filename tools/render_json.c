/* SPDX-License-Identifier: Apache-2.0 */
/* One object, whose keys only ever become more. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "branches.h"
#include "complaints.h"
#include "diff.h"
#include "render_latency.h"
#include "render_util.h"

#define KEY	"      "	/* how far keys of a log are to the right */

static void
put_seconds(FILE *to, double s)
{
	if (isfinite(s))
		fprintf(to, "%.9f", s);
	else
		fputs("null", to);
}

static void
put_texts(FILE *to, const struct profile_texts *t)
{
	fputc('[', to);
	for (size_t i = 0; i < t->count; i++) {
		fputs(i ? ", " : "", to);
		render_quote(to, t->list[i]);
	}
	fputc(']', to);
}

static void
put_number(FILE *to, const struct profile_number *n)
{
	if (n->known)
		fprintf(to, "%" PRIu64, n->value);
	else
		fputs("null", to);
}

static void
put_field(FILE *to, const struct profile *p, const struct render_field *f)
{
	const void *value = render_value(p, f);

	switch (f->kind) {
	case RENDER_TEXT:
		render_quote(to, *(char *const *)value);
		break;
	case RENDER_TEXTS:
		put_texts(to, value);
		break;
	case RENDER_NUMBER:
		put_number(to, value);
		break;
	case RENDER_SECONDS:
		put_seconds(to, *(const double *)value);
		break;
	case RENDER_TRUTH:
		fputs(*(const bool *)value ? "true" : "false", to);
		break;
	}
}

/* Lists of objects, each on a line of its own. */
static void
begin_list(FILE *to, const char *name)
{
	fprintf(to, ",\n" KEY "\"%s\": [", name);
}

static void
begin_item(FILE *to, size_t i)
{
	fprintf(to, "%s\n" KEY "  { ", i ? "," : "");
}

static void
put_threads(FILE *to, const struct profile *p)
{
	begin_list(to, "threads");
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct profile_thread *t = p->threads + i;

		begin_item(to, i);
		fprintf(to, "\"tid\": %" PRId32 ", \"name\": ", t->tid);
		render_quote(to, t->name);
		fprintf(to, ", \"allocations\": %" PRIu64 ", \"frees\": %"
		    PRIu64 ", \"allocated_bytes\": %" PRIu64 " }",
		    t->allocations, t->frees, t->allocated_bytes);
	}
	fputc(']', to);
}

static void
put_sizes(FILE *to, const struct profile *p)
{
	begin_list(to, "sizes");
	for (size_t i = 0; i < p->size_count; i++) {
		begin_item(to, i);
		fprintf(to, "\"from\": %" PRIu64 ", \"to\": %" PRIu64
		    ", \"allocations\": %" PRIu64 " }", p->sizes[i].from,
		    p->sizes[i].to, p->sizes[i].allocations);
	}
	fputc(']', to);
}

static void
put_timeline(FILE *to, const struct profile *p)
{
	begin_list(to, "timeline");
	for (size_t i = 0; i < p->point_count; i++) {
		const struct profile_point *point = p->timeline + i;

		begin_item(to, i);
		fputs("\"s\": ", to);
		put_seconds(to, point->s);
		if (point->counted)
			fputs(", \"live_bytes\": null, \"peak_bytes\": null",
			    to);
		fprintf(to, ", \"live_%sbytes\": %" PRIu64
		    ", \"peak_%sbytes\": %" PRIu64 " }",
		    point->counted ? "usable_" : "", point->live_bytes,
		    point->counted ? "usable_" : "", point->peak_bytes);
	}
	fputc(']', to);
}

static void
put_marks(FILE *to, const struct profile *p)
{
	begin_list(to, "marks");
	for (size_t i = 0; i < p->mark_count; i++) {
		begin_item(to, i);
		fputs("\"s\": ", to);
		put_seconds(to, p->marks[i].s);
		fputs(", \"label\": ", to);
		render_quote(to, p->marks[i].label);
		fputs(" }", to);
	}
	fputc(']', to);
}

static void
put_place(FILE *to, const struct profile_frame *f)
{
	const struct profile_object *o = f->call->object;

	fputs("\"function\": ", to);
	render_quote(to, f->function);
	fputs(", \"file\": ", to);
	render_quote(to, f->file);
	fputs(", \"line\": ", to);
	put_number(to, &(struct profile_number){ f->line, f->line });
	fputs(", \"object\": ", to);
	render_quote(to, o ? o->path : NULL);
}

static void
put_frame(FILE *to, const struct profile_frame *f)
{
	fputs("{ ", to);
	put_place(to, f);
	fprintf(to, ", \"address\": %" PRIu64 " }", f->call->address);
}

static void
put_rate(FILE *to, double growth)
{
	if (growth > 0)
		fprintf(to, "%.3f", growth);
	else
		fputs("null", to);
}

/* In a sample nobody knows which block came last. */
static void
put_estimates(FILE *to, const struct profile_error *e)
{
	fprintf(to, ", \"temporary\": null,\n" KEY "    \"peak_error_bytes\": "
	    "%.0f, \"live_error_bytes\": %.0f, \"allocated_error_bytes\": "
	    "%.0f, \"allocations_error\": %.0f", e->peak, e->live,
	    e->allocated, e->allocations);
}

static void
put_stack(FILE *to, const struct profile_site *s)
{
	fputs("\"stack\": [", to);
	for (unsigned i = 0; i < s->depth; i++) {
		fputs(i ? ",\n" KEY "    " : "", to);
		put_frame(to, s->stack[i]);
	}
	fputs("],\n" KEY "    ", to);
}

static void
put_site(FILE *to, const struct profile *p, const struct profile_site *s)
{
	put_stack(to, s);
	fprintf(to, "\"peak_bytes\": %" PRIu64
	    ", \"live_bytes\": %" PRIu64 ", \"live_blocks\": %" PRIu64
	    ",\n" KEY "    \"allocated_bytes\": %" PRIu64
	    ", \"allocations\": %" PRIu64,
	    s->peak_bytes, s->live_bytes, s->live_blocks, s->allocated_bytes,
	    s->allocations);
	if (p->errors)
		put_estimates(to, p->errors + s->frame);
	else
		fprintf(to, ", \"temporary\": %" PRIu64, s->temporary);
	fputs(", \"growth_bytes_per_s\": ", to);
	put_rate(to, s->growth);
}

/* What sites have that called once and are not asked for. */
static void
put_left_out(FILE *to, const struct profile *p)
{
	fprintf(to, ",\n" KEY "\"left_out\": { \"sites\": %zu",
	    p->once_count);
	for (const struct render_value *v = render_values; v->name; v++) {
		uint64_t sum = 0;

		for (size_t i = 1; i <= p->once_count; i++)
			sum += render_value_of(p->sites + p->site_count - i,
			    v);
		fprintf(to, ", \"%s\": ", v->name);
		put_number(to, &(struct profile_number){ !p->errors
		    || strcmp(v->name, "temporary"), sum });
	}
	fputs(" }", to);
}

static void
put_sites(FILE *to, const struct profile *p, const struct render_look *look)
{
	size_t top = render_top(p, look, p->site_count);

	begin_list(to, "sites");
	for (size_t i = 0; i < top; i++) {
		begin_item(to, i);
		put_site(to, p, p->sites + i);
		if (look->leaks)
			fprintf(to, ", \"suppressed\": %s",
			    p->sites[i].suppressed ? "true" : "false");
		fputs(" }", to);
	}
	fputc(']', to);
}

/* Objects in stacks of P that lack names or lines. */
static void
put_unnamed(FILE *to, const struct profile *p)
{
	struct complaints c = { 0 };

	for (size_t i = 0; i < p->site_count; i++)
		for (unsigned j = 0; j < p->sites[i].depth; j++)
			complaints_add(&c, p->sites[i].stack[j]);
	begin_list(to, "unnamed");
	for (size_t i = 0; i < c.count; i++) {
		begin_item(to, i);
		fputs("\"object\": ", to);
		render_quote(to, c.list[i]->path);
		fputs(", \"why\": ", to);
		render_quote(to, c.list[i]->complaint);
		fputs(" }", to);
	}
	fputc(']', to);
	complaints_free(&c);
}

static const struct {
	const char *name;
	size_t offset;
} latencies[] = {
	{ "total_ns", offsetof(struct profile_latency, total_ns) },
	{ "mean_ns", offsetof(struct profile_latency, mean_ns) },
	{ "p50_ns", offsetof(struct profile_latency, p50_ns) },
	{ "p90_ns", offsetof(struct profile_latency, p90_ns) },
	{ "p99_ns", offsetof(struct profile_latency, p99_ns) },
	{ "p99_9_ns", offsetof(struct profile_latency, p99_9_ns) },
	{ "max_ns", offsetof(struct profile_latency, max_ns) },
};

static void
put_kind(FILE *to, const struct profile_latency *l)
{
	fprintf(to, "\"call\": \"%s\", \"count\": %" PRIu64, l->call,
	    l->count);
	for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++)
		fprintf(to, ", \"%s\": %.1f", latencies[i].name,
		    *(const double *)(const void *)((const char *)l
		    + latencies[i].offset));
	fputs(" }", to);
}

static void
put_slow(FILE *to, const struct profile *p, const struct profile_slow *s)
{
	static const struct profile_site unknown;
	const struct profile_site *site = render_latency_site(p, s);

	put_stack(to, site ? site : &unknown);
	fputs("\"s\": ", to);
	put_seconds(to, s->s);
	fprintf(to, ", \"ns\": %.1f, \"call\": \"%s\", \"bytes\": ", s->ns,
	    s->call);
	put_number(to, &s->bytes);
	fputs(", \"tid\": ", to);
	put_number(to, &s->tid);
	fputs(", \"thread\": ", to);
	render_quote(to, s->tid.known ? s->name : NULL);
	fputs(" }", to);
}

static void
put_latency(FILE *to, const struct profile *p)
{
	fprintf(to, ",\n" KEY "\"latency\": { \"clock_ns\": %.1f",
	    p->clock_ns);
	begin_list(to, "calls");
	for (size_t i = 0; i < p->latency_count; i++) {
		begin_item(to, i);
		put_kind(to, p->latency + i);
	}
	fputc(']', to);
	begin_list(to, "slowest");
	for (size_t i = 0; i < p->slow_count; i++) {
		begin_item(to, i);
		put_slow(to, p, p->slowest + i);
	}
	fputs("] }", to);
}

static void
put_log(FILE *to, const struct profile *p, const struct render_look *look)
{
	const char *comma = "";

	fputs("    {", to);
	for (const struct render_field *f = render_fields; f->name; f++) {
		if (!render_has(p, f))
			continue;
		fprintf(to, "%s\n" KEY "\"%s\": ", comma, f->name);
		put_field(to, p, f);
		comma = ",";
	}
	put_threads(to, p);
	if (p->has_sizes)
		put_sizes(to, p);
	else
		fputs(",\n" KEY "\"sizes\": null", to);
	put_timeline(to, p);
	put_marks(to, p);
	if (p->has_sites)
		put_sites(to, p, look);
	else
		fputs(",\n" KEY "\"sites\": null", to);
	if (p->once_count)
		put_left_out(to, p);
	if (p->has_sites)
		put_unnamed(to, p);
	if (p->has_latency)
		put_latency(to, p);
	fputs(",\n" KEY "\"pool\": null\n    }", to);
}

/* "before", "now" and the difference; percent of what was before. */
static void
put_change(FILE *to, const struct profile_number *before,
    const struct profile_number *now)
{
	bool known = before->known && now->known;
	bool less = now->value < before->value;

	fputs("{ \"before\": ", to);
	put_number(to, before);
	fputs(", \"now\": ", to);
	put_number(to, now);
	fputs(known && less ? ", \"change\": -" : ", \"change\": ", to);
	put_number(to, &(struct profile_number){ known, less ? before->value
	    - now->value : now->value - before->value });
	fputs(", \"percent\": ", to);
	if (known && before->value)
		fprintf(to, "%.2f", 100 * ((double)now->value
		    / (double)before->value - 1));
	else
		fputs("null", to);
	fputs(" }", to);
}

static void
put_diff_site(FILE *to, const struct diff_site *s)
{
	put_stack(to, s->shown);
	fprintf(to, "\"state\": \"%s\"", s->is_new ? "new" : s->is_gone
	    ? "gone" : "both");
	for (const struct render_value *v = render_values; v->name; v++) {
		fprintf(to, ",\n" KEY "    \"%s\": ", v->name);
		put_change(to, &(struct profile_number){ true,
		    render_value_of(&s->before, v) }, &(struct profile_number){
		    true, render_value_of(&s->now, v) });
	}
	fputs(" }", to);
}

static void
put_diff_sizes(FILE *to, const struct diff *d)
{
	begin_list(to, "sizes");
	for (size_t i = 0; i < d->size_count; i++) {
		const struct diff_size *s = d->sizes + i;

		begin_item(to, i);
		fprintf(to, "\"from\": %" PRIu64 ", \"to\": %" PRIu64
		    ", \"allocations\": ", s->from, s->to);
		put_change(to, &(struct profile_number){ true, s->before },
		    &(struct profile_number){ true, s->now });
		fputs(" }", to);
	}
	fputc(']', to);
}

static void
put_diff(FILE *to, const struct diff *d, const struct render_look *look)
{
	size_t top = look->top && look->top < d->site_count ? look->top
	    : d->site_count;

	fputs(",\n  \"diff\": {\n" KEY "\"path\": ", to);
	render_quote(to, d->before->path);
	fputs(",\n" KEY "\"totals\": {", to);
	for (const struct diff_total *t = diff_totals; t->name; t++) {
		fprintf(to, "%s\n" KEY "  \"%s\": ", t == diff_totals ? ""
		    : ",", t->name);
		put_change(to, diff_value(d->before, t),
		    diff_value(d->now, t));
	}
	fputs(" }", to);
	put_diff_sizes(to, d);
	if (d->has_sites)
		begin_list(to, "sites");
	else
		fputs(",\n" KEY "\"sites\": null", to);
	for (size_t i = 0; i < top; i++) {
		begin_item(to, i);
		put_diff_site(to, d->sites + i);
	}
	fputs(d->has_sites ? "]" : "", to);
	if (d->has_sites)
		put_unnamed(to, d->before);
	fputs("\n    }", to);
}

static void
put_branch(FILE *to, const struct branches *b, uint32_t at, int deep)
{
	const struct branch *x = b->list + at;

	fprintf(to, "\n%*s{ ", deep + 6, "");
	put_place(to, &x->frame);
	fprintf(to, ", \"value\": %" PRIu64 ", \"percent\": %.2f, \"%s\": [",
	    x->value, b->list->value ? 100 * ((double)x->value
	    / (double)b->list->value) : 0, b->callers ? "callers" : "callees");
	for (uint32_t i = x->first; i; i = b->list[i].next) {
		put_branch(to, b, i, deep + 1);
		fputs(b->list[i].next ? "," : "", to);
	}
	fputs("] }", to);
}

static void
put_branches(FILE *to, const struct branches *b)
{
	fprintf(to, ",\n  \"%s\": {\n" KEY "\"sort\": \"%s\",\n" KEY
	    "\"all\": %" PRIu64 ",\n" KEY "\"of\":", b->callers ? "callers"
	    : "callees", b->order->name, b->all);
	put_branch(to, b, 0, 0);
	fputs("\n    }", to);
}

void
render_json(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	fputs("{\n  \"heaphook\": ", to);
	render_quote(to, PACKAGE_VERSION);
	fputs(",\n  \"logs\": [", to);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", to);
		put_log(to, list + i, look);
	}
	fputs("],\n  \"job\": null", to);
	if (look->branches)
		put_branches(to, look->branches);
	if (look->diff)
		put_diff(to, look->diff, look);
	fputs("\n}\n", to);
}
