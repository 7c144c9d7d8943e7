/* SPDX-License-Identifier: Apache-2.0 */
#include "render_sites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "complaints.h"
#include "names.h"
#include "render_stack.h"
#include "room.h"

/* Two lists in one: sites, and sites that are leaks. */
struct shown {
	FILE *to;
	const struct profile *p;
	const struct render_look *look;
	const struct order *order;
	struct complaints *complaints;
	uint64_t all;		/* of the order's value */
	size_t count;		/* sites that have any */
};

static void
put_stack(const struct shown *s, const struct profile_site *site)
{
	render_stack(s->to, s->look, site);
	complaints_add_site(s->complaints, site);
}


static const char *
text_of(uint64_t value, const struct order_column *c, struct cli_text *t)
{
	*t = c->bytes ? cli_bytes(value) : cli_count(value);
	return t->text;
}

/* How long its blocks live, when that is what people look for. */
static void
put_life(const struct shown *s, const struct profile_site *site)
{
	static const struct {
		double s;
		const char *name;
	} units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" },
		{ 1e-9, "ns" } };
	double calls = (double)site->allocations;
	double mean = site->lived_s / calls;
	size_t i = 0;

	if (!site->allocations)
		return;
	while (i + 1 < sizeof units / sizeof *units && mean < units[i].s)
		i++;
	fprintf(s->to, "%14s%.1f %% of its calls; a block lives %.3g %s on "
	    "average\n", "", 100 * ((double)site->temporary / calls),
	    mean / units[i].s, units[i].name);
}

/* Beside the value, or within how much that is right. */
static const char *
beside_of(const struct shown *s, const struct profile_site *site,
    struct cli_text *t)
{
	const struct order *o = s->order;

	if (!s->p->errors)
		return text_of(order_value(site, &o->beside), &o->beside, t);
	return text_of((uint64_t)order_error(s->p, site, o), &o->by, t);
}

static void
put_sample(const struct shown *s)
{
	struct cli_text a = cli_bytes(s->p->sample_bytes.value);

	fprintf(s->to, "  sampled, one in %s; sites are estimates, within +-\n",
	    a.text);
}

static void
put_site(const struct shown *s, const struct profile_site *site)
{
	const struct order *o = s->order;
	uint64_t value = order_value(site, &o->by);
	struct cli_text a, b;

	fprintf(s->to, "%11s %5.1f%% %13s  ", text_of(value, &o->by, &a),
	    s->all ? 100 * ((double)value / (double)s->all) : 0,
	    beside_of(s, site, &b));
	put_stack(s, site);
	if (o->by.offset == offsetof(struct profile_site, temporary))
		put_life(s, site);
}

static bool
has_any(const struct shown *s, const struct profile_site *site)
{
	if (s->look->leaks)
		return site->live_blocks && !site->suppressed;
	return order_value(site, &s->order->by);
}

/* Of those that are counted. */
static size_t
count_once(const struct shown *s)
{
	size_t n = 0;

	for (size_t i = s->p->site_count - s->p->once_count;
	    i < s->p->site_count; i++)
		n += has_any(s, s->p->sites + i);
	return n;
}

static void
put_list(const struct shown *s)
{
	size_t top = render_top(s->p, s->look, s->look->leaks
	    ? s->p->site_count : RENDER_SITES), n = 0, i = 0;
	size_t once = count_once(s);

	if (!s->count)
		return;
	fprintf(s->to, "%11s %6s %13s  %s\n", s->order->by.heading, "share",
	    s->p->errors ? "+-" : s->order->beside.heading, "allocated by");
	for (; i < s->p->site_count - s->p->once_count && n < top; i++) {
		if (!has_any(s, s->p->sites + i))
			continue;
		put_site(s, s->p->sites + i);
		n++;
	}
	if (n < s->count - once)
		fprintf(s->to, "%11s %s more\n", "and",
		    cli_count(s->count - once - n).text);
	if (once)
		fprintf(s->to, "%11s %s site%s that called once (--once shows "
		    "them)\n", "and", cli_count(once).text,
		    cli_plural(once));
}

static void
put_blocks(FILE *to, const char *what, const struct profile_site *sum,
    uint64_t sites)
{
	struct cli_text a, b, c, d;

	a = cli_bytes(sum->live_bytes);
	b = cli_count(sum->live_bytes);
	c = cli_count(sum->live_blocks);
	d = cli_count(sites);
	fprintf(to, "  %-12s %s (%s bytes) in %s block%s, of %s site%s\n",
	    what, a.text, b.text, c.text, cli_plural(sum->live_blocks),
	    d.text, cli_plural(sites));
}

