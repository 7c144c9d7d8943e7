/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 4180: a row of names, then one for each log. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli.h"
#include "diff.h"
#include "names.h"
#include "render_util.h"

/* Quotes are doubled, what cannot be seen is U+FFFD. */
static void
put_inside(FILE *to, const char *text)
{
	while (*text) {
		unsigned bytes = render_seen(text);

		if (*text == '"')
			fputc('"', to);
		if (bytes || *text == '\n' || *text == '\t')
			fwrite(text, 1, bytes ? bytes : 1, to);
		else
			fputs("\xef\xbf\xbd", to);
		text += bytes ? bytes : 1;
	}
}

static void
put_texts(FILE *to, const struct profile_texts *t, const char *between)
{
	fputc('"', to);
	for (size_t i = 0; i < t->count; i++) {
		fputs(i ? between : "", to);
		put_inside(to, t->list[i]);
	}
	fputc('"', to);
}

static void
put_text(FILE *to, const char *text)
{
	char *list[] = { (char *)text };

	if (text)
		put_texts(to, &(struct profile_texts){ list, 1 }, "");
}

static void
put_field(FILE *to, const struct profile *p, const struct render_field *f)
{
	const void *value = render_value(p, f);
	char *const *text = value;
	const struct profile_number *n = value;
	const double *s = value;

	switch (f->kind) {
	case RENDER_TEXT:
		put_text(to, *text);
		break;
	case RENDER_TEXTS:
		put_texts(to, value, strcmp(f->name, "argv") ? "; " : " ");
		break;
	case RENDER_NUMBER:
		if (n->known)
			fprintf(to, "%" PRIu64, n->value);
		break;
	case RENDER_SECONDS:
		if (isfinite(*s))
			fprintf(to, "%.9f", *s);
		break;
	case RENDER_TRUTH:
		fputs(*(const bool *)value ? "true" : "false", to);
		break;
	}
}

/* A column is there when any log has the field. */
static bool
any_has(const struct profile *list, size_t count, const struct render_field *f)
{
	for (size_t i = 0; i < count; i++)
		if (render_has(list + i, f))
			return true;
	return f->when == RENDER_ALWAYS;
}

static void
put_row(FILE *to, const struct profile *list, size_t count,
    const struct profile *row)
{
	const char *comma = "";

	for (const struct render_field *f = render_fields; f->name; f++) {
		if (!any_has(list, count, f))
			continue;
		fputs(comma, to);
		comma = ",";
		if (!row)
			fputs(f->name, to);
		else if (render_has(row, f))
			put_field(to, row, f);
	}
	fputs("\r\n", to);
}

/* Functions, the outermost first, as in folded stacks. */
static void
put_stack(FILE *to, const struct profile_site *site)
{
	char room[RENDER_NAME];

	fputc('"', to);
	for (unsigned i = site->depth; i-- > 0;) {
		put_inside(to, render_name(site->stack[i], room));
		fputs(i ? ";" : "", to);
	}
	fputc('"', to);
}

static void
put_change(FILE *to, const struct profile_number *before,
    const struct profile_number *now)
{
	uint64_t b = before->value, n = now->value;

	fputc(',', to);
	if (before->known)
		fprintf(to, "%" PRIu64, b);
	fputc(',', to);
	if (now->known)
		fprintf(to, "%" PRIu64, n);
	fputc(',', to);
	if (before->known && now->known)
		fprintf(to, "%s%" PRIu64, n < b ? "-" : "", n < b ? b - n
		    : n - b);
	fputc(',', to);
	if (before->known && now->known && b)
		fprintf(to, "%.2f", 100 * ((double)n / (double)b - 1));
	fputs("\r\n", to);
}

static void
put_diff_site(FILE *to, const struct diff_site *s,
    const struct order_column *c)
{
	fputs(s->is_new ? "new," : s->is_gone ? "gone," : "site,", to);
	put_stack(to, s->shown);
	put_change(to, &(struct profile_number){ true, order_value(&s->before,
	    c) }, &(struct profile_number){ true, order_value(&s->now, c) });
}

static void
put_diff(FILE *to, const struct diff *d, const struct render_look *look)
{
	const struct order *order = look->order ? look->order : orders;
	size_t count = diff_changed(d, &order->by);

	fputs("what,name,before,now,change,percent\r\n", to);
	for (const struct diff_total *t = diff_totals; t->name; t++) {
		fprintf(to, "total,%s", t->name);
		put_change(to, diff_value(d->before, t),
		    diff_value(d->now, t));
	}
	for (size_t i = 0; i < d->size_count; i++) {
		const struct diff_size *s = d->sizes + i;

		fprintf(to, "size,%" PRIu64 "-%" PRIu64, s->from, s->to);
		put_change(to, &(struct profile_number){ true, s->before },
		    &(struct profile_number){ true, s->now });
	}
	if (look->top && look->top < count)
		count = look->top;
	for (size_t i = 0; i < count; i++)
		put_diff_site(to, d->sites + i, &order->by);
}

static void
put_site(FILE *to, const struct profile *p, const struct profile_site *site)
{
	const struct profile_frame *f = site->depth
	    ? site->stack[names_headline(site)] : NULL;
	const struct profile_object *o = f ? f->call->object : NULL;

	put_text(to, p->path);
	for (const struct render_value *v = render_values; v->name; v++)
		fprintf(to, ",%" PRIu64, render_value_of(site, v));
	fputc(',', to);
	if (site->growth > 0)
		fprintf(to, "%.3f", site->growth);
	fputc(',', to);
	put_text(to, f ? f->function : NULL);
	fputc(',', to);
	put_text(to, f ? f->file : NULL);
	fputc(',', to);
	if (f && f->line)
		fprintf(to, "%u", f->line);
	fputc(',', to);
	put_text(to, o ? o->path : NULL);
	fputc(',', to);
	put_stack(to, site);
	fputs("\r\n", to);
}

/* Who reads rows takes each for a site, so this is no row. */
static void
say_once(const struct profile *list, size_t count)
{
	uint64_t once = 0;

	for (size_t i = 0; i < count; i++)
		once += list[i].once_count;
	if (once)
		warn("%s site%s that called once %s left out (--once shows "
		    "them)", cli_count(once).text, cli_plural(once),
		    once == 1 ? "is" : "are");
}

/* A row for each site that is shown, of each log. */
static void
put_sites(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	fputs("path", to);
	for (const struct render_value *v = render_values; v->name; v++)
		fprintf(to, ",%s", v->name);
	fputs(",growth_bytes_per_s,function,file,line,object,stack\r\n", to);
	for (size_t i = 0; i < count; i++) {
		const struct profile *p = list + i;
		size_t top = render_top(p, look, p->site_count), n = 0;

		for (size_t j = 0; j < p->site_count && n < top; j++) {
			const struct profile_site *site = p->sites + j;

			if (look->leaks && (site->suppressed
			    || !site->live_blocks))
				continue;
			put_site(to, p, site);
			n++;
		}
	}
	say_once(list, count);
}

void
render_csv(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	if (look->diff) {
		put_diff(to, look->diff, look);
		return;
	}
	if (look->top || look->leaks) {
		put_sites(to, list, count, look);
		return;
	}
	put_row(to, list, count, NULL);
	for (size_t i = 0; i < count; i++)
		put_row(to, list, count, list + i);
}
