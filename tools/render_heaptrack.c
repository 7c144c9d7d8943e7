/* SPDX-License-Identifier: Apache-2.0 */
/* For heaptrack_print and heaptrack_gui: version 3 of what heaptrack itself
 * makes of its recordings.
 *
 * Strings, calls and stacks have the numbers that they have in the profile;
 * then come the events, one line each.  Of a block only the stack and the
 * size are said, as an "info", and a free says that of its block.  What is
 * freed as the last that was allocated is temporary to heaptrack: if it is
 * not to us, as with what realloc replaces, it goes by an info of its own,
 * which says the same. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"
#include "reader.h"
#include "render_util.h"
#include "replay.h"
#include "room.h"
#include "sites_change.h"
#include "texts.h"

struct head {
	FILE *to;
	struct texts texts;
};

/* The number of TEXT, after it was put if it is new; 0: none. */
static uint32_t
text(struct head *h, const char *t)
{
	size_t had = h->texts.count;
	uint32_t number;

	if (!t)
		return 0;
	number = texts_number(&h->texts, t);
	if (h->texts.count != had) {
		fprintf(h->to, "s %zx ", strlen(t));
		render_line(h->to, t, '\0');
		fputc('\n', h->to);
	}
	return number;
}

static void
put_call(struct head *h, const struct profile_call *c)
{
	const char *path = c->object ? c->object->path : NULL;
	uint32_t *numbers = room_new(c->frame_count, 2 * sizeof *numbers);
	uint32_t module = text(h, path);
	char room[RENDER_NAME];

	for (unsigned i = 0; i < c->frame_count; i++) {
		const struct profile_frame *f = c->frames + i;

		numbers[2 * i] = text(h, render_name(f, room));
		numbers[2 * i + 1] = text(h, f->file);
	}
	fprintf(h->to, "i %" PRIx64 " %" PRIx32, c->address, module);
	for (unsigned i = 0; i < c->frame_count; i++)
		fprintf(h->to, " %" PRIx32 " %" PRIx32 " %x", numbers[2 * i],
		    numbers[2 * i + 1], c->frames[i].line);
	fputc('\n', h->to);
	free(numbers);
}

/* The unknown stack comes behind all others, and the unknown call. */
static void
put_unknown(struct head *h, const struct profile *p)
{
	char room[RENDER_NAME];
	uint32_t name = text(h, render_name(NULL, room));

	fprintf(h->to, "i 0 0 %" PRIx32 " 0 0\nt %zx 0\n", name,
	    p->call_count ? p->call_count : 1);
}

void
render_heaptrack(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct head h = { .to = to };
	char *command;

	(void)look;
	if (!count)
		return;
	command = render_command(list);
	fprintf(to, "v 10400 3\nX %s\n", command);
	for (size_t i = 1; i < list->call_count; i++)
		put_call(&h, list->calls + i);
	for (size_t i = 1; i < list->tree_count; i++)
		fprintf(to, "t %" PRIx32 " %" PRIx32 "\n", list->tree[i].call,
		    list->tree[i].caller);
	put_unknown(&h, list);
	free(command);
	texts_free(&h.texts);
}

struct info {
	uint64_t size;
	uint32_t trace;
	bool twin;
	uint32_t number;	/* 0: the place is free */
};

struct events {
	FILE *to;
	const struct profile *p;
	struct reader *log;
	struct part part;
	struct sites sites;	/* they know what is temporary */
	void (*progress)(void *, double);
	struct info *infos;	/* by hash */
	size_t mask;
	uint32_t count;
	uint32_t last;		/* info of the last event, if it came */
	uint64_t ms;
};

static size_t
hash(const struct info *i)
{
	uint64_t h = (i->size * 2 + i->twin) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32 ^ i->trace) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h ^ h >> 32);
}

static struct info *
place_of(const struct events *e, const struct info *key)
{
	size_t at = hash(key) & e->mask;

	while (e->infos[at].number && (e->infos[at].size != key->size
	    || e->infos[at].trace != key->trace
	    || e->infos[at].twin != key->twin))
		at = (at + 1) & e->mask;
	return e->infos + at;
}

