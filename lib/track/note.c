/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "note.h"

#include <string.h>

#include "count.h"
#include "../interpose/head.h"
#include "latency.h"
#include "sample.h"
#include "stack.h"
#include "usable.h"

/* A stream taken for one event, and the long form of it. */
struct note {
	struct hh_stream *s;
	uint64_t dt;
	uint32_t stack;
	struct log_long l;
};

static bool
records(const struct note *n)
{
	return n->s->end != NULL;
}

/* False when this process is not watched.  Without room the event is only
 * counted.  What is new about its STACK, if it is to have one, comes first. */
static bool
begin_with(struct note *n, enum log_kind kind, struct hh_stack *stack)
{
	n->s = hh_stream_take(sizeof n->l.bytes);
	n->stack = stack ? hh_stack_number(stack, n->s && records(n)
	    && !(hh_mode & HH_PAUSED) ? n->s : NULL) : 0;
	if (!n->s)
		return false;
	n->dt = hh_stream_clock(n->s);
	log_long_begin(&n->l, kind, n->dt);
	return true;
}

static bool
begin(struct note *n, enum log_kind kind)
{
	return begin_with(n, kind, NULL);
}

/* Of what gets a block: here. */
static bool
begin_with_stack(struct note *n, enum log_kind kind)
{
	struct hh_stack stack;

	hh_stack_capture(&stack);
	return begin_with(n, kind, &stack);
}

static void
put(struct note *n)
{
	if (records(n))
		log_put_long(&n->s->w, &n->l, n->dt);
}

/* How long the call took whose event was put, if that is to be known. */
static void
put_took(struct note *n)
{
	uint64_t took = hh_mode & HH_MEASURED ? hh_latency_take() : 0;

	if (!took || !records(n))
		return;
	log_long_begin(&n->l, LOG_X_TOOK, 0);
	log_long_uint(&n->l, took);
	log_put_long(&n->s->w, &n->l, 0);
}

static uint64_t
address(const void *block)
{
	return (uint64_t)(uintptr_t)block;
}

/* What a broken malloc_usable_size says below SIZE is not believed. */
static uint64_t
excess(size_t usable, size_t size)
{
	return usable > size ? usable - size : 0;
}

/* A block that was got; ALIGN 0: the usual. */
struct got {
	enum log_call call;
	const void *block;
	size_t size, usable, align;
};

static void
put_alloc(struct note *n, const struct got *g)
{
	enum log_kind kind = g->call == LOG_CALL_CALLOC ? LOG_CALLOC
	    : LOG_MALLOC;
	uint64_t spare = g->usable
	    - log_usable_expected(hh_head->h.usable_rule, g->size);

	if (!records(n) || hh_mode & HH_PAUSED)
		return;
	if (g->call <= LOG_CALL_CALLOC && log_is_spare(spare)
	    && log_is_short(&n->s->w, address(g->block), g->size, n->dt)) {
		log_put_stacked(&n->s->w, kind, address(g->block),
		    log_short_size(g->size, spare), n->dt, n->stack);
		put_took(n);
		return;
	}
	log_long_uint(&n->l, g->call);
	log_long_uint(&n->l, g->size);
	log_long_uint(&n->l, g->align ? (unsigned)__builtin_ctzl(g->align)
	    : 0);
	log_long_address(&n->l, &n->s->w, address(g->block));
	log_long_uint(&n->l, excess(g->usable, g->size));
	log_long_stack(&n->l, n->stack);
	put(n);
	put_took(n);
}

/* What an event changes, in usable bytes. */
struct change {
	uint64_t allocations, frees, failed;
	size_t come, gone;
};

/* Count, and let the stream go. */
static void
end(struct hh_stream *s, const struct change *c)
{
	if (s->chunk) {
		s->allocations += c->allocations;
		s->frees += c->frees;
		s->chunk->counters.failed += c->failed;
		s->chunk->counters.allocated += c->come;
		s->headroom += c->gone - c->come;
		if (s->headroom <= s->headroom_most)
			hh_count_sync(s);
		else
			hh_count_tell(s);
	} else {
		hh_count_others(c->allocations, c->frees, c->failed,
		    (int64_t)c->come - (int64_t)c->gone);
	}
	hh_stream_give(s);
}

/* Of what is left out. */
static void
count(const struct change *c)
{
	struct hh_stream *s = hh_stream_take(0);

	if (s)
		end(s, c);
}

static void
note_stacked(struct hh_stack *stack, const struct got *g,
    const struct change *c)
{
	struct note n;

	if (!begin_with(&n, LOG_X_ALLOC, stack))
		return;
	put_alloc(&n, g);
	end(n.s, c);
}

static void
note_here(const struct got *g, const struct change *c)
{
	struct hh_stack stack;

	hh_stack_capture(&stack);
	note_stacked(&stack, g, c);
}

/* Whether others are recorded for it. */
static bool
is_left_out(const struct got *g)
{
	return hh_mode & HH_SAMPLED && (hh_mode & HH_PAUSED
	    || !hh_sample_takes(g->block, g->size));
}

static void
note_got(const struct got *g, const struct change *c)
{
	if (!hh_stream_alive())
		hh_stream_come();	/* now it is known */
	if (is_left_out(g))
		count(c);
	else
		note_here(g, c);
}

