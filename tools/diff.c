/* SPDX-License-Identifier: Apache-2.0 */
#include "diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "room.h"
#include "signature.h"

#define BYTES(name, title) \
	{ #name, title, true, offsetof(struct profile, name) }
#define COUNT(name, title) \
	{ #name, title, false, offsetof(struct profile, name) }

const struct diff_total diff_totals[] = {
	BYTES(peak_bytes, "peak"),
	BYTES(peak_usable_bytes, "peak, usable"),
	BYTES(live_bytes, "live at end"),
	BYTES(live_usable_bytes, "live, usable"),
	COUNT(live_blocks, "live blocks"),
	COUNT(allocations, "allocations"),
	BYTES(allocated_bytes, "in all"),
	COUNT(frees, "frees"),
	COUNT(failed, "failed"),
	{ NULL, NULL, false, 0 }
};

/* A site by what tells it from others. */
struct keyed {
	char *key;
	const struct profile_site *site;
	struct diff_site *of;		/* NULL, or all that are the same */
	bool now;
};

/* Whether OTHER has the very build of O: then addresses compare. */
static bool
is_same_build(const struct profile_object *o, const struct profile *other)
{
	for (size_t i = 0; o->build_id_bytes && i < other->object_count; i++) {
		const struct profile_object *x = other->objects + i;

		if (x->build_id_bytes == o->build_id_bytes
		    && !memcmp(x->build_id, o->build_id, o->build_id_bytes))
			return true;
	}
	return false;
}

/* The program may be called otherwise, and so may folders. */
static void
put_key(FILE *to, const struct profile *p, const struct profile *other,
    const struct profile_frame *f, bool loose)
{
	const struct profile_object *o = f->call->object;
	const char *path = o && o->path ? o->path : "?";
	char *cut = loose && f->function ? signature_loose(f->function) : NULL;

	if (p->exe && !strcmp(path, p->exe))
		path = "";
	fprintf(to, "%s\n%s\n%s\n", names_last(path),
	    f->file ? names_last(f->file) : "",
	    cut ? cut : f->function ? f->function : "");
	free(cut);
	if (!f->function && o && is_same_build(o, other))
		fprintf(to, "%" PRIx64 "\n", f->call->address);
}

static char *
key_of(const struct profile *p, const struct profile *other,
    const struct profile_site *site, bool loose)
{
	char *key = NULL;
	size_t bytes;
	FILE *to = open_memstream(&key, &bytes);

	if (!to)
		room_none();
	for (unsigned i = 0; i < site->depth; i++)
		put_key(to, p, other, site->stack[i], loose);
	if (fclose(to))
		room_none();
	return key;
}

static size_t
key_sites(struct keyed *to, const struct profile *p,
    const struct profile *other, bool now)
{
	for (size_t i = 0; i < p->site_count; i++)
		to[i] = (struct keyed){
			key_of(p, other, p->sites + i, false), p->sites + i,
			NULL, now,
		};
	return p->site_count;
}

/* Of those that are the same, the sites of now come first. */
static int
by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	if (x->now != y->now)
		return x->now ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static void
add(struct profile_site *sum, const struct profile_site *site)
{
	sum->allocations += site->allocations;
	sum->allocated_bytes += site->allocated_bytes;
	sum->temporary += site->temporary;
	sum->live_blocks += site->live_blocks;
	sum->live_bytes += site->live_bytes;
	sum->peak_blocks += site->peak_blocks;
	sum->peak_bytes += site->peak_bytes;
}

static void
match(struct diff *d, struct keyed *list, size_t count)
{
	struct diff_site *site = NULL;

	qsort(list, count, sizeof *list, by_key);
	d->sites = room_new(count, sizeof *d->sites);
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(list[i - 1].key, list[i].key)) {
			site = d->sites + d->site_count++;
			*site = (struct diff_site){
				.shown = list[i].site,
				.is_new = true, .is_gone = true,
			};
		}
		if (list[i].now)
			site->is_gone = false;
		else
			site->is_new = false;
		add(list[i].now ? &site->now : &site->before, list[i].site);
	}
}

