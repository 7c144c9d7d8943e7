/* SPDX-License-Identifier: Apache-2.0 */
#include "render_diff.h"

#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "complaints.h"
#include "render_stack.h"

enum { SITES_SHOWN = 10 };	/* when nobody says how many */

static struct cli_text
text_of(uint64_t value, bool bytes)
{
	return bytes ? cli_bytes(value) : cli_count(value);
}

/* "+1.00 KiB", "-3", "0". */
static struct cli_text
change_of(uint64_t before, uint64_t now, bool bytes)
{
	struct cli_text size = text_of(now > before ? now - before
	    : before - now, bytes), t;

	snprintf(t.text, sizeof t.text, "%s%.30s", now > before ? "+"
	    : now < before ? "-" : "", size.text);
	return t;
}

static void
put_percent(FILE *to, uint64_t before, uint64_t now)
{
	if (before && now != before)
		fprintf(to, " %+8.1f %%", 100 * ((double)now / (double)before
		    - 1));
	fputc('\n', to);
}

static void
put_total(FILE *to, const struct diff *d, const struct diff_total *t)
{
	const struct profile_number *b = diff_value(d->before, t);
	const struct profile_number *n = diff_value(d->now, t);
	bool known = b->known && n->known;

	fprintf(to, "  %-13s %13s", t->title, b->known
	    ? text_of(b->value, t->bytes).text : "unknown");
	fprintf(to, " %13s", n->known ? text_of(n->value, t->bytes).text
	    : "unknown");
	fprintf(to, " %13s", known ? change_of(b->value, n->value,
	    t->bytes).text : "unknown");
	if (known)
		put_percent(to, b->value, n->value);
	else
		fputc('\n', to);
}

static void
put_sizes(FILE *to, const struct diff *d)
{
	fprintf(to, "\n%24s %12s %12s %12s\n", "bytes", "before", "now",
	    "change");
	for (size_t i = 0; i < d->size_count; i++) {
		const struct diff_size *s = d->sizes + i;
		struct cli_text from = cli_count(s->from);

		fprintf(to, "%11s%s%11s", s->to > s->from ? from.text : "",
		    s->to > s->from ? " -" : "  ", cli_count(s->to).text);
		fprintf(to, " %12s", cli_count(s->before).text);
		fprintf(to, " %12s", cli_count(s->now).text);
		fprintf(to, " %12s", change_of(s->before, s->now, false).text);
		put_percent(to, s->before, s->now);
	}
}

static void
put_site(FILE *to, const struct diff_site *s, const struct order_column *c,
    const struct render_look *look)
{
	uint64_t before = order_value(&s->before, c);
	uint64_t now = order_value(&s->now, c);

	fprintf(to, "%11s", change_of(before, now, c->bytes).text);
	fprintf(to, " %10s", s->is_new ? "new"
	    : text_of(before, c->bytes).text);
	fprintf(to, " %9s  ", s->is_gone ? "gone"
	    : text_of(now, c->bytes).text);
	render_stack(to, look, s->shown);
}

static void
put_sites(FILE *to, const struct diff *d, const struct render_look *look)
{
	const struct order *order = look->order ? look->order : orders;
	size_t most = look->top ? look->top : SITES_SHOWN;
	size_t count = diff_changed(d, &order->by);
	struct complaints complaints = { 0 };

	fprintf(to, "\n  %zu site%s changed, by %s%s", count,
	    cli_plural(count), order->title, count ? "\n" : "");
	if (count)
		fprintf(to, "%11s %10s %9s  allocated by", "change", "before",
		    "now");
	fputc('\n', to);
	for (size_t i = 0; i < count && i < most; i++) {
		put_site(to, d->sites + i, &order->by, look);
		complaints_add_site(&complaints, d->sites[i].shown);
	}
	if (count > most)
		fprintf(to, "%11s %zu more\n", "and", count - most);
	complaints_put(to, &complaints, look);
}

void
render_diff(FILE *to, const struct diff *d, const struct render_look *look)
{
	fputs("  since ", to);
	render_put(to, d->before->path, UINT16_MAX, look->utf8);
	fprintf(to, "\n\n  %-13s %13s %13s %13s\n", "", "before", "now",
	    "change");
	for (const struct diff_total *t = diff_totals; t->name; t++)
		put_total(to, d, t);
	if (strcmp(d->before->bytes, d->now->bytes))
		fputs("  bytes are requested ones in one of the logs, usable "
		    "in the other\n", to);
	if (d->has_sites) {
		put_sites(to, d, look);
		return;
	}
	fputs("\n  sites         unknown: both must be recorded with stacks "
	    "(heaphook-run -k)\n", to);
	if (d->size_count)
		put_sizes(to, d);
}
