/* SPDX-License-Identifier: Apache-2.0 */
/* Events from bytes, of which none is trusted: what codec.h writes. */
#ifndef LOG_DECODE_H
#define LOG_DECODE_H

#include "codec.h"

/* What each event needs is put where events are read. */
#define LOG_INLINE __attribute__((always_inline)) static inline

/* Where a reader stands: AT to END, nothing of it trusted. */
struct log_reader {
	const unsigned char *at, *end;
	uint64_t last, size, ticks;
	uint32_t usable_rule;
	uint64_t sizes;		/* which bits of a short form's size are it */
};

static inline uint64_t
log_size_bits(uint32_t version)
{
	return version == LOG_VERSION_UNSPARED ? 0xffff
	    : (1 << LOG_SIZE_BITS) - 1;
}

static inline bool
log_get_uint(const unsigned char **at, const unsigned char *end, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint64_t bits = **at & 0x7f;

		if (shift == 63 && bits > 1)
			return false;
		*v |= bits << shift;
		if (!(*(*at)++ & 0x80))
			return true;
	}
	return false;
}

/* A short form, by its tag: where its fields are, from the tag on, and which
 * bits of the eight bytes there are theirs. */
struct log_short {
	uint64_t step;
	uint32_t stack;
	uint16_t time, size;
	unsigned char size_at, stack_at, step_at;
	unsigned char bytes;	/* in all; 0: no writer makes such a tag */
	enum log_kind kind;
	enum log_call call;
};

/* How many bytes each field has. */
#define LOG_TIME_OF(tag)	((tag) >> 7 << 1)
#define LOG_STACK_OF(tag)	((tag) >> 5 & 3)
#define LOG_STEP_OF(tag)	(((tag) >> 2 & 7) % LOG_AGAIN)
#define LOG_IS_AGAIN(tag)	(((tag) >> 2 & 7) == LOG_AGAIN)
#define LOG_IS_FREE(tag)	(((tag) & 3) == LOG_FREE)
#define LOG_SIZE_OF(tag)	(LOG_IS_FREE(tag) || LOG_IS_AGAIN(tag) ? 0 : 2)

/* Where it is. */
#define LOG_SIZE_AT(tag)	(1 + LOG_TIME_OF(tag))
#define LOG_STACK_AT(tag)	(LOG_SIZE_AT(tag) + LOG_SIZE_OF(tag))
#define LOG_STEP_AT(tag)	(LOG_STACK_AT(tag) + LOG_STACK_OF(tag))

#define LOG_MASK(bytes)		((UINT64_C(1) << 8 * (bytes)) - 1)
#define LOG_SHORT(tag) { \
	.time = LOG_MASK(LOG_TIME_OF(tag)), \
	.size_at = LOG_SIZE_AT(tag), .size = LOG_MASK(LOG_SIZE_OF(tag)), \
	.stack_at = LOG_STACK_AT(tag), .stack = LOG_MASK(LOG_STACK_OF(tag)), \
	.step_at = LOG_STEP_AT(tag), .step = LOG_MASK(LOG_STEP_OF(tag)), \
	.bytes = LOG_IS_FREE(tag) && (LOG_STACK_OF(tag) || LOG_IS_AGAIN(tag)) \
	    ? 0 : LOG_STEP_AT(tag) + LOG_STEP_OF(tag), \
	.kind = (tag) & 3, \
	.call = LOG_IS_FREE(tag) ? LOG_CALL_FREE \
	    : ((tag) & 3) == LOG_MALLOC ? LOG_CALL_MALLOC : LOG_CALL_CALLOC, \
}
#define LOG_SHORTS_4(tag) \
	LOG_SHORT(tag), LOG_SHORT(tag + 1), LOG_SHORT(tag + 2), \
	LOG_SHORT(tag + 3)
#define LOG_SHORTS_16(tag) \
	LOG_SHORTS_4(tag), LOG_SHORTS_4(tag + 4), LOG_SHORTS_4(tag + 8), \
	LOG_SHORTS_4(tag + 12)
#define LOG_SHORTS_64(tag) \
	LOG_SHORTS_16(tag), LOG_SHORTS_16(tag + 16), \
	LOG_SHORTS_16(tag + 32), LOG_SHORTS_16(tag + 48)

static const struct log_short log_shorts[256] = {
	LOG_SHORTS_64(0), LOG_SHORTS_64(64), LOG_SHORTS_64(128),
	LOG_SHORTS_64(192),
};

