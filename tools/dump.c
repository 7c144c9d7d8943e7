/* SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"
#include "latency.h"
#include "part.h"
#include "replay.h"

struct dump {
	FILE *to;
	struct reader *log;
	const struct replay *replay;
	struct part part;
	void (*progress)(void *, double);
};

static void
put_text(FILE *to, const char *key, const char *text, uint32_t bytes)
{
	fputs(key, to);
	for (uint32_t i = 0; i < bytes && text[i]; i++)
		if (text[i] > ' ' && text[i] < 0x7f && text[i] != '\\')
			fputc(text[i], to);
		else
			fprintf(to, "\\x%02x", (unsigned char)text[i]);
}

static void
put_block(FILE *to, const struct block *b)
{
	fprintf(to, "0x%" PRIx64 " %" PRIu64 " %" PRIu64 " ", b->address,
	    b->requested, block_usable(b));
}

static void
put_change(FILE *to, const struct replay_step *s)
{
	const struct log_event *e = s->event;
	bool moved = s->come && s->freed;
	bool any = true;

	if (s->come)
		put_block(to, s->come);
	else if (s->gone)
		put_block(to, s->gone);
	else
		fprintf(to, "0x%" PRIx64 " - - ", e->address);
	if (moved && s->gone)
		fprintf(to, "old=0x%" PRIx64, s->gone->address);
	else if (s->freed && !s->gone)
		fputs("unknown", to);
	else if (s->come && e->align)
		fprintf(to, "align=%" PRIu64, e->align);
	else if (s->come && e->stack)
		any = false;
	else
		fputc('-', to);
	if (s->come && e->stack)
		fprintf(to, "%sstack=%" PRIu32, any ? "," : "", e->stack);
}

static void
put_object(FILE *to, const struct log_event *e)
{
	fprintf(to, "object 0x%" PRIx64 " %" PRIu64 " - bias=0x%" PRIx64,
	    e->address, e->size, e->old);
	for (uint32_t i = 0; i < e->build_id_bytes; i++)
		fprintf(to, "%s%02x", i ? "" : ",build-id=", e->build_id[i]);
	put_text(to, ",path=", e->text, e->text_bytes);
}

/* What is neither an allocation nor a free.  False: nothing to show. */
static bool
put_rest(FILE *to, const struct log_event *e)
{
	switch (e->kind) {
	case LOG_X_FAILED:
		fprintf(to, "%s - %" PRIu64 " - failed", calls_names[e->call],
		    e->size);
		return true;
	case LOG_X_NAME:
		put_text(to, "name - - - name=", e->text, e->text_bytes);
		return true;
	case LOG_X_MARK:
		put_text(to, "mark - - - label=", e->text, e->text_bytes);
		return true;
	case LOG_X_PAUSE:
		fputs("pause - - - -", to);
		return true;
	case LOG_X_RESUME:
		fputs("resume - - - -", to);
		return true;
	case LOG_X_MAP:
		fprintf(to, "%s 0x%" PRIx64 " %" PRIu64 " - ",
		    calls_names[e->call], e->address, e->size);
		if (e->call == LOG_CALL_MREMAP)
			fprintf(to, "old=0x%" PRIx64 ",length=%" PRIu64,
			    e->old, e->old_size);
		else
			fputc('-', to);
		return true;
	case LOG_X_FRAME:
		fprintf(to, "frame 0x%" PRIx64 " - - stack=%" PRIu32
		    ",caller=%" PRIu32, e->address, e->stack, e->caller);
		return true;
	case LOG_X_OBJECT:
		put_object(to, e);
		return true;
	case LOG_X_PATH:
		put_text(to, "path - - - path=", e->text, e->text_bytes);
		return true;
	case LOG_X_IMPRINT:
		fprintf(to, "imprint - - - sum=0x%" PRIx64, e->old);
		return true;
	case LOG_X_UNLOAD:
		fprintf(to, "unload 0x%" PRIx64 " - - -", e->address);
		return true;
	default:
		return false;
	}
}

/* The last word, where the log has such. */
static void
put_took(struct dump *d, uint64_t took)
{
	double ns = latency_ns(d->log);

	if (ns > 0 && took)
		fprintf(d->to, " %.0f", (double)took * ns);
	else if (ns > 0)
		fputs(" -", d->to);
	fputc('\n', d->to);
}

static bool
is_shown(const struct log_event *e)
{
	return e->kind != LOG_X_THREAD && e->kind != LOG_X_RESIZE;
}

static void
step(void *who, const struct replay_step *s)
{
	struct dump *d = who;

	if (s->ticks < d->part.from || !part_has(&d->part, s->thread)
	    || !is_shown(s->event) || (s->gone && !s->freed))
		return;
	fprintf(d->to, "%.9f ", reader_seconds(d->log, s->ticks));
	if (s->thread == REPLAY_NO_THREAD)
		fputs("- ", d->to);
	else
		fprintf(d->to, "%" PRId32 " ",
		    d->replay->threads.list[s->thread].tid);
	if (s->come || s->freed) {
		fprintf(d->to, "%s ", calls_names[s->event->call]);
		put_change(d->to, s);
	} else if (!put_rest(d->to, s->event)) {
		fputs("senseless - - - -", d->to);
	}
	put_took(d, s->event->took);
}

static void
inherited(void *who, const struct block *block)
{
	struct dump *d = who;

	if (d->part.chosen || d->part.from > d->log->head.h.start.ticks)
		return;
	fputs("0.000000000 - inherited ", d->to);
	put_block(d->to, block);
	fputc('-', d->to);
	put_took(d, 0);
}

static void
progress(void *who, double done)
{
	struct dump *d = who;

	d->progress(d, done);
}

void
dump_log(FILE *to, struct reader *log, const struct profile_part *part,
    void (*show_progress)(void *, double))
{
	struct replay r;
	struct dump d = {
		.to = to, .log = log, .replay = &r, .progress = show_progress,
	};
	struct replay_watch watch = {
		.who = &d, .inherited = inherited, .step = step,
		.progress = show_progress ? progress : NULL,
	};

	part_find(&d.part, log, part);
	watch.until = d.part.until;
	put_text(to, "# ", log->path, UINT32_MAX);
	fputc('\n', to);
	replay_run(&r, log, &watch);
	replay_free(&r);
	part_free(&d.part);
}
