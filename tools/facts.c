/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "room.h"

static struct profile_number
at_least(int64_t value, int64_t least)
{
	return (struct profile_number){
		value >= least, value >= least ? (uint64_t)value : 0
	};
}

static uint64_t
not_negative(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

static char *
text_or_null(const char *text)
{
	return text && *text ? room_text(text, LOG_TEXT_BYTES) : NULL;
}

static void
add_text(struct profile_texts *t, char *text)
{
	t->list = room_grow(t->list, t->count + 1, sizeof *t->list);
	t->list[t->count++] = text;
}

/* argc texts, one after the other, and no more than the area holds. */
static void
set_argv(struct profile *p, const struct reader *log)
{
	const struct log_header *h = &log->head.h;
	const char *end = log->head.text + LOG_TEXT_BYTES, *at;
	uint32_t count = 0;

	if (h->argv >= LOG_TEXT_BYTES || log->bytes < LOG_HEADER_BYTES)
		return;
	at = log->head.text + h->argv;
	for (const char *c = at; count < h->argc && c < end; count++)
		c += strlen(c) + 1;
	p->argv.list = room_new(count, sizeof *p->argv.list);
	for (; p->argv.count < count; at += strlen(at) + 1)
		p->argv.list[p->argv.count++] = room_text(at, LOG_TEXT_BYTES);
}

static void
set_pool(struct profile *p, const struct log_header *h)
{
	p->has_pool = h->pool.bytes;
	p->pool_bytes = facts_known(h->pool.bytes);
	p->pool_used_bytes = facts_known(h->pool.used);
	p->pool_peak_bytes = facts_known(h->pool.peak);
	p->pool_largest_free_bytes = facts_known(h->pool.largest_free);
	p->pool_growths = facts_known(h->pool.growths);
}

void
facts_identity(struct profile *p, const struct reader *log)
{
	static const char *const states[] = {
		[READER_EXITED] = "exited", [READER_EXECED] = "execed",
		[READER_RUNNING] = "running", [READER_DIED] = "died",
	};
	const struct log_header *h = &log->head.h;

	p->path = room_text(log->path, PATH_MAX);
	p->pid = at_least(h->pid, 1);
	p->ppid = at_least(h->ppid, 0);
	p->rank = at_least(h->rank, 0);
	p->ranks = at_least(h->ranks, 0);
	p->exe = text_or_null(reader_text(log, h->exe));
	p->cwd = text_or_null(reader_text(log, h->cwd));
	p->host = h->host[0] ? room_text(h->host, sizeof h->host) : NULL;
	set_argv(p, log);
	if (h->mode == LOG_EVENTS)
		p->sample_bytes = at_least((int64_t)(h->sample_bytes
		    < ESTIMATE_MEAN_MOST ? h->sample_bytes
		    : ESTIMATE_MEAN_MOST), 1);
	p->mode = h->mode == LOG_SUMMARY ? "summary" : "events";
	p->bytes = h->mode == LOG_SUMMARY || p->sample_bytes.known ? "usable"
	    : "requested";
	p->state = states[log->state];
	/* As whoever waits for the process sees it. */
	if (log->state == READER_EXITED)
		p->status = facts_known((uint64_t)h->status & 0xff);
	p->start = (double)h->start_realtime_ns / 1e9;
	p->paused = h->flags & LOG_FLAG_PAUSED;
	if (h->flags & LOG_FLAG_NEXT_FOREIGN)
		p->allocator = text_or_null(reader_text(log, h->next_name));
	p->has_mappings = h->flags & LOG_FLAG_MMAP;
	set_pool(p, h);
}

/* The newest chunk of a slot, if it is good. */
static bool
newest(struct reader *log, const struct reader_slot *slot,
    struct log_chunk *head)
{
	size_t i = slot->end - 1;

	while (i > slot->first
	    && log->chunks[i - 1].seq == log->chunks[slot->end - 1].seq)
		i--;
	for (; i < slot->end; i++)
		if (reader_check(log, log->chunks + i, head))
			return true;
	return false;
}

/* Counters may wrap, as any bytes may. */
static void
add_counters(struct log_counters *sum, const struct log_counters *c)
{
	sum->allocations += c->allocations;
	sum->frees += c->frees;
	sum->failed += c->failed;
	sum->live = (int64_t)((uint64_t)sum->live + (uint64_t)c->live
	    - (uint64_t)c->told);
	sum->allocated += c->allocated;
}

/* Of the process: all slots, threads without one, and what they told. */
static struct log_counters
sum_counters(struct reader *log)
{
	struct log_counters sum = { .live = log->head.h.live };
	struct log_chunk head;

	add_counters(&sum, &log->head.h.others);
	for (size_t i = 0; i < log->slot_count; i++)
		if (newest(log, log->slots + i, &head))
			add_counters(&sum, &head.counters);
	sum.live = sum.live > 0 ? sum.live : 0;
	return sum;
}

static void
set_threads(struct profile *p, struct reader *log)
{
	struct log_chunk head;

	p->threads = room_new(log->slot_count, sizeof *p->threads);
	for (size_t i = 0; i < log->slot_count; i++) {
		struct profile_thread *t = p->threads + p->thread_count;

		if (log->slots[i].nested || !newest(log, log->slots + i, &head))
			continue;
		p->thread_count++;
		t->tid = head.tid;
		memcpy(t->name, head.name, sizeof t->name - 1);
		t->allocations = head.counters.allocations;
		t->frees = head.counters.frees;
		t->allocated_bytes = head.counters.allocated;
	}
}

/* There is nothing else, and so all bytes are usable ones. */
static bool
counts_alone(const struct log_header *h)
{
	return h->mode == LOG_SUMMARY || h->sample_bytes;
}

static void
set_timeline(struct profile *p, const struct reader *log)
{
	const struct log_header *h = &log->head.h;
	size_t used = h->timeline_used < LOG_TIMELINE_POINTS
	    ? h->timeline_used : LOG_TIMELINE_POINTS;
	double width = (double)h->timeline_ticks / reader_ticks_per_s(log);

	p->timeline = room_new(used + 1, sizeof *p->timeline);
	for (; p->point_count < used; p->point_count++)
		p->timeline[p->point_count] = (struct profile_point){
			.s = (double)p->point_count * width,
			.live_bytes = not_negative(
			    log->head.timeline[p->point_count].live),
			.peak_bytes = not_negative(
			    log->head.timeline[p->point_count].peak),
			.counted = !counts_alone(h),
		};
}

/* Nothing is told while nothing changes, nor the last change, nor that of a
 * process that was killed: from the last point on it is what is live now. */
static void
end_timeline(struct profile *p, const struct reader *log)
{
	double width = (double)log->head.h.timeline_ticks
	    / reader_ticks_per_s(log);
	uint64_t live = p->live_usable_bytes.value;
	struct profile_point *last = p->timeline + p->point_count - 1;

	if (!p->point_count || last->s + width < p->elapsed_s) {
		p->timeline[p->point_count] = (struct profile_point){
			.s = p->point_count ? last->s + width : 0,
			.live_bytes = live, .peak_bytes = live,
			.counted = !counts_alone(&log->head.h),
		};
		p->point_count++;
		return;
	}
	last->live_bytes = live;
	if (last->peak_bytes < live)
		last->peak_bytes = live;
}

static void
set_marks(struct profile *p, const struct reader *log)
{
	size_t used = log->head.h.marks < LOG_MARKS
	    ? log->head.h.marks : LOG_MARKS;

	p->marks = room_new(used, sizeof *p->marks);
	for (; p->mark_count < used; p->mark_count++) {
		const struct log_mark *m = log->head.marks + p->mark_count;

		p->marks[p->mark_count] = (struct profile_mark){
			.s = reader_seconds(log, m->ticks),
			.label = room_text(m->label, sizeof m->label),
		};
	}
}

void
facts_summary(struct profile *p, struct reader *log)
{
	const struct log_header *h = &log->head.h;
	struct log_counters sum = sum_counters(log);
	uint64_t end = h->end_ticks ? h->end_ticks : h->now[h->now_index].ticks;

	p->elapsed_s = reader_seconds(log, end);
	p->allocations = facts_known(sum.allocations);
	p->frees = facts_known(sum.frees);
	p->failed = facts_known(sum.failed);
	if (h->slots)
		p->allocated_bytes = facts_known(sum.allocated);
	p->peak_bytes = facts_known((uint64_t)(h->peak > sum.live ? h->peak
	    : sum.live));
	p->peak_usable_bytes = p->peak_bytes;
	p->peak_s = reader_seconds(log, h->peak_ticks);
	p->peak_error_bytes = facts_known(h->peak_error);
	if (!(h->flags & LOG_FLAG_FORKED))
		p->live_blocks = at_least((int64_t)(sum.allocations
		    - sum.frees), 0);
	p->live_bytes = facts_known((uint64_t)sum.live);
	p->live_usable_bytes = p->live_bytes;
	p->timeline_end_s = p->elapsed_s;
	set_threads(p, log);
	set_timeline(p, log);
	end_timeline(p, log);
	if (!p->marks)
		set_marks(p, log);
}

/* Events up to END, from *AT on, into what counters could say of that time;
 * one that goes on beyond tells of both. */
static void
fill_point(struct profile_point *to, double end,
    const struct profile_point *events, size_t count, size_t *at)
{
	uint64_t peak = 0, extra = 0;

	for (; *at < count && events[*at].s < end; ++*at) {
		const struct profile_point *p = events + *at;

		to->live_bytes = p->live_bytes;
		extra = p->extra_bytes;
		if (peak < p->peak_bytes)
			peak = p->peak_bytes;
	}
	if (*at)
		--*at;
	to->peak_bytes = peak;
	to->extra_bytes = extra;
	to->counted = false;
}

/* Counters tell only the part of it that comes after the EVENTS. */
static void
raise_peak(struct profile_point *to, const struct profile_point *events,
    size_t count)
{
	for (const struct profile_point *p = events; p < events + count; p++)
		if (to->peak_bytes < p->peak_bytes + p->extra_bytes)
			to->peak_bytes = p->peak_bytes + p->extra_bytes;
}

/* Up to where events stopped, what they tell; from there on, what counters
 * do. */
static void
go_on_counting(struct profile *p, const struct reader *log)
{
	struct profile_point *events = p->timeline;
	size_t count = p->point_count, at = 0;
	double width = (double)log->head.h.timeline_ticks
	    / reader_ticks_per_s(log);

	if (!log->head.h.timeline_used || !count)
		return;
	p->point_count = 0;
	set_timeline(p, log);
	end_timeline(p, log);
	p->timeline_end_s = p->elapsed_s;
	for (size_t i = 0; i < p->point_count; i++) {
		struct profile_point *point = p->timeline + i;

		if (point->s + width > p->stopped_s) {
			raise_peak(point, events + at, count - at);
			break;
		}
		fill_point(point, point->s + width, events, count, &at);
	}
	free(events);
}

/* The most usable bytes after the events stopped; they bound what was
 * requested, too. */
static uint64_t
peak_after_stop(const struct log_head *head)
{
	const struct log_header *h = &head->h;
	uint64_t most = 0;

	for (uint32_t i = 0; i < h->timeline_used && i < LOG_TIMELINE_POINTS;
	    i++) {
		uint64_t end = h->start.ticks + (i + 1) * h->timeline_ticks;

		if (end > h->stop_ticks
		    && not_negative(head->timeline[i].peak) > most)
			most = not_negative(head->timeline[i].peak);
	}
	return most;
}

void
facts_bare(struct profile *p, const struct reader *log)
{
	static const struct profile_number unknown = { false, 0 };
	const struct log_header *h = &log->head.h;

	p->allocations = p->frees = p->failed = p->allocated_bytes = unknown;
	p->peak_bytes = p->live_bytes = p->live_blocks = unknown;
	p->peak_s = NAN;
	p->peak_usable_bytes = facts_known(not_negative(h->peak));
	p->live_usable_bytes = facts_known(not_negative(h->live));
	p->peak_error_bytes = facts_known(h->peak_error);
}

void
facts_stopped(struct profile *p, struct reader *log)
{
	static const struct profile_number unknown = { false, 0 };
	const struct log_header *h = &log->head.h;
	struct log_counters sum = sum_counters(log);
	bool plain = !p->unknown_frees.value && !p->inherited_blocks.value;

	p->allocations = facts_known(sum.allocations);
	p->frees = facts_known(sum.frees);
	p->failed = facts_known(sum.failed);
	p->allocated_bytes = p->live_bytes = unknown;
	p->live_blocks = plain ? at_least((int64_t)(sum.allocations
	    - sum.frees), 0) : unknown;
	p->live_usable_bytes = facts_known((uint64_t)sum.live);
	p->peak_error_bytes = facts_known(h->peak_error);
	go_on_counting(p, log);
	if (!h->timeline_used || h->peak_error > p->peak_bytes.value
	    || peak_after_stop(&log->head)
	    > p->peak_bytes.value - h->peak_error) {
		p->peak_bytes = unknown;
		p->peak_s = NAN;
	}
	if (not_negative(h->peak) <= p->peak_usable_bytes.value)
		return;
	p->peak_usable_bytes = facts_known(not_negative(h->peak));
	p->peak_s = reader_seconds(log, h->peak_ticks);
}

static void
note_flags(struct problems *q, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		bool loss;
		const char *what;
	} says[] = {
		{ LOG_FLAG_FOREIGN_MALLOC, true, "the program brings a malloc "
		    "of its own: what it does with that is not seen" },
		{ LOG_FLAG_BEHIND, true, "another preloaded library comes "
		    "first: what it does not pass on is not seen; name "
		    "libheaphook-track.so first in LD_PRELOAD" },
		{ LOG_FLAG_TEXT_CUT, false, "the arguments did not fit and "
		    "are cut" },
	};

	for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
		if (!(flags & says[i].flag))
			continue;
		if (says[i].loss)
			problems_loss(q, "%s", says[i].what);
		else
			problems_note(q, "%s", says[i].what);
	}
}

