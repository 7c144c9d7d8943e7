/* SPDX-License-Identifier: Apache-2.0 */
/* For callgrind_annotate and KCachegrind: what each line allocated, and what
 * each call led to.
 *
 * A function's inclusive cost is its own and that of its calls.  So of a
 * function that is in a stack more than once only the innermost call counts:
 * else recursion would have more than the program. */
#include "render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render_util.h"
#include "room.h"
#include "texts.h"

#define SITE(field) offsetof(struct profile_site, field)

static const struct render_value events[] = {
	{ "Alloc", "Allocations", SITE(allocations) },
	{ "AllocB", "Bytes allocated", SITE(allocated_bytes) },
	{ "PeakB", "Bytes live at the peak", SITE(peak_bytes) },
	{ "LeakB", "Bytes live at the end", SITE(live_bytes) },
};
enum { EVENTS = sizeof events / sizeof *events };

struct function {
	uint32_t object, file, name;	/* in names, by kind */
	size_t seen;			/* in the stack of this site, less 1 */
};

/* What a line of FUNCTION costs, by itself or by a call. */
struct cost {
	uint32_t function, line;
	uint32_t called, called_line;	/* CALLED is 0: by itself */
	uint64_t calls, values[EVENTS];
};

/* Names are said once, then their number is enough. */
enum kind { OBJECT, FILE_NAME, NAME, KINDS };
struct names {
	struct texts texts;
	bool *said;
};

struct callgrind {
	FILE *to;
	const struct profile *p;
	struct names names[KINDS];
	struct texts keys;		/* of functions */
	struct function *functions;	/* by number, from 1 */
	uint32_t *first, *of_frame;	/* functions, by frame */
	struct cost *costs;
	size_t cost_count;
};

static uint32_t
find_function(struct callgrind *c, const struct profile_frame *f)
{
	const struct profile_object *o = f ? f->call->object : NULL;
	const char *object = o && o->path ? o->path : "???";
	const char *file = f && f->file ? f->file : "???";
	char room[RENDER_NAME];
	const char *name = render_name(f, room);
	size_t bytes = strlen(object) + strlen(file) + strlen(name) + 3;
	char *key = room_new(bytes, 1);
	uint32_t number;

	snprintf(key, bytes, "%s\n%s\n%s", object, file, name);
	number = texts_number(&c->keys, key);
	free(key);
	c->functions[number] = (struct function){
		texts_number(&c->names[OBJECT].texts, object),
		texts_number(&c->names[FILE_NAME].texts, file),
		texts_number(&c->names[NAME].texts, name), 0,
	};
	return number;
}

static void
find_functions(struct callgrind *c)
{
	const struct profile *p = c->p;
	size_t frames;

	c->first = render_frames(p);
	frames = c->first[p->call_count];
	c->of_frame = room_new(frames, sizeof *c->of_frame);
	c->functions = room_new(frames + 1, sizeof *c->functions);
	c->of_frame[0] = find_function(c, NULL);
	for (size_t i = 0; i < p->call_count; i++)
		for (unsigned k = 0; k < p->calls[i].frame_count; k++)
			c->of_frame[c->first[i] + k] = find_function(c,
			    p->calls[i].frames + k);
	for (unsigned kind = 0; kind < KINDS; kind++)
		c->names[kind].said = room_new(
		    c->names[kind].texts.count + 1, sizeof(bool));
}

static uint32_t
function_of(const struct callgrind *c, const struct profile_frame *f)
{
	return c->of_frame[f ? render_frame(c->p, c->first, f) : 0];
}

static void
add_cost(struct callgrind *c, const struct profile_site *site,
    const struct profile_frame *f, const struct profile_frame *called)
{
	struct cost *cost = c->costs + c->cost_count++;

	*cost = (struct cost){ .function = function_of(c, f),
	    .line = f ? f->line : 0 };
	if (called) {
		cost->called = function_of(c, called);
		cost->called_line = called->line;
		cost->calls = site->allocations;
	}
	for (unsigned i = 0; i < EVENTS; i++)
		cost->values[i] = render_value_of(site, events + i);
}

static void
add_site(struct callgrind *c, size_t number)
{
	const struct profile_site *site = c->p->sites + number;

	if (!site->depth)
		add_cost(c, site, NULL, NULL);
	for (unsigned i = 0; i < site->depth; i++) {
		const struct profile_frame *f = site->stack[i];
		struct function *function = c->functions + function_of(c, f);

		if (function->seen == number + 1)
			continue;
		function->seen = number + 1;
		add_cost(c, site, f, i ? site->stack[i - 1] : NULL);
	}
}

static int
compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int
by_place(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int order = compare(x->function, y->function);

	order = order ? order : compare(x->called, y->called);
	order = order ? order : compare(x->line, y->line);
	return order ? order : compare(x->called_line, y->called_line);
}