/* Eight bytes of the log. */
static inline uint64_t
log_load(const unsigned char *at)
{
	uint64_t v;

	memcpy(&v, at, 8);
	return log_little(v);
}

/* From a place with LOG_EVENT_ROOM bytes, as many as it takes the event's.
 * What a free has not is left as it was. */
LOG_INLINE int
log_get_short_at(struct log_reader *r, const unsigned char *at,
    struct log_event *e)
{
	unsigned tag = *at;
	const struct log_short *f = log_shorts + tag;
	uint64_t size = log_load(at + f->size_at) & f->size;

	if (!f->bytes)
		return -1;
	if (!f->step && f->size)
		r->size = size;
	else if (!f->step && LOG_IS_AGAIN(tag))
		size = r->size;
	r->at += f->bytes;
	r->ticks += log_load(at + 1) & f->time;
	r->last += log_unzigzag(log_load(at + f->step_at) & f->step);
	e->kind = f->kind;
	e->call = f->call;
	e->ticks = r->ticks;
	e->took = 0;
	e->address = r->last << 4;
	if (LOG_IS_FREE(tag))
		return 1;
	e->stack = (uint32_t)log_load(at + f->stack_at) & f->stack;
	e->align = 0;
	e->size = size & r->sizes;
	e->usable = log_usable_expected(r->usable_rule, e->size)
	    + ((size & ~r->sizes) >> LOG_SPARE_SHIFT);
	return 1;
}

/* The same where there are fewer. */
static inline int
log_get_short_last(struct log_reader *r, struct log_event *e)
{
	unsigned char last[LOG_EVENT_ROOM] = { 0 };
	size_t left = (size_t)(r->end - r->at);

	if (left < log_shorts[r->at[0]].bytes)
		return -1;
	memcpy(last, r->at, left < sizeof last ? left : sizeof last);
	return log_get_short_at(r, last, e);
}

static inline bool
log_get_address(struct log_reader *r, const unsigned char **at,
    const unsigned char *end, uint64_t *address)
{
	uint64_t z;

	if (!log_get_uint(at, end, &z))
		return false;
	*address = (r->last << 4) + log_unzigzag(z);
	r->last = *address >> 4;
	return true;
}

static inline bool
log_get_call(const unsigned char **at, const unsigned char *end,
    enum log_call *call)
{
	uint64_t v;

	if (!log_get_uint(at, end, &v) || v >= LOG_CALLS)
		return false;
	*call = (enum log_call)v;
	return true;
}

/* Size and how much more than it is usable. */
static inline bool
log_get_size(const unsigned char **at, const unsigned char *end,
    struct log_event *e)
{
	uint64_t excess;

	if (!log_get_uint(at, end, &e->size) || !log_get_uint(at, end, &excess))
		return false;
	e->usable = e->size + excess;
	return e->usable >= e->size;
}

static inline bool
log_get_place(const unsigned char **at, const unsigned char *end,
    struct log_event *e)
{
	uint64_t slot, offset;

	if (!log_get_uint(at, end, &slot) || !log_get_uint(at, end, &e->seq)
	    || !log_get_uint(at, end, &offset)
	    || slot > UINT32_MAX || offset > LOG_MAX_CHUNK_BYTES)
		return false;
	e->slot = (uint32_t)slot;
	e->offset = (uint32_t)offset;
	return true;
}

/* What an event has only if stacks are on. */
static inline bool
log_get_stack(const unsigned char **at, const unsigned char *end,
    struct log_event *e)
{
	uint64_t v = 0;

	if (*at < end && (!log_get_uint(at, end, &v) || v > LOG_FRAMES_MOST))
		return false;
	e->stack = (uint32_t)v;
	return true;
}

static inline bool
log_get_frame(const unsigned char **at, const unsigned char *end,
    struct log_event *e)
{
	uint64_t number, caller;

	if (!log_get_uint(at, end, &number) || !log_get_uint(at, end, &caller)
	    || !log_get_uint(at, end, &e->address)
	    || number > LOG_FRAMES_MOST || caller > LOG_FRAMES_MOST)
		return false;
	e->stack = (uint32_t)number;
	e->caller = (uint32_t)caller;
	return true;
}

static inline void
log_get_text(const unsigned char *at, const unsigned char *end,
    struct log_event *e)
{
	e->text = (const char *)at;
	e->text_bytes = (uint32_t)(end - at);
}

static inline bool
log_get_object(const unsigned char *at, const unsigned char *end,
    struct log_event *e)
{
	uint64_t bytes;

