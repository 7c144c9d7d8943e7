/* SPDX-License-Identifier: Apache-2.0 */
#include "render_latency.h"

#include <inttypes.h>

#include "cli.h"
#include "names.h"
#include "render_stack.h"

enum {
	SLOW_SHOWN = 5,
	SLOW_COLUMNS = 14,	/* before who allocated it */
};

/* Three digits and a unit. */
static struct cli_text
span_of(double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	struct cli_text t;
	size_t i = 0;

	for (; ns >= 999.5 && i + 1 < sizeof units / sizeof *units; i++)
		ns /= 1000;
	snprintf(t.text, sizeof t.text, "%.*f%s",
	    !i || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2, ns, units[i]);
	return t;
}

static void
put_kind(FILE *to, const struct profile_latency *l)
{
	fprintf(to, "%14s %13s %6s %6s", l->call, cli_count(l->count).text,
	    span_of(l->total_ns).text, span_of(l->mean_ns).text);
	fprintf(to, " %6s %6s %6s %6s %6s\n", span_of(l->p50_ns).text,
	    span_of(l->p90_ns).text, span_of(l->p99_ns).text,
	    span_of(l->p99_9_ns).text, span_of(l->max_ns).text);
}

const struct profile_site *
render_latency_site(const struct profile *p, const struct profile_slow *slow)
{
	for (size_t i = 0; slow->frame && i < p->site_count; i++)
		if (p->sites[i].frame == slow->frame && p->sites[i].depth)
			return p->sites + i;
	return NULL;
}

/* Of a free, this is where its block was allocated. */
static void
put_slow(FILE *to, const struct profile *p, const struct profile_slow *s,
    const struct render_look *look)
{
	const struct profile_site *site = render_latency_site(p, s);

	fprintf(to, "%*s  %s", SLOW_COLUMNS - 2, span_of(s->ns).text, s->call);
	if (s->bytes.known)
		fprintf(to, " of %s byte%s", cli_count(s->bytes.value).text,
		    cli_plural(s->bytes.value));
	fprintf(to, " at %.4f s", s->s);
	if (s->tid.known) {
		fprintf(to, " by %" PRIu64 " ", s->tid.value);
		render_put(to, s->name, 15, look->utf8);
	}
	fputc('\n', to);
	if (!site)
		return;
	fprintf(to, "%*sallocated by ", SLOW_COLUMNS, "");
	render_stack_frame(to, look, site->stack[names_headline(site)],
	    look->columns - SLOW_COLUMNS - 13);
	fputc('\n', to);
}

void
render_latency(FILE *to, const struct profile *p,
    const struct render_look *look)
{
	if (!p->latency_count)
		return;
	fprintf(to, "\n%14s %13s %6s %6s %6s %6s %6s %6s %6s\n",
	    "allocator took", "calls", "total", "mean", "p50", "p90", "p99",
	    "p99.9", "max");
	for (size_t i = 0; i < p->latency_count; i++)
		put_kind(to, p->latency + i);
	fprintf(to, "  of each, %s is the clock's own; the slowest:\n",
	    span_of(p->clock_ns).text);
	for (size_t i = 0; i < p->slow_count && i < SLOW_SHOWN; i++)
		put_slow(to, p, p->slowest + i, look);
}