static void
note_stop(const struct profile *p, struct reader *log)
{
	static const char *const reasons[] = {
		[LOG_STOP_LIMIT] = "the limit of its size was reached",
		[LOG_STOP_FULL] = "the file system was full, or nearly",
		[LOG_STOP_FILE_SIZE] = "the limit of file sizes (ulimit -f) "
		    "was reached",
		[LOG_STOP_CLOSED] = "the program took the log's descriptor",
		[LOG_STOP_SEALED] = "the program may not write any more "
		    "(seccomp, or PR_SET_NO_NEW_PRIVS)",
	};
	const struct log_header *h = &log->head.h;
	const char *why = "the log could not be written";

	if (h->stop == LOG_STOP_ERROR)
		why = strerror((int)(h->stop_errno & INT_MAX));
	else if (h->stop < sizeof reasons / sizeof reasons[0])
		why = reasons[h->stop];
	problems_loss(&log->problems, "events end at %.6f s: %s; what came "
	    "later is only counted, in usable bytes: sizes and threads are "
	    "those of before", reader_seconds(log, h->stop_ticks), why);
	if (p->has_sites && p->stopped)
		problems_note(&log->problems, "live blocks of sites are those "
		    "of %.6f s: which of them were freed later is not known",
		    p->stopped_s);
}

