/* SPDX-License-Identifier: Apache-2.0 */
/* Sites in the order of their stacks, outermost call first: those that have
 * their first N calls in common lie together, and are one box of row N. */
#include "flames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render_util.h"
#include "room.h"

/* What is narrower than one of these is folded. */
enum { PARTS = 1000 };

struct work {
	struct flames *f;
	const struct profile *p;
	const struct order_column *by;
	uint32_t *first;	/* of render_frames */
	uint32_t *ids;		/* of the name of each frame */
	const struct profile_site **sites;
	size_t site_count;
	uint64_t least;		/* that a box has */
};

/* Sites that have a call in common. */
struct run {
	size_t first, end;	/* in work.sites */
	uint64_t value;
	uint32_t id;
};

struct named {
	char *name;
	uint32_t frame;
};

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name,
	    ((const struct named *)b)->name);
}

/* A copy that can be shown. */
static char *
clean_name(const struct profile_frame *frame)
{
	char room[RENDER_NAME], *name = NULL;
	size_t bytes;
	FILE *to = open_memstream(&name, &bytes);

	if (!to)
		room_none();
	render_line(to, render_name(frame, room), '\0');
	if (fclose(to))
		room_none();
	return name;
}

/* Of every frame; the first is the unknown.  Returns how many. */
static size_t
list_names(const struct work *w, struct named *list)
{
	const struct profile *p = w->p;
	size_t count = 0;

	list[count++] = (struct named){ clean_name(NULL), 0 };
	for (size_t i = 0; i < p->call_count; i++)
		for (unsigned k = 0; k < p->calls[i].frame_count; k++)
			list[count++] = (struct named){
				clean_name(p->calls[i].frames + k),
				w->first[i] + k,
			};
	return count;
}

/* Functions of one name are one function: ids are in the order of names. */
static void
number_names(struct work *w)
{
	size_t most = (size_t)w->first[w->p->call_count] + 1, count;
	struct named *list = room_new(most, sizeof *list);
	struct flames *f = w->f;

	w->ids = room_new(most, sizeof *w->ids);
	f->names = room_new(most, sizeof *f->names);
	count = list_names(w, list);
	qsort(list, count, sizeof *list, by_name);
	for (size_t i = 0; i < count; i++) {
		bool again = i && !strcmp(list[i].name,
		    f->names[f->name_count - 1]);

		if (again)
			free(list[i].name);
		else
			f->names[f->name_count++] = list[i].name;
		w->ids[list[i].frame] = (uint32_t)f->name_count - 1;
	}
	free(list);
}

/* A stack that is unknown has one call, which is unknown. */
static unsigned
length_of(const struct profile_site *site)
{
	return site->depth ? site->depth : 1;
}

static uint32_t
id_at(const struct work *w, const struct profile_site *site, unsigned row)
{
	return w->ids[site->depth ? render_frame(w->p, w->first,
	    site->stack[site->depth - 1 - row]) : 0];
}

static int
by_stack(const void *a, const void *b, void *work)
{
	const struct work *w = work;
	const struct profile_site *x = *(const struct profile_site *const *)a;
	const struct profile_site *y = *(const struct profile_site *const *)b;
	unsigned m = length_of(x), n = length_of(y);

	for (unsigned row = 0; row < m && row < n; row++) {
		uint32_t i = id_at(w, x, row), j = id_at(w, y, row);

		if (i != j)
			return i < j ? -1 : 1;
	}
	return (m > n) - (m < n);
}

static void
list_sites(struct work *w, bool leaks)
{
	w->sites = room_new(w->p->site_count, sizeof *w->sites);
	for (size_t i = 0; i < w->p->site_count; i++) {
		const struct profile_site *site = w->p->sites + i;
		uint64_t value = order_value(site, w->by);

		if (!value || (leaks && site->suppressed))
			continue;
		w->sites[w->site_count++] = site;
		w->f->total += value;
	}
	qsort_r(w->sites, w->site_count, sizeof *w->sites, by_stack, w);
}

