/* SPDX-License-Identifier: Apache-2.0 */
#include "render_branches.h"

#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "complaints.h"
#include "render_stack.h"

enum {
	FOLDED_PERCENT = 1,	/* less is put together */
	INDENT_MOST = 40,
};

struct drawn {
	FILE *to;
	const struct branches *b;
	const struct render_look *look;
	struct complaints *complaints;
};

static struct cli_text
text_of(uint64_t value, const struct order_column *c)
{
	return c->bytes ? cli_bytes(value) : cli_count(value);
}

static double
percent(uint64_t value, uint64_t all)
{
	return all ? 100 * ((double)value / (double)all) : 0;
}

static void
put_line(const struct drawn *d, uint64_t value, uint64_t beside,
    unsigned indent)
{
	const struct order *o = d->b->order;

	fprintf(d->to, "%11s %5.1f%%", text_of(value, &o->by).text,
	    percent(value, d->b->list->value));
	fprintf(d->to, " %13s  %*s", text_of(beside, &o->beside).text,
	    (int)indent, "");
}

static bool
is_small(const struct drawn *d, const struct branch *branch)
{
	return percent(branch->value, d->b->list->value) < FOLDED_PERCENT;
}

/* What is small, and what the function did itself. */
static void
put_rest(const struct drawn *d, const struct branch *from, uint32_t at,
    unsigned indent)
{
	const struct branch *list = d->b->list;
	uint64_t value = 0, beside = 0, n = 0;
	uint64_t own = from->value, own_beside = from->beside;

	for (uint32_t i = from->first; i; i = list[i].next) {
		own -= list[i].value;
		own_beside -= list[i].beside;
	}
	for (; at; at = list[at].next, n++) {
		value += list[at].value;
		beside += list[at].beside;
	}
	if (from->first && !d->b->callers && own) {
		put_line(d, own, own_beside, indent);
		fputs("(itself)\n", d->to);
	}
	if (value) {
		put_line(d, value, beside, indent);
		fprintf(d->to, "(%" PRIu64 " of less than %d %%)\n", n,
		    FOLDED_PERCENT);
	}
}

/* Nobody asks who called main. */
static bool
is_end(const struct drawn *d, const struct branch *branch)
{
	return d->b->callers && branch->frame.function
	    && !strcmp(branch->frame.function, "main");
}

/* Each level is a column further to the right, as far as there is place. */
static void
put_branches(const struct drawn *d, uint32_t from, unsigned level)
{
	const struct branch *list = d->b->list;
	uint32_t at = list[from].first;
	unsigned indent = level < INDENT_MOST ? level : INDENT_MOST;

	for (; at && !is_small(d, list + at); at = list[at].next) {
		put_line(d, list[at].value, list[at].beside, indent);
		render_stack_frame(d->to, d->look, &list[at].frame,
		    d->look->columns - RENDER_STACK_COLUMNS - indent);
		fputc('\n', d->to);
		complaints_add_caller(d->complaints, &list[at].frame);
		if (!is_end(d, list + at))
			put_branches(d, at, level + 1);
	}
	put_rest(d, list + from, at, indent);
}

void
render_branches(FILE *to, const struct branches *b,
    const struct render_look *look)
{
	struct complaints complaints = { 0 };
	const struct drawn d = { to, b, look, &complaints };
	const struct order *o = b->order;

	fprintf(to, "\n  %s of ", b->callers ? "callers" : "callees");
	render_put(to, b->function, UINT16_MAX, look->utf8);
	fprintf(to, ", by %s: %s", o->title,
	    text_of(b->list->value, &o->by).text);
	fprintf(to, ", %.1f %% of all\n\n", percent(b->list->value, b->all));
	fprintf(to, "%11s %6s %13s  %s\n", o->by.heading, "share",
	    o->beside.heading, b->callers ? "called by" : "calls");
	if (b->list->first)
		put_branches(&d, 0, 0);
	else
		fprintf(to, "%11s\n", "none");
	complaints_put(to, &complaints, look);
}
