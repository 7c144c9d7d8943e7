/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "latency.h"
#include "part.h"
#include "replay.h"
#include "room.h"
#include "sites_change.h"
#include "timeline.h"

enum { MAX_MARKS = 10000 };

/* What is counted while the log is replayed. */
struct tally {
	struct profile *profile;
	struct reader *log;
	struct part part;
	bool begun;			/* before, only live bytes count */
	bool peaked;			/* of a sample: the peak is over, or
					 * looked for where all blocks are */
	uint64_t turn;			/* when one of them may be next */
	void (*progress)(void *, double);

	uint64_t frees, failed, unknown_frees;
	uint64_t live_blocks, peak_requested, live_requested, peak_usable;
	uint64_t live_extra;		/* usable, but not requested */
	uint64_t peak_extra, peak_ticks;
	uint64_t inherited_blocks, inherited_bytes;
	uint64_t mappings, mapped_bytes;
	uint64_t ticks;			/* of the last event */
	uint64_t marks;
	uint64_t sizes[PROFILE_SIZES];
	struct timeline timeline;
	bool has_sites;
	struct sites sites;
	struct latency *latency;	/* NULL: it was not recorded */
	struct profile_thread *threads;	/* from REPLAY_NO_THREAD on */
	size_t thread_room;
};

static void
inherited(void *who, const struct block *block)
{
	struct tally *t = who;

	if (t->part.chosen)
		return;
	t->inherited_blocks++;
	t->inherited_bytes += block->requested;
	t->live_blocks++;
	t->live_requested += block->requested;
	t->live_extra += block->excess;
	if (t->has_sites)
		sites_change(&t->sites, &(struct replay_step){
			.come = block, .ticks = t->log->head.h.start.ticks,
		}, t->sites.mean);
}

static void
begin(struct tally *t, uint64_t ticks)
{
	t->begun = true;
	t->peak_requested = t->live_requested;
	t->peak_usable = t->live_requested + t->live_extra;
	t->peak_extra = t->live_extra;
	t->peak_ticks = ticks;
	sites_peak(&t->sites);
	sites_begin(&t->sites, ticks);
	timeline_begin(&t->timeline, ticks, t->live_requested,
	    t->live_extra);
}

static __attribute__((noinline, cold)) void
more_threads(struct tally *t, uint32_t thread)
{
	size_t room = t->thread_room ? t->thread_room : 16;

	while (room <= thread)
		room *= 2;
	t->threads = room_grow(t->threads, room, sizeof *t->threads);
	memset(t->threads + t->thread_room, 0,
	    (room - t->thread_room) * sizeof *t->threads);
	t->thread_room = room;
}

static inline struct profile_thread *
thread_of(struct tally *t, uint32_t thread)
{
	thread -= REPLAY_NO_THREAD;
	if (thread >= t->thread_room)
		more_threads(t, thread);
	return t->threads + thread;
}

/* It may be more than 64 bits hold: a program can ask for much. */
static void
add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static inline void
note_peak(struct tally *t, uint64_t ticks)
{
	uint64_t usable = t->live_requested + t->live_extra;

	if (t->peak_usable < usable)
		t->peak_usable = usable;
	if (t->peak_requested >= t->live_requested)
		return;
	t->peak_requested = t->live_requested;
	t->peak_extra = t->live_extra;
	t->peak_ticks = ticks;
	if (!t->log->head.h.sample_bytes)
		sites_peak(&t->sites);
}

static inline void
count_come(struct tally *t, const struct block *block)
{
	struct profile_thread *thread = thread_of(t, block->owner);
	uint64_t size = block->requested;

	t->sizes[63 - __builtin_clzll(2 * size + 1)]++;
	thread->allocations++;
	add(&thread->allocated_bytes, size);
}

/* Of a part, what was freed is counted if it was of a thread of it. */
static inline void
count_free(struct tally *t, const struct replay_step *s)
{
	thread_of(t, s->thread)->frees++;
	if (!s->gone && t->part.chosen)
		return;
	t->frees++;
	t->unknown_frees += !s->gone;
}

