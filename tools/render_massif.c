/* SPDX-License-Identifier: Apache-2.0 */
/* For ms_print and massif-visualizer: the timeline as snapshots, and a tree
 * of who had what at the peak, innermost calls first.
 *
 * A point of the timeline has what is live at its end, and the most within
 * it, which is shown in its middle: nobody knows better. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "render_util.h"
#include "room.h"

/* Who has less than this of the peak is put together. */
#define THRESHOLD 0.001
#define THRESHOLD_TEXT "0.10%%"

struct massif {
	FILE *to;
	const struct profile *p;
	const struct profile_site **sites;	/* with bytes at the peak, as
						 * the tree needs them */
	size_t site_count;
	double part;				/* of its bytes each has */
	uint64_t rest;				/* that none has */
	size_t snapshots;
	double last_s;				/* time does not go back */
};

/* In the order of the log, wherever names come from. */
static int
by_frame(const struct profile_frame *x, const struct profile_frame *y)
{
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return (x > y) - (x < y);
}

/* Sites with the same innermost frames stand together. */
static int
by_stack(const void *a, const void *b)
{
	const struct profile_site *x = *(const struct profile_site *const *)a;
	const struct profile_site *y = *(const struct profile_site *const *)b;

	for (unsigned i = 0; i < x->depth && i < y->depth; i++)
		if (x->stack[i] != y->stack[i])
			return by_frame(x->stack[i], y->stack[i]);
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static uint64_t
bytes_of(const struct massif *m, size_t site)
{
	uint64_t bytes = m->sites[site]->peak_bytes;

	return m->part < 1 ? (uint64_t)((double)bytes * m->part) : bytes;
}

/* The estimates of a sample need not add up to the peak, but the tree has to:
 * it has less of each, or a place for the rest. */
static void
fit(struct massif *m)
{
	uint64_t all = m->p->peak_bytes.value, sum = 0;

	for (size_t i = 0; i < m->site_count; i++)
		sum += m->sites[i]->peak_bytes;
	m->part = all < sum ? (double)all / (double)sum : 1;
	m->rest = all;
	for (size_t i = 0; i < m->site_count; i++)
		m->rest -= bytes_of(m, i);
}

static void
find_sites(struct massif *m)
{
	m->sites = room_new(m->p->site_count, sizeof *m->sites);
	for (size_t i = 0; i < m->p->site_count; i++)
		if (m->p->sites[i].peak_bytes)
			m->sites[m->site_count++] = m->p->sites + i;
	qsort(m->sites, m->site_count, sizeof *m->sites, by_stack);
	m->part = 1;
	if (m->p->sample_bytes.known)
		fit(m);
}

/* Sites FROM to TO have the first DEPTH frames in common. */
struct branch {
	size_t from, to;
	unsigned depth;
	uint64_t bytes;
};

/* The next branch of B from site AT; those without a frame more are none. */
static struct branch
next_branch(const struct massif *m, const struct branch *b, size_t at)
{
	struct branch next = { at, at, b->depth + 1, 0 };
	const struct profile_frame *f;

	while (at < b->to && m->sites[at]->depth <= b->depth)
		at++;
	next.from = next.to = at;
	if (at == b->to)
		return next;
	f = m->sites[at]->stack[b->depth];
	for (; next.to < b->to && m->sites[next.to]->stack[b->depth] == f;
	    next.to++)
		next.bytes += bytes_of(m, next.to);
	return next;
}

static bool
is_small(const struct massif *m, uint64_t bytes)
{
	return (double)bytes < THRESHOLD * (double)m->p->peak_bytes.value;
}

/* How many lines are right below B, and what is too small for one. */
static size_t
count_below(const struct massif *m, const struct branch *b, size_t *small,
    uint64_t *small_bytes)
{
	size_t lines = 0;

	*small = *small_bytes = 0;
	for (struct branch n = next_branch(m, b, b->from); n.bytes;
	    n = next_branch(m, b, n.to)) {
		if (!is_small(m, n.bytes)) {
			lines++;
			continue;
		}
		++*small;
		*small_bytes += n.bytes;
	}
	return lines + !!*small;
}

static void
put_line_of(const struct massif *m, const struct branch *b)
{
	const struct profile_frame *f = m->sites[b->from]->stack[b->depth - 1];
	char room[RENDER_NAME];

	fprintf(m->to, "0x%" PRIX64 ": ", f->call->address);
	render_line(m->to, render_name(f, room), '\0');
	fputs(" (", m->to);
	if (f->file)
		render_line(m->to, f->file, '\0');
	else if (f->call->object && f->call->object->path)
		render_line(m->to, f->call->object->path, '\0');
	else
		fputs("???", m->to);
	if (f->file && f->line)
		fprintf(m->to, ":%u", f->line);
	fputs(")\n", m->to);
}

static void
put_branch(const struct massif *m, const struct branch *b)
{
	size_t small, unknown = 0;
	uint64_t small_bytes, unknown_bytes = 0;
	uint64_t rest = b->depth ? 0 : m->rest;
	size_t lines = count_below(m, b, &small, &small_bytes);

	if (!b->depth && b->to && !m->sites[0]->depth) {
		unknown = 1;
		unknown_bytes = bytes_of(m, 0);
	}
	fprintf(m->to, "%*sn%zu: %" PRIu64 " ", (int)b->depth, "",
	    lines + unknown + !!rest, b->bytes);
	if (b->depth)
		put_line_of(m, b);
	else
		fputs("(heap allocation functions) malloc/new/new[], "
		    "--alloc-fns, etc.\n", m->to);
	for (struct branch n = next_branch(m, b, b->from); n.bytes;
	    n = next_branch(m, b, n.to))
		if (!is_small(m, n.bytes))
			put_branch(m, &n);
	if (unknown)
		fprintf(m->to, " n0: %" PRIu64 " 0x0: (stack unknown)\n",
		    unknown_bytes);
	if (rest)
		fprintf(m->to, " n0: %" PRIu64 " 0x0: (in no site of the "
		    "sample)\n", rest);
	if (small)
		fprintf(m->to, "%*sn0: %" PRIu64 " in %zu place%s, %s below "
		    "massif's threshold (" THRESHOLD_TEXT ")\n",
		    (int)b->depth + 1, "", small_bytes, small,
		    small == 1 ? "" : "s", small == 1 ? "" : "all");
}

static void
put_tree(const struct massif *m)
{
	struct branch root = { 0, m->site_count, 0, m->p->peak_bytes.value };

	fputs("heap_tree=peak\n", m->to);
	put_branch(m, &root);
}

static void
put_snapshot(struct massif *m, double s, uint64_t bytes, uint64_t extra)
{
	if (!(s > m->last_s))
		s = m->last_s;
	m->last_s = s;
	fprintf(m->to, "#-----------\nsnapshot=%zu\n#-----------\n"
	    "time=%.6f\nmem_heap_B=%" PRIu64 "\nmem_heap_extra_B=%" PRIu64
	    "\nmem_stacks_B=0\n", m->snapshots++, 1000 * s, bytes, extra);
}

static void
put_peak(struct massif *m)
{
	const struct profile *p = m->p;

	put_snapshot(m, p->peak_s, p->peak_bytes.value, p->peak_extra_bytes);
	put_tree(m);
}

/* A spike that is neither at an end of its point nor the peak itself. */
static bool
is_spike(const struct massif *m, size_t i)
{
	const struct profile_point *point = m->p->timeline + i;
	uint64_t before = i ? point[-1].live_bytes : 0;

	return point->peak_bytes > point->live_bytes
	    && point->peak_bytes > before
	    && point->peak_bytes != m->p->peak_bytes.value;
}

/* Nothing happens before, in and after it: no viewer needs it. */
static bool
is_dull(const struct massif *m, size_t i)
{
	const struct profile_point *point = m->p->timeline + i;

	return i && i + 1 < m->p->point_count
	    && point[-1].live_bytes == point[1].peak_bytes
	    && point[-1].live_bytes == point[1].live_bytes
	    && point[-1].extra_bytes == point[1].extra_bytes
	    && point[-1].live_bytes == point->peak_bytes
	    && point[-1].live_bytes == point->live_bytes;
}

static void
put_points(struct massif *m)
{
	const struct profile *p = m->p;
	bool peak_shown = !p->peak_bytes.known;

	for (size_t i = 0; i < p->point_count; i++) {
		const struct profile_point *point = p->timeline + i;
		double end = i + 1 < p->point_count ? point[1].s
		    : p->timeline_end_s;

		if (!peak_shown && (!(p->peak_s > end)
		    || i + 1 == p->point_count)) {
			put_peak(m);
			peak_shown = true;
		}
		if (is_spike(m, i)) {
			put_snapshot(m, (point->s + end) / 2,
			    point->peak_bytes, point->extra_bytes);
			fputs("heap_tree=empty\n", m->to);
		}
		if (is_dull(m, i))
			continue;
		put_snapshot(m, end, point->live_bytes, point->extra_bytes);
		fputs("heap_tree=empty\n", m->to);
	}
}

void
render_massif(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct massif m = { .to = to, .p = list };
	char *command;

	(void)look;
	if (!count)
		return;
	find_sites(&m);
	command = render_command(list);
	fprintf(to, "desc: heaphook-report " PACKAGE_VERSION "\ncmd: %s\n"
	    "time_unit: ms\n", command);
	put_points(&m);
	free(command);
	free(m.sites);
}
