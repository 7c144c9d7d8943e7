/* SPDX-License-Identifier: Apache-2.0 */
#include "lineage.h"

#include <stdlib.h>
#include <string.h>

#include "origin.h"
#include "room.h"

enum { MAX_ANCESTORS = 64 };

/* A parent, up to the fork of a child. */
struct past {
	struct reader log;
	struct replay replay;
	struct stacks stacks;		/* if the replay has some */
	struct stream_place *cuts;	/* how far it is */
};

static struct past *kept;

static void
forget(struct past *p)
{
	if (!p)
		return;
	replay_end(&p->replay);
	replay_free(&p->replay);
	if (p->replay.stacks)
		stacks_free(&p->stacks);
	reader_close(&p->log);
	free(p->cuts);
	free(p);
}

/* Whether A has all that B has, which was just opened. */
static bool
is_same(const struct reader *a, const struct reader *b)
{
	return !strcmp(a->path, b->path) && a->bytes == b->bytes
	    && a->changed.tv_sec == b->changed.tv_sec
	    && a->changed.tv_nsec == b->changed.tv_nsec
	    && a->state != READER_RUNNING && b->state != READER_RUNNING;
}

static bool
is_behind(const struct stream_place *a, const struct stream_place *b,
    size_t slots)
{
	for (size_t i = 0; i < slots; i++)
		if (stream_is_before(a[i], b[i]))
			return true;
	return false;
}

/* What handlers did is put in where they interrupted: such a replay cannot
 * be held anywhere else. */
static bool
can_go_on(const struct past *p, const struct reader *log,
    const struct stream_place *cuts, bool stacks)
{
	return p && !p->replay.merge.streams.splice_count
	    && stacks == (p->replay.stacks != NULL) && is_same(&p->log, log)
	    && !is_behind(cuts, p->cuts, log->slot_count);
}

static void inherit(struct replay *r, struct reader *log, unsigned depth);

/* Takes over ORIGIN and CUTS. */
static struct past *
begin(const struct reader *origin, struct stream_place *cuts, bool stacks,
    unsigned depth)
{
	struct past *p = room_new(1, sizeof *p);

	p->log = *origin;
	p->cuts = cuts;
	if (stacks)
		stacks_init(&p->stacks);
	replay_init(&p->replay, stacks ? &p->stacks : NULL);
	inherit(&p->replay, &p->log, depth);
	replay_begin(&p->replay, &p->log, cuts);
	return p;
}

static void
go_on(struct past *p, struct stream_place *cuts)
{
	merge_go_on(&p->replay.merge, cuts);
	free(p->cuts);
	p->cuts = cuts;
}

/* R gets what P has, settled; P stays as it is. */
static void
give(struct replay *r, const struct past *p)
{
	size_t slots = p->log.slot_count;
	struct replay copy = p->replay;

	copy.transit = room_new(slots, sizeof *copy.transit);
	memcpy(copy.transit, p->replay.transit, slots * sizeof *copy.transit);
	blocks_free(&r->blocks);
	copy.blocks = blocks_copy(&p->replay.blocks);
	copy.stacks = r->stacks;
	if (r->stacks) {
		stacks_free(r->stacks);
		stacks_copy(r->stacks, &p->stacks);
	}
	replay_settle(&copy);
	free(copy.transit);
	r->blocks = copy.blocks;
	r->recent = copy.recent;
}

/* What LOG's process began with is known by the events of P, if they had not
 * ended, and are sound. */
static void
doubt(const struct past *p, struct reader *log)
{
	const struct log_header *h = &p->log.head.h;

	if (h->stop && h->stop_ticks <= log->head.h.start.ticks)
		problems_note(&log->problems, "events of process %d, which it "
		    "was forked from, had ended: inherited blocks are those "
		    "of then", (int)h->pid);
	if (p->log.problems.kept)
		problems_note(&log->problems, "the log of process %d, which "
		    "it was forked from, has problems: inherited blocks may "
		    "be wrong", (int)h->pid);
}

static void
inherit(struct replay *r, struct reader *log, unsigned depth)
{
	struct past *p = depth ? NULL : kept;
	struct stream_place *cuts;
	struct reader origin;

	if (!origin_is_told(log))
		return;
	if (depth == MAX_ANCESTORS) {
		problems_note(&log->problems, "more than %d ancestors: what "
		    "came from the first is unknown", MAX_ANCESTORS);
		return;
	}
	if (!origin_open(&origin, log))
		return;
	cuts = stream_inherited(log, &origin);
	if (can_go_on(p, &origin, cuts, r->stacks)) {
		reader_close(&origin);
		go_on(p, cuts);
	} else {
		forget(p);
		p = begin(&origin, cuts, r->stacks, depth + 1);
	}
	replay_play(&p->replay);
	give(r, p);
	doubt(p, log);
	if (depth)
		forget(p);
	else
		kept = p;
}

void
lineage_inherit(struct replay *r, struct reader *log)
{
	inherit(r, log, 0);
}