static void
mark(struct tally *t, const struct replay_step *s)
{
	struct profile *p = t->profile;
	size_t n = p->mark_count;

	if (t->marks++ >= MAX_MARKS)
		return;
	if (!(n & (n - 1)))
		p->marks = room_grow(p->marks, n ? 2 * n : 1,
		    sizeof *p->marks);
	p->marks[p->mark_count++] = (struct profile_mark){
		.s = reader_seconds(t->log, s->ticks),
		.label = room_text(s->event->text, s->event->text_bytes),
	};
}

static void
count_rest(struct tally *t, const struct replay_step *s)
{
	const struct log_event *e = s->event;

	switch (e->kind) {
	case LOG_X_FAILED:
		t->failed += part_has(&t->part, s->thread);
		return;
	case LOG_X_MARK:
		mark(t, s);
		return;
	case LOG_X_MAP:
		if (e->call == LOG_CALL_MUNMAP)
			return;
		t->mappings++;
		add(&t->mapped_bytes, e->size);
		return;
	default:
		return;
	}
}

/* When all blocks of a program were most is not seen by a sample, but was
 * counted. */
static void
end_peak(struct tally *t)
{
	t->peaked = true;
	sites_peak(&t->sites);
}

static void
expect(void *who, const uint32_t *numbers, unsigned n)
{
	const struct tally *t = who;

	sites_expect(&t->sites, numbers, n);
}

/* What begins or ends by TICKS. */
static void
turn(struct tally *t, uint64_t ticks)
{
	uint64_t peak = t->log->head.h.peak_ticks;

	if (!t->begun && ticks >= t->part.from)
		begin(t, t->part.from);
	if (!t->peaked && ticks > peak)
		end_peak(t);
	t->turn = UINT64_MAX;
	if (!t->begun)
		t->turn = t->part.from;
	if (!t->peaked && t->turn > peak)
		t->turn = peak + 1;
}

/* Live bytes change at one instant by what came less what went: of S, which
 * is ALL or what of it is of the part. */
__attribute__((always_inline)) static inline void
count_step(struct tally *t, struct replay_step s,
    const struct replay_step *all, bool plain)
{
	if (s.ticks >= t->turn)
		turn(t, s.ticks);
	if (s.come) {
		t->live_blocks++;
		t->live_requested += s.come->requested;
		t->live_extra += s.come->excess;
	}
	if (s.gone) {
		t->live_blocks--;
		t->live_requested -= s.gone->requested;
		t->live_extra -= s.gone->excess;
	}
	t->ticks = s.ticks;
	if (t->has_sites)
		sites_change(&t->sites, &s, !plain && t->sites.mean);
	if (!t->begun)
		return;
	if (!plain && t->latency && part_has(&t->part, s.thread))
		latency_add(t->latency, all);
	timeline_add(&t->timeline, s.ticks, t->live_requested, t->live_extra);
	if (s.come) {
		note_peak(t, s.ticks);
		count_come(t, s.come);
	}
	if (s.freed)
		count_free(t, &s);
	else if (!s.come)
		count_rest(t, all);
}

static void
step(void *who, const struct replay_step *s)
{
	count_step(who, *s, s, true);
}

/* Of a sample, with latency, or without blocks that others allocated. */
static void
step_of_some(void *who, const struct replay_step *all)
{
	struct tally *t = who;
	struct replay_step s = *all;

	if (s.come && !part_has(&t->part, s.come->owner))
		s.come = NULL;
	if (s.gone && !part_has(&t->part, s.gone->owner))
		s.gone = NULL;
	count_step(t, s, all, false);
}

static void
progress(void *who, double done)
{
	struct tally *t = who;

	t->progress(t->profile, done);
}