	if (!log_get_uint(&at, end, &e->old)
	    || !log_get_uint(&at, end, &e->address)
	    || !log_get_uint(&at, end, &e->size)
	    || !log_get_uint(&at, end, &bytes)
	    || bytes > LOG_BUILD_ID_MOST || bytes > (size_t)(end - at))
		return false;
	e->build_id = at;
	e->build_id_bytes = (uint32_t)bytes;
	log_get_text(at + bytes, end, e);
	return true;
}

static inline bool
log_get_body(struct log_reader *r, const unsigned char *at,
    const unsigned char *end, struct log_event *e)
{
	uint64_t v;

	switch (e->kind) {
	case LOG_X_ALLOC:
		if (!log_get_call(&at, end, &e->call)
		    || !log_get_uint(&at, end, &e->size)
		    || !log_get_uint(&at, end, &v) || v > 63
		    || !log_get_address(r, &at, end, &e->address))
			return false;
		e->align = v ? UINT64_C(1) << v : 0;
		if (!log_get_uint(&at, end, &v) || e->size + v < v)
			return false;
		e->usable = e->size + v;
		return log_get_stack(&at, end, e);
	case LOG_X_FREE:
	case LOG_X_RESIZE:
		e->call = e->kind == LOG_X_FREE ? LOG_CALL_FREE
		    : LOG_CALL_REALLOC;
		return log_get_address(r, &at, end, &e->address);
	case LOG_X_REALLOC:
	case LOG_X_RESIZED:
		e->call = LOG_CALL_REALLOC;
		return (e->kind == LOG_X_RESIZED
		    || log_get_address(r, &at, end, &e->old))
		    && log_get_address(r, &at, end, &e->address)
		    && log_get_size(&at, end, e)
		    && log_get_stack(&at, end, e);
	case LOG_X_FAILED:
		return log_get_call(&at, end, &e->call)
		    && log_get_uint(&at, end, &e->size);
	case LOG_X_THREAD:
		if (!log_get_uint(&at, end, &v) || v > INT32_MAX
		    || !log_get_uint(&at, end, &e->self))
			return false;
		e->tid = (int32_t)v;
		log_get_text(at, end, e);
		return true;
	case LOG_X_NAME:
		if (!log_get_uint(&at, end, &e->self))
			return false;
		log_get_text(at, end, e);
		return true;
	case LOG_X_MARK:
	case LOG_X_PATH:
		log_get_text(at, end, e);
		return true;
	case LOG_X_FRAME:
		return log_get_frame(&at, end, e);
	case LOG_X_OBJECT:
		return log_get_object(at, end, e);
	case LOG_X_UNLOAD:
		return log_get_uint(&at, end, &e->address);
	case LOG_X_IMPRINT:
		return log_get_uint(&at, end, &e->old);
	case LOG_X_TOOK:
		return log_get_uint(&at, end, &e->took);
	case LOG_X_NESTED:
	case LOG_X_INHERIT:
		return log_get_place(&at, end, e);
	case LOG_X_MAP:
		return log_get_call(&at, end, &e->call)
		    && log_get_uint(&at, end, &e->address)
		    && log_get_uint(&at, end, &e->size)
		    && log_get_uint(&at, end, &e->old)
		    && log_get_uint(&at, end, &e->old_size);
	default:	/* only the time, or from a later version */
		return true;
	}
}

static inline int
log_get_long(struct log_reader *r, struct log_event *e)
{
	const unsigned char *at = r->at + 2, *end;
	uint64_t dt;

	if (r->end - r->at < 2 || r->end - at < r->at[1])
		return -1;
	e->kind = (enum log_kind)r->at[0];
	end = at + r->at[1];
	if (!log_get_uint(&at, end, &dt))
		return -1;
	r->ticks += dt;
	e->ticks = r->ticks;
	e->took = 0;
	e->align = 0;
	if (!log_get_body(r, at, end, e))
		return -1;
	r->at = end;
	return 1;
}

static inline int
log_get_rest(struct log_reader *r, struct log_event *e)
{
	if (r->at >= r->end || r->at[0] == LOG_END)
		return 0;
	return r->at[0] & 3 ? log_get_short_last(r, e) : log_get_long(r, e);
}

/* The next event into *E: 1; the events end: 0; what follows is none: -1,
 * and the reader stands before it. */
LOG_INLINE int
log_get(struct log_reader *r, struct log_event *e)
{
	if (r->end - r->at >= LOG_EVENT_ROOM && (r->at[0] & 3))
		return log_get_short_at(r, r->at, e);
	return log_get_rest(r, e);
}

#endif