/* The first becomes all of them, and the others nothing. */
static void
merge(struct keyed *first, const struct keyed *end)
{
	struct diff_site *to = first->of;

	for (const struct keyed *k = first + 1; k < end; k++) {
		add(&to->now, &k->of->now);
		add(&to->before, &k->of->before);
		k->of->is_new = k->of->is_gone = true;
	}
	to->is_new = to->is_gone = false;
}

static void
merge_groups(struct keyed *list, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count
		    && !strcmp(list[i].key, list[end].key);)
			end++;
		if (list[i].now && !list[end - 1].now)
			merge(list + i, list + end);
	}
}

/* A compiler may call a function otherwise once it is inlined. */
static void
match_loosely(struct diff *d)
{
	struct keyed *list = room_new(d->site_count, sizeof *list);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < d->site_count; i++) {
		struct diff_site *s = d->sites + i;
		const struct profile *p = s->is_gone ? d->before : d->now;
		const struct profile *other = s->is_gone ? d->now : d->before;

		if (s->is_new || s->is_gone)
			list[n++] = (struct keyed){
				key_of(p, other, s->shown, true), s->shown, s,
				s->is_new,
			};
	}
	qsort(list, n, sizeof *list, by_key);
	merge_groups(list, n);
	while (n)
		free(list[--n].key);
	free(list);
	for (size_t i = 0; i < d->site_count; i++)
		if (!d->sites[i].is_new || !d->sites[i].is_gone)
			d->sites[kept++] = d->sites[i];
	d->site_count = kept;
}

static uint64_t
change_of(const struct diff_site *s, const struct order_column *c)
{
	uint64_t before = order_value(&s->before, c);
	uint64_t now = order_value(&s->now, c);

	return now > before ? now - before : before - now;
}

static int
by_change(const void *a, const void *b, void *order)
{
	const struct diff_site *x = a, *y = b;
	const struct order *r = order;
	uint64_t i = change_of(x, &r->by), j = change_of(y, &r->by);

	if (i == j) {
		i = change_of(x, &r->beside);
		j = change_of(y, &r->beside);
	}
	if (i != j)
		return i < j ? 1 : -1;
	if (x->is_gone != y->is_gone)
		return x->is_gone ? 1 : -1;
	return (x->shown > y->shown) - (x->shown < y->shown);
}

static void
compare_sites(struct diff *d, const struct order *order)
{
	size_t most = d->before->site_count + d->now->site_count, n;
	struct keyed *list = room_new(most, sizeof *list);

	n = key_sites(list, d->now, d->before, true);
	n += key_sites(list + n, d->before, d->now, false);
	match(d, list, n);
	match_loosely(d);
	while (n)
		free(list[--n].key);
	free(list);
	if (d->site_count)
		qsort_r(d->sites, d->site_count, sizeof *d->sites, by_change,
		    (void *)order);
}

static void
compare_sizes(struct diff *d)
{
	const struct profile_size *b = d->before->sizes, *n = d->now->sizes;
	const struct profile_size *b_end = b + d->before->size_count;
	const struct profile_size *n_end = n + d->now->size_count;

	while (b < b_end || n < n_end) {
		bool old = n == n_end || (b < b_end && b->from <= n->from);
		bool new = b == b_end || (n < n_end && n->from <= b->from);
		const struct profile_size *any = old ? b : n;

		d->sizes[d->size_count++] = (struct diff_size){
			any->from, any->to, old ? b->allocations : 0,
			new ? n->allocations : 0,
		};
		b += old;
		n += new;
	}
}

void
diff_make(struct diff *d, const struct profile *before,
    const struct profile *now, const struct order *order)
{
	*d = (struct diff){ .before = before, .now = now };
	d->has_sites = before->has_sites && now->has_sites;
	if (before->has_sizes && now->has_sizes)
		compare_sizes(d);
	if (d->has_sites)
		compare_sites(d, order);
}

size_t
diff_changed(const struct diff *d, const struct order_column *by)
{
	size_t count = 0;

	while (count < d->site_count
	    && order_value(&d->sites[count].before, by)
	    != order_value(&d->sites[count].now, by))
		count++;
	return count;
}

void
diff_free(struct diff *d)
{
	free(d->sites);
}