void
hh_note_stacked(struct hh_stack *stack, enum log_call call, const void *block,
    size_t size)
{
	const struct got g = { call, block, size, hh_usable(block), 0 };
	const struct change c = { .allocations = 1, .come = g.usable };

	if (!is_left_out(&g)) {
		note_stacked(stack, &g, &c);
	} else {
		hh_stack_number(stack, NULL);
		count(&c);
	}
}

void
hh_note_alloc(enum log_call call, const void *block, size_t size,
    size_t usable, size_t align)
{
	note_got(&(struct got){ call, block, size, usable, align },
	    &(struct change){ .allocations = 1, .come = usable });
}

static void
note_free(const void *block, const struct change *c)
{
	struct note n;

	if (!begin(&n, LOG_X_FREE))
		return;
	if (records(&n) && log_is_short(&n.s->w, address(block), 0, n.dt)) {
		log_put_short(&n.s->w, LOG_FREE, address(block), 0, true,
		    n.dt);
	} else {
		log_long_address(&n.l, &n.s->w, address(block));
		put(&n);
	}
	end(n.s, c);
}

bool
hh_note_free(const void *block, size_t usable)
{
	const struct change c = { .frees = 1, .gone = usable };

	if (hh_mode & HH_SAMPLED && !hh_sample_drop(block)) {
		count(&c);
		return false;
	}
	note_free(block, &c);
	return true;
}

void
hh_note_took(void)
{
	struct note n;

	n.s = hh_stream_take(sizeof n.l.bytes);
	if (!n.s)
		return;
	put_took(&n);
	hh_stream_give(n.s);
}

bool
hh_note_gone(const void *block)
{
	const struct change none = { .come = 0 };

	if (!hh_sample_drop(block))
		return false;
	note_free(block, &none);
	return true;
}

void
hh_note_back(enum log_call call, const void *block, size_t usable)
{
	const struct change none = { .come = 0 };

	if (hh_sample_keep(block))
		note_here(&(struct got){ call, block, usable, usable, 0 },
		    &none);
}

void
hh_note_moved(enum log_call call, const void *block, size_t size,
    size_t usable, size_t old_usable)
{
	note_got(&(struct got){ call, block, size, usable, 0 },
	    &(struct change){ 1, 1, 0, usable, old_usable });
}

void
hh_note_failed(enum log_call call, size_t size)
{
	struct note n;

	if (!begin(&n, LOG_X_FAILED))
		return;
	log_long_uint(&n.l, call);
	log_long_uint(&n.l, size);
	put(&n);
	put_took(&n);
	end(n.s, &(struct change){.failed = 1});
}

/* Where the block is now: the end of both kinds of realloc. */
static void
end_realloc(struct note *n, size_t old_usable, const void *block, size_t size,
    size_t usable)
{
	log_long_address(&n->l, &n->s->w, address(block));
	log_long_uint(&n->l, size);
	log_long_uint(&n->l, excess(usable, size));
	log_long_stack(&n->l, n->stack);
	put(n);
	put_took(n);
	end(n->s, &(struct change){1, 1, 0, usable, old_usable});
}

void
hh_note_realloc(const void *old, size_t old_usable, const void *block,
    size_t size, size_t usable)
{
	struct note n;

	if (!begin_with_stack(&n, LOG_X_REALLOC))
		return;
	log_long_address(&n.l, &n.s->w, address(old));
	end_realloc(&n, old_usable, block, size, usable);
}

void
hh_note_resize(const void *old)
{
	struct note n;

	if (!begin(&n, LOG_X_RESIZE))
		return;
	log_long_address(&n.l, &n.s->w, address(old));
	put(&n);
	hh_stream_give(n.s);
}

void
hh_note_resized(size_t old_usable, const void *block, size_t size,
    size_t usable)
{
	struct note n;

	if (begin_with_stack(&n, LOG_X_RESIZED))
		end_realloc(&n, old_usable, block, size, usable);
}

void
hh_note_mark(const char *label)
{
	struct note n;

	if (!begin(&n, LOG_X_MARK))
		return;
	log_long_text(&n.l, label, strlen(label));
	put(&n);
	hh_head_mark(label);
	hh_stream_give(n.s);
}

void
hh_note_pause(bool paused)
{
	struct note n;

	if (!begin(&n, paused ? LOG_X_PAUSE : LOG_X_RESUME))
		return;
	put(&n);
	hh_head->h.flags |= LOG_FLAG_PAUSED;
	hh_stream_give(n.s);
}

void
hh_note_thread_name(unsigned long thread, const char *name)
{
	struct note n;

	if (!begin(&n, LOG_X_NAME))
		return;
	log_long_uint(&n.l, thread);
	log_long_text(&n.l, name, strnlen(name, LOG_NAME_BYTES - 1));
	put(&n);
	hh_stream_give(n.s);
}

void
hh_note_mapped(enum log_call call, const void *at, size_t bytes,
    const void *old, size_t old_bytes)
{
	struct note n;

	if (!begin(&n, LOG_X_MAP))
		return;
	log_long_uint(&n.l, call);
	log_long_uint(&n.l, address(at));
	log_long_uint(&n.l, bytes);
	log_long_uint(&n.l, address(old));
	log_long_uint(&n.l, old_bytes);
	put(&n);
	hh_stream_give(n.s);
}