void
facts_problems(struct profile *p, struct reader *log)
{
	struct problems *q = &log->problems;

	note_flags(q, log->head.h.flags);
	if (log->head.h.stop)
		note_stop(p, log);
	else if (!log->head.h.slots && log->state == READER_DIED
	    && log->head.h.mode == LOG_SUMMARY)
		problems_loss(q, "the process died: calls that its threads' "
		    "caches served last are not counted");
	else if (log->head.h.mode == LOG_EVENTS
	    && log->head.h.others.allocations)
		problems_loss(q, "%" PRIu64 " allocations are only counted: "
		    "there was no place for more threads",
		    log->head.h.others.allocations);
	if (log->head.h.samples_lost)
		problems_note(q, "%" PRIu64 " blocks of the sample were not "
		    "recorded: there was no place to remember them",
		    log->head.h.samples_lost);
	if (log->state == READER_RUNNING)
		problems_note(q, "the process still runs: this is how far "
		    "its log has come");
	p->complete = !q->loss && log->state != READER_RUNNING;
	for (unsigned i = 0; i < q->kept; i++)
		add_text(&p->problems, room_text(q->lines[i], SIZE_MAX));
	if (q->more) {
		char line[64];

		snprintf(line, sizeof line, "and %" PRIu64 " more", q->more);
		add_text(&p->problems, room_text(line, sizeof line));
	}
}