/* Of any bytes the same number, whatever the machine. */
static unsigned
color_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash ^ hash >> 16) % FLAMES_COLORS;
}

static void
add(struct flames *f, const struct flames_box *box)
{
	if (f->count == f->room) {
		f->room = f->room ? 2 * f->room : 256;
		f->boxes = room_grow(f->boxes, f->room, sizeof *f->boxes);
	}
	f->boxes[f->count++] = *box;
	if (f->rows <= box->row)
		f->rows = box->row + 1;
}

static int
by_value(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Those of the sites IN that call something at DEPTH, by what they call;
 * most first.  The caller frees them. */
static struct run *
split(const struct work *w, const struct run *in, unsigned depth,
    size_t *count)
{
	struct run *runs = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = in->first; i < in->end; i++) {
		const struct profile_site *site = w->sites[i];
		uint32_t id;

		if (length_of(site) <= depth)
			continue;
		id = id_at(w, site, depth);
		if (!*count || runs[*count - 1].id != id) {
			if (*count == room) {
				room = room ? 2 * room : 4;
				runs = room_grow(runs, room, sizeof *runs);
			}
			runs[(*count)++] = (struct run){ i, i, 0, id };
		}
		runs[*count - 1].value += order_value(site, w->by);
		runs[*count - 1].end = i + 1;
	}
	if (*count)
		qsort(runs, *count, sizeof *runs, by_value);
	return runs;
}

/* What the sites IN have below row DEPTH, which begins at FROM. */
static void
lay(struct work *w, const struct run *in, unsigned depth, uint64_t from)
{
	uint64_t least = depth + 2 < FLAMES_ROWS ? w->least : UINT64_MAX;
	struct flames_box folded = {
		.row = depth + 1, .color = FLAMES_FOLDED,
	};
	size_t count;
	struct run *runs = split(w, in, depth, &count);

	for (size_t i = 0; i < count; i++) {
		const struct run *r = runs + i;
		const char *name = w->f->names[r->id];

		if (r->value < least) {
			folded.folded++;
			folded.value += r->value;
			continue;
		}
		add(w->f, &(struct flames_box){ .name = name, .from = from,
		    .value = r->value, .row = depth + 1,
		    .color = color_of(name) });
		lay(w, r, depth + 1, from);
		from += r->value;
	}
	folded.from = from;
	if (folded.folded)
		add(w->f, &folded);
	free(runs);
}

static void
lay_all(struct work *w)
{
	struct flames *f = w->f;
	const struct run all = { .end = w->site_count };

	f->count = f->rows = 0;
	add(f, &(struct flames_box){ .name = "all", .value = f->total,
	    .color = FLAMES_ROOT });
	lay(w, &all, 0, 0);
}

void
flames_make(struct flames *f, const struct profile *p,
    const struct order *order, bool leaks)
{
	struct work w = { .f = f, .p = p, .by = &order->by };

	*f = (struct flames){ 0 };
	if (!p->has_sites || !p->site_count)
		return;
	w.first = render_frames(p);
	number_names(&w);
	list_sites(&w, leaks);
	w.least = f->total / PARTS + (f->total % PARTS != 0);
	if (f->total)
		lay_all(&w);
	for (; f->count > FLAMES_BOXES; w.least *= 2)
		lay_all(&w);
	free(w.sites);
	free(w.ids);
	free(w.first);
}

void
flames_free(struct flames *f)
{
	for (size_t i = 0; i < f->name_count; i++)
		free(f->names[i]);
	free(f->names);
	free(f->boxes);
}

const char *
flames_label(const struct flames_box *box, char room[FLAMES_LABEL])
{
	if (box->name)
		return box->name;
	snprintf(room, FLAMES_LABEL, "%zu more", box->folded);
	return room;
}