static void
add_up(struct callgrind *c)
{
	size_t sums = 0;

	qsort(c->costs, c->cost_count, sizeof *c->costs, by_place);
	for (size_t i = 0; i < c->cost_count; i++) {
		struct cost *sum = c->costs + sums - 1;

		if (!i || by_place(sum, c->costs + i)) {
			c->costs[sums++] = c->costs[i];
			continue;
		}
		sum->calls += c->costs[i].calls;
		for (unsigned k = 0; k < EVENTS; k++)
			sum->values[k] += c->costs[i].values[k];
	}
	c->cost_count = sums;
}

static void
put_name(struct callgrind *c, const char *what, enum kind kind,
    uint32_t number)
{
	struct names *names = c->names + kind;

	fprintf(c->to, "%s=(%" PRIu32 ")", what, number);
	if (!names->said[number]) {
		fputc(' ', c->to);
		render_line(c->to, names->texts.list[number - 1], '\0');
	}
	names->said[number] = true;
	fputc('\n', c->to);
}

static void
put_values(FILE *to, uint32_t line, const uint64_t values[EVENTS])
{
	fprintf(to, "%" PRIu32, line);
	for (unsigned i = 0; i < EVENTS; i++)
		fprintf(to, " %" PRIu64, values[i]);
	fputc('\n', to);
}

/* callgrind_annotate stumbles over a file it can read none of whose lines
 * has a number and a cost of its own: then one has nothing. */
static void
put_nothing(struct callgrind *c, const struct cost *cost)
{
	static const uint64_t nothing[EVENTS];
	const struct cost *end = c->costs + c->cost_count;
	uint32_t function = cost->function, line = 0;

	for (; cost < end && cost->function == function; cost++) {
		if (cost->line && !cost->called)
			return;
		line = line ? line : cost->line;
	}
	put_values(c->to, line ? line : 1, nothing);
}

static void
put_cost(struct callgrind *c, const struct cost *cost, uint32_t *function)
{
	const struct function *f = c->functions + cost->function;
	const struct function *called = c->functions + cost->called;

	if (*function != cost->function) {
		fputc('\n', c->to);
		put_name(c, "ob", OBJECT, f->object);
		put_name(c, "fl", FILE_NAME, f->file);
		put_name(c, "fn", NAME, f->name);
		*function = cost->function;
		put_nothing(c, cost);
	}
	if (cost->called) {
		put_name(c, "cob", OBJECT, called->object);
		put_name(c, "cfi", FILE_NAME, called->file);
		put_name(c, "cfn", NAME, called->name);
		fprintf(c->to, "calls=%" PRIu64 " %" PRIu32 "\n",
		    cost->calls, cost->called_line);
	}
	put_values(c->to, cost->line, cost->values);
}

static void
put_head(const struct callgrind *c)
{
	char *command = render_command(c->p);

	fprintf(c->to, "# callgrind format\nversion: 1\n"
	    "creator: heaphook-report " PACKAGE_VERSION "\n");
	if (c->p->pid.known)
		fprintf(c->to, "pid: %" PRIu64 "\n", c->p->pid.value);
	fprintf(c->to, "cmd: %s\npositions: line\n", command);
	for (unsigned i = 0; i < EVENTS; i++)
		fprintf(c->to, "event: %s : %s\n", events[i].name,
		    events[i].unit);
	fputs("events:", c->to);
	for (unsigned i = 0; i < EVENTS; i++)
		fprintf(c->to, " %s", events[i].name);
	fputc('\n', c->to);
	free(command);
}

static void
put_totals(const struct callgrind *c)
{
	fputs("\ntotals:", c->to);
	for (unsigned i = 0; i < EVENTS; i++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < c->p->site_count; k++)
			sum += render_value_of(c->p->sites + k, events + i);
		fprintf(c->to, " %" PRIu64, sum);
	}
	fputc('\n', c->to);
}

void
render_callgrind(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct callgrind c = { .to = to, .p = list };
	size_t most = 0;
	uint32_t function = 0;

	(void)look;
	if (!count)
		return;
	find_functions(&c);
	for (size_t i = 0; i < list->site_count; i++)
		most += list->sites[i].depth + 1;
	c.costs = room_new(most, sizeof *c.costs);
	for (size_t i = 0; i < list->site_count; i++)
		add_site(&c, i);
	add_up(&c);
	put_head(&c);
	for (size_t i = 0; i < c.cost_count; i++)
		put_cost(&c, c.costs + i, &function);
	put_totals(&c);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		texts_free(&c.names[kind].texts);
		free(c.names[kind].said);
	}
	texts_free(&c.keys);
	free(c.functions);
	free(c.first);
	free(c.of_frame);
	free(c.costs);
}