static void
give_totals(struct profile *p, const struct tally *t)
{
	uint64_t allocations = 0, bytes = 0;

	for (size_t i = 0; i < t->thread_room; i++) {
		allocations += t->threads[i].allocations;
		add(&bytes, t->threads[i].allocated_bytes);
	}
	p->allocations = facts_known(allocations);
	p->frees = facts_known(t->frees);
	p->failed = facts_known(t->failed);
	p->allocated_bytes = facts_known(bytes);
	p->peak_bytes = facts_known(t->peak_requested);
	p->peak_usable_bytes = facts_known(t->peak_usable);
	p->peak_extra_bytes = t->peak_extra;
	p->peak_s = reader_seconds(t->log, t->peak_ticks);
	p->peak_error_bytes = facts_known(0);
	p->live_blocks = facts_known(t->live_blocks);
	p->live_bytes = facts_known(t->live_requested);
	p->live_usable_bytes = facts_known(t->live_requested + t->live_extra);
	p->unknown_frees = facts_known(t->unknown_frees);
	p->inherited_blocks = facts_known(t->inherited_blocks);
	p->inherited_bytes = facts_known(t->inherited_bytes);
	p->mappings = facts_known(t->mappings);
	p->mapped_bytes = facts_known(t->mapped_bytes);
}

static void
give_sizes(struct profile *p, const struct tally *t)
{
	p->has_sizes = true;
	for (unsigned i = 0; i < PROFILE_SIZES; i++) {
		uint64_t from = i ? UINT64_C(1) << (i - 1) : 0;

		if (t->sizes[i])
			p->sizes[p->size_count++] = (struct profile_size){
				from, i ? from - 1 + from : 0, t->sizes[i],
			};
	}
}

static void
give_timeline(struct profile *p, const struct tally *t)
{
	const struct timeline *line = &t->timeline;

	p->timeline = room_new(line->at + 1, sizeof *p->timeline);
	for (; p->point_count <= line->at; p->point_count++) {
		const struct timeline_point *point =
		    line->points + p->point_count;

		p->timeline[p->point_count] = (struct profile_point){
			.s = reader_seconds(t->log, line->start
			    + p->point_count * line->width),
			.live_bytes = point->live,
			.peak_bytes = point->peak,
			.extra_bytes = point->beside,
		};
	}
}

static void
give_threads(struct profile *p, struct tally *t, const struct threads *known)
{
	p->threads = room_new(known->count, sizeof *p->threads);
	for (size_t i = 0; i < known->count; i++) {
		struct profile_thread *to = p->threads + p->thread_count;

		if (!part_has(&t->part, (uint32_t)i))
			continue;
		p->thread_count++;
		*to = *thread_of(t, (uint32_t)i);
		to->tid = known->list[i].tid;
		memcpy(to->name, known->list[i].name, sizeof to->name);
	}
}

/* When the process ended or, unknown, was last heard of. */
static uint64_t
end_of(const struct tally *t)
{
	const struct log_header *h = &t->log->head.h;
	uint64_t now = h->now[h->now_index].ticks;

	if (h->end_ticks)
		return h->end_ticks;
	return t->ticks > now ? t->ticks : now;
}

static void
give(struct profile *p, struct tally *t, const struct threads *threads,
    uint64_t end)
{
	if (!p->sample_bytes.known) {
		p->elapsed_s = reader_seconds(t->log, end_of(t));
		give_totals(p, t);
		give_sizes(p, t);
		give_timeline(p, t);
		give_threads(p, t, threads);
	}
	if (t->has_sites)
		sites_give(p, &t->sites, t->ticks < end ? end : t->ticks,
		    reader_ticks_per_s(t->log));
	if (t->latency)
		latency_give(p, t->latency, t->log, threads);
	if (t->marks > MAX_MARKS)
		problems_note(&t->log->problems, "only the first %d marks are "
		    "kept", MAX_MARKS);
}