static void
grow(struct events *e)
{
	struct info *old = e->infos;
	size_t count = old ? e->mask + 1 : 0;

	e->mask = count ? 2 * count - 1 : 1023;
	e->infos = room_new(e->mask + 1, sizeof *e->infos);
	for (size_t i = 0; i < count; i++)
		if (old[i].number)
			*place_of(e, old + i) = old[i];
	free(old);
}

static uint32_t
trace_of(const struct events *e, const struct block *b)
{
	uint32_t frame = b->site < e->p->site_frame_count
	    ? e->p->site_frames[b->site] : 0;
	uint32_t unknown = e->p->tree_count ? (uint32_t)e->p->tree_count : 1;

	return frame ? frame : unknown;
}

static uint32_t
info(struct events *e, const struct block *b, bool twin)
{
	struct info key = { b->requested, trace_of(e, b), twin, 0 }, *place;

	if (2 * (size_t)e->count >= e->mask)
		grow(e);
	place = place_of(e, &key);
	if (!place->number) {
		key.number = ++e->count;
		*place = key;
		fprintf(e->to, "a %" PRIx64 " %" PRIx32 "\n", key.size,
		    key.trace);
	}
	return place->number;
}

static void
put_time(struct events *e, uint64_t ticks)
{
	double ms = reader_seconds(e->log, ticks) * 1000;

	if (!(ms >= (double)e->ms + 1))
		return;
	e->ms = (uint64_t)ms;
	fprintf(e->to, "c %" PRIx64 "\n", e->ms);
}

/* A line "WHAT NUMBER": nearly all are of this kind. */
static void
put_event(struct events *e, char what, uint32_t number)
{
	char line[16], *end = line + sizeof line, *at = end;

	*--at = '\n';
	do
		*--at = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	*--at = ' ';
	*--at = what;
	fwrite(at, 1, (size_t)(end - at), e->to);
}

static void
put_come(struct events *e, const struct block *b)
{
	e->last = info(e, b, false);
	put_event(e, '+', e->last);
}

static void
put_gone(struct events *e, const struct block *b, bool temporary)
{
	uint32_t number = info(e, b, false);

	if (number == e->last && !temporary)
		number = info(e, b, true);
	put_event(e, '-', number);
	e->last = 0;
}

static void
step(void *who, const struct replay_step *s)
{
	struct events *e = who;
	bool came = s->come && part_has(&e->part, s->come->owner);
	bool went = s->gone && part_has(&e->part, s->gone->owner);
	bool temporary;

	if (!came && !went)
		return;
	if (came)
		sites_remember(&e->sites, s->come);
	temporary = went && s->freed && sites_was_newest(&e->sites, s);
	put_time(e, s->ticks);
	if (went)
		put_gone(e, s->gone, temporary);
	if (came)
		put_come(e, s->come);
}

static void
inherited(void *who, const struct block *block)
{
	struct events *e = who;

	if (!e->part.chosen)
		put_come(e, block);
}

static void
progress(void *who, double done)
{
	struct events *e = who;

	e->progress(e, done);
}

void
render_heaptrack_events(FILE *to, const struct profile *p,
    struct reader *log, const struct profile_part *part,
    void (*show_progress)(void *, double))
{
	struct events e = {
		.to = to, .p = p, .log = log, .progress = show_progress,
	};
	struct replay_watch watch = {
		.who = &e, .inherited = inherited, .step = step,
		.progress = show_progress ? progress : NULL,
		.stacks = &e.sites.stacks,
	};
	struct replay r;

	grow(&e);
	sites_init(&e.sites);
	part_find(&e.part, log, part);
	watch.until = part_end(&e.part, log);
	/* Infos are numbered from 0, which to heaptrack is also none. */
	fputs("a 0 0\n", to);
	replay_run(&r, log, &watch);
	if (isfinite(p->timeline_end_s)
	    && p->timeline_end_s * 1000 >= (double)e.ms)
		fprintf(to, "c %" PRIx64 "\n",
		    (uint64_t)(p->timeline_end_s * 1000));
	replay_free(&r);
	part_free(&e.part);
	sites_free(&e.sites);
	free(e.infos);
}