static void
put_leaks_head(const struct shown *s)
{
	struct profile_site leaked = { 0 }, hidden = { 0 };
	uint64_t leaks = 0, others = 0;

	for (size_t i = 0; i < s->p->site_count; i++) {
		const struct profile_site *site = s->p->sites + i;
		struct profile_site *sum = site->suppressed ? &hidden
		    : &leaked;

		sum->live_bytes += site->live_bytes;
		sum->live_blocks += site->live_blocks;
		leaks += site->live_blocks && !site->suppressed;
		others += site->live_blocks && site->suppressed;
	}
	if (s->p->stopped)
		fprintf(s->to, "  recording stopped at %.4f s: this is what "
		    "was live then;\n  which of it was freed later is not "
		    "known\n\n", s->p->stopped_s);
	put_blocks(s->to, s->p->stopped ? "live then"
	    : strcmp(s->p->state, "running") ? "leaks" : "live now", &leaked,
	    leaks);
	if (others)
		put_blocks(s->to, "suppressed", &hidden, others);
	fputs(s->count ? "\n" : "", s->to);
}

static int
by_growth(const void *a, const void *b)
{
	const double x = (*(const struct profile_site *const *)a)->growth;
	const double y = (*(const struct profile_site *const *)b)->growth;

	return (x < y) - (x > y);
}

/* As if all its blocks were as big as those that are live. */
static void
put_growing_site(const struct shown *s, const struct profile_site *site)
{
	double blocks = site->growth * ((double)site->live_blocks
	    / (double)site->live_bytes);
	struct cli_text a = cli_bytes((uint64_t)(site->growth + 0.5));
	struct cli_text b = cli_bytes(site->live_bytes), c;

	snprintf(c.text, sizeof c.text, "%.*f", blocks < 10 ? 2 : 0, blocks);
	fprintf(s->to, "%11s %9s %10s  ", a.text, c.text, b.text);
	put_stack(s, site);
}

/* Those whose live bytes rise steadily, most first. */
static void
put_growing(const struct shown *s)
{
	const struct profile_site **list = room_new(s->p->site_count,
	    sizeof *list);
	size_t count = 0, top;

	for (size_t i = 0; i < s->p->site_count; i++)
		if (s->p->sites[i].growth > 0 && !s->p->sites[i].suppressed)
			list[count++] = s->p->sites + i;
	qsort(list, count, sizeof *list, by_growth);
	top = s->look->top ? s->look->top : s->look->leaks ? count
	    : RENDER_SITES;
	if (count)
		fprintf(s->to, "\n  growing      %zu site%s: live bytes rise "
		    "steadily, to the end\n\n%11s %9s %10s  allocated by\n",
		    count, cli_plural(count), "per second", "blocks/s",
		    "live");
	else if (s->look->leaks)
		fputs("\n  growing      none\n", s->to);
	for (size_t i = 0; i < count && i < top; i++)
		put_growing_site(s, list[i]);
	if (top < count)
		fprintf(s->to, "%11s %zu more\n", "and", count - top);
	free(list);
}

static void
put_no_stacks(const struct shown *s)
{
	struct cli_text a = cli_bytes(s->p->live_bytes.value);
	struct cli_text b = cli_count(s->p->live_blocks.value);

	if (s->look->leaks)
		fprintf(s->to, "\n  leaks        %s in %s block%s\n",
		    s->p->live_bytes.known ? a.text : "unknown",
		    s->p->live_blocks.known ? b.text : "unknown",
		    cli_plural(s->p->live_blocks.known
		    ? s->p->live_blocks.value : 0));
	if (s->look->leaks || s->look->top)
		fputs("\n  sites        unknown: this was recorded without "
		    "stacks (heaphook-run -k)\n", s->to);
}

void
render_sites(FILE *to, const struct profile *p,
    const struct render_look *look)
{
	struct complaints complaints = { 0 };
	struct shown s = {
		.to = to, .p = p, .look = look, .complaints = &complaints,
		.order = look->order ? look->order : orders,
	};

	if (!p->has_sites) {
		put_no_stacks(&s);
		return;
	}
	for (size_t i = 0; i < p->site_count; i++) {
		if (!has_any(&s, p->sites + i))
			continue;
		s.all += order_value(p->sites + i, &s.order->by);
		s.count++;
	}
	fputc('\n', to);
	if (look->leaks)
		put_leaks_head(&s);
	else if (s.count)
		fprintf(to, "  top sites, by %s\n", s.order->title);
	if (p->errors && s.count)
		put_sample(&s);
	put_list(&s);
	put_growing(&s);
	complaints_put(to, &complaints, look);
}