static void
count_events(struct profile *p, struct reader *log,
    const struct profile_part *part, void (*show_progress)(void *, double))
{
	struct tally t = {
		.profile = p, .log = log, .progress = show_progress,
		.has_sites = log->head.h.stack_depth,
		.peaked = !log->head.h.sample_bytes,
	};
	struct replay_watch watch = {
		.who = &t, .inherited = inherited, .step = step,
		.expect = expect,
		.progress = show_progress ? progress : NULL,
	};
	struct replay r;
	uint64_t end;

	if (t.has_sites) {
		sites_init(&t.sites);
		t.sites.mean = p->sample_bytes.value;
		watch.stacks = &t.sites.stacks;
	}
	if (log->head.h.took_units)
		t.latency = room_new(1, sizeof *t.latency);
	part_find(&t.part, log, part);
	if (t.part.chosen || t.sites.mean || t.latency)
		watch.step = step_of_some;
	watch.until = part_end(&t.part, log);
	replay_run(&r, log, &watch);
	end = end_of(&t) < watch.until ? end_of(&t) : watch.until;
	if (log->head.h.stop && log->head.h.stop_ticks < end)
		end = log->head.h.stop_ticks;
	p->stopped = log->head.h.stop && end == log->head.h.stop_ticks;
	p->stopped_s = reader_seconds(log, end);
	if (!t.begun)
		begin(&t, t.part.from < end ? t.part.from : end);
	if (!t.peaked)
		end_peak(&t);
	if (end > t.timeline.start)
		timeline_add(&t.timeline, end, t.live_requested,
		    t.live_extra);
	p->timeline_end_s = reader_seconds(log, end);
	give(p, &t, &r.threads, end);
	replay_free(&r);
	if (t.has_sites)
		sites_free(&t.sites);
	free(t.latency);
	free(t.threads);
	part_free(&t.part);
}

void
profile_make(struct profile *p, struct reader *log,
    const struct profile_part *part, void (*show_progress)(void *, double))
{
	bool all = !part->thread && part->from_s <= 0 && isinf(part->to_s);

	*p = (struct profile){ .elapsed_s = NAN, .peak_s = NAN };
	facts_identity(p, log);
	if (log->head.h.mode == LOG_SUMMARY)
		facts_summary(p, log);
	else
		count_events(p, log, part, show_progress);
	if (p->sample_bytes.known)
		facts_summary(p, log);
	else if (log->head.h.mode == LOG_EVENTS && log->head.h.stop && all)
		facts_stopped(p, log);
	if (log->head.h.mode == LOG_EVENTS && log->head.h.slots
	    && !log->slot_count)
		facts_bare(p, log);
	if (p->sample_bytes.known && !all)
		problems_note(&log->problems, "only sites, by the blocks of "
		    "its sample, are those that --from, --to and --thread "
		    "choose");
	if (log->head.h.mode == LOG_SUMMARY && !all)
		problems_note(&log->problems, "it has no events, so these are "
		    "figures of the whole of it: --from, --to and --thread "
		    "choose events");
	facts_problems(p, log);
}

static void
free_texts(struct profile_texts *t)
{
	while (t->count)
		free(t->list[--t->count]);
	free(t->list);
}

static void
free_sites(struct profile *p)
{
	for (size_t i = 0; i < p->site_count; i++)
		free(p->sites[i].stack);
	for (size_t i = 0; i < p->call_count; i++)
		free(p->calls[i].frames);
	for (size_t i = 0; i < p->object_count; i++)
		free(p->objects[i].path);
	free(p->sites);
	free(p->errors);
	free(p->tree);
	free(p->site_frames);
	free(p->calls);
	free(p->objects);
}

void
profile_free(struct profile *p)
{
	free(p->path);
	free(p->exe);
	free(p->cwd);
	free(p->host);
	free(p->allocator);
	free_texts(&p->argv);
	free_texts(&p->problems);
	while (p->mark_count)
		free(p->marks[--p->mark_count].label);
	free(p->marks);
	free(p->threads);
	free(p->timeline);
	free(p->latency);
	free(p->slowest);
	free_sites(p);
}
