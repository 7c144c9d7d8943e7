/* SPDX-License-Identifier: Apache-2.0 */
/* Events as bytes: each writer directly above its reader.
 *
 * What is frequent has a short form, one to twelve bytes:
 *
 *     tag  [time step]  [size]  [address step]
 *
 *     tag bits 0-1  1 malloc, 2 free, 3 calloc
 *          bits 2-4  bytes of the address step, 0 to 7
 *          bits 5-6  0
 *          bit  7    there is a time step
 *
 * The time step is ticks in two bytes; without it the event is as late as
 * the one before.  The size, which free has not, is two bytes.  The address
 * step is from the last address of the chunk, over 16, zigzag (0 -1 1 -2 as
 * 0 1 2 3).  All are little-endian.
 *
 * All else has a long form: a tag that is a multiple of 4, the length of
 * the body in one byte, the body: integers of seven bits a byte, low first,
 * the top bit meaning "more", and text up to the end.  Unknown tags can be
 * stepped over.  A zero byte where a tag is due ends the events.
 *
 * A writer stores the tag last, by one store: whoever looks, at whatever
 * moment the process died, finds an event whole or not at all. */
#ifndef LOG_CODEC_H
#define LOG_CODEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "format.h"

enum log_kind {
	LOG_END = 0,
	LOG_MALLOC = 1,
	LOG_FREE = 2,
	LOG_CALLOC = 3,

	/* Long forms; every body begins with the time step in ticks. */
	LOG_X_TIME = 1 << 2,	/* nothing more: only the time went on */
	LOG_X_ALLOC = 2 << 2,	/* call, size, log2 of alignment (0 none),
				 * address, excess */
	LOG_X_FREE = 3 << 2,	/* address */
	LOG_X_REALLOC = 4 << 2,	/* old address, address, size, excess */
	LOG_X_RESIZE = 5 << 2,	/* old address: a realloc begins */
	LOG_X_RESIZED = 6 << 2,	/* address, size, excess: and ends */
	LOG_X_FAILED = 7 << 2,	/* call, size; a begun realloc ends so too */
	LOG_X_THREAD = 8 << 2,	/* tid, pthread_t, name: its events follow */
	LOG_X_NAME = 9 << 2,	/* pthread_t, name: from now on */
	LOG_X_MARK = 10 << 2,	/* label */
	LOG_X_PAUSE = 11 << 2,	/* blocks allocated from here are unknown */
	LOG_X_RESUME = 12 << 2,
	LOG_X_NESTED = 13 << 2,	/* slot, seq, offset: what follows happened
				 * just before the event stored there */
	LOG_X_INHERIT = 14 << 2,/* slot, seq, offset: the parent's log had
				 * come so far in this slot when we forked */
	LOG_X_MAP = 15 << 2,	/* call, address, length, old address and
				 * length */
};

/* Addresses in long forms are steps in bytes from 16 times the last one. */

enum log_call {
	LOG_CALL_MALLOC, LOG_CALL_CALLOC, LOG_CALL_REALLOC,
	LOG_CALL_REALLOCARRAY, LOG_CALL_POSIX_MEMALIGN, LOG_CALL_ALIGNED_ALLOC,
	LOG_CALL_MEMALIGN, LOG_CALL_VALLOC, LOG_CALL_PVALLOC, LOG_CALL_FREE,
	LOG_CALL_MMAP, LOG_CALL_MUNMAP, LOG_CALL_MREMAP, LOG_CALL_BRK,
	LOG_CALLS
};

enum { LOG_LONG_MAX = 2 + 255 };

/* Where a writer stands.  Only one thread has it in hand. */
struct log_writer {
	unsigned char *at;
	uint64_t last;		/* last address, over 16 */
	uint64_t ticks;		/* time of the last event */
};

/* One event, taken apart. */
struct log_event {
	enum log_kind kind;
	enum log_call call;
	uint64_t ticks;
	uint64_t address;	/* also LOG_X_RESIZE: the block that moves */
	uint64_t old;		/* realloc, map: where it was */
	uint64_t size;		/* requested; of a mapping */
	uint64_t old_size;	/* of a mapping */
	uint64_t usable;
	uint64_t align;		/* 0: usual */
	int32_t tid;
	uint32_t slot;
	uint64_t seq;
	uint32_t offset;
	uint64_t self;
	const char *text;	/* name or label, not NUL-terminated */
	uint32_t text_bytes;
};

static inline uint64_t
log_zigzag(uint64_t step)
{
	return step << 1 ^ (uint64_t)((int64_t)step >> 63);
}

static inline uint64_t
log_unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

static inline uint64_t
log_little(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(v);
#else
	return v;
#endif
}

/* How many bytes hold V, which is not 0. */
static inline unsigned
log_bytes_of(uint64_t v)
{
	return ((63 ^ (unsigned)__builtin_clzll(v)) >> 3) + 1;
}

/* Whether an event has a short form.  16 bytes on, and no further apart
 * than user space is wide, are what allocators keep to anyway. */
static inline bool
log_is_short(const struct log_writer *w, uint64_t address, uint64_t size,
    uint64_t dt)
{
	uint64_t z = log_zigzag((address >> 4) - w->last);

	return !((address & 15) | size >> 16 | dt >> 16 | z >> 56);
}

/* Store the short form of an event that has one.  LOG_EVENT_ROOM bytes must
 * be free at w->at.  SIZE is 0 for free; DT, in ticks, is stored if TIMED.
 * What is at once given up, or served again, needs no address. */
static inline void
log_put_short(struct log_writer *w, enum log_kind kind, uint64_t address,
    uint64_t size, bool timed, uint64_t dt)
{
	unsigned char *at = w->at;
	uint64_t step = (address >> 4) - w->last;
	unsigned step_bytes = 0, bits = 8;
	uint64_t low = kind;

	if (timed) {
		low |= 128 | dt << 8;
		bits += 16;
		w->ticks += dt;
	}
	if (kind != LOG_FREE) {
		low |= size << bits;
		bits += 16;
	}
	if (step) {
		uint64_t z = log_zigzag(step), high = 0;

		step_bytes = log_bytes_of(z);
		if (bits > 8)	/* else the step has 56 bits to itself */
			high = z >> (64 - bits);
		low |= step_bytes << 2 | z << bits;

		/* The high half first: the tag makes it an event. */
		high = log_little(high);
		memcpy(at + 8, &high, 8);
		w->last = address >> 4;
	}
	/* Pairs with the acquire of whoever reads the log while we live. */
	low = log_little(low);
	atomic_thread_fence(memory_order_release);
	memcpy(at, &low, 8);
	w->at = at + bits / 8 + step_bytes;
}

/* A long form being put together, away from the log. */
struct log_long {
	unsigned char *at;
	unsigned char bytes[LOG_LONG_MAX + 1];
};

static inline void
log_long_uint(struct log_long *l, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*l->at++ = (unsigned char)(v | 0x80);
	*l->at++ = (unsigned char)v;
}

static inline void
log_long_begin(struct log_long *l, enum log_kind kind, uint64_t dt)
{
	l->bytes[0] = (unsigned char)kind;
	l->at = l->bytes + 2;
	log_long_uint(l, dt);
}

static inline void
log_long_address(struct log_long *l, struct log_writer *w, uint64_t address)
{
	log_long_uint(l, log_zigzag(address - (w->last << 4)));
	w->last = address >> 4;
}

/* As much of TEXT as fits. */
static inline void
log_long_text(struct log_long *l, const char *text, size_t bytes)
{
	size_t room = (size_t)(l->bytes + LOG_LONG_MAX - l->at);

	if (bytes > room)
		bytes = room;
	memcpy(l->at, text, bytes);
	l->at += bytes;
}

/* What it takes in the log, with the zero byte that ends the events. */
static inline size_t
log_long_bytes(const struct log_long *l)
{
	return (size_t)(l->at - l->bytes) + 1;
}

/* log_long_bytes() must be free at w->at. */
static inline void
log_put_long(struct log_writer *w, struct log_long *l, uint64_t dt)
{
	size_t bytes = (size_t)(l->at - l->bytes);

	l->bytes[1] = (unsigned char)(bytes - 2);
	l->bytes[bytes] = LOG_END;
	memcpy(w->at + 1, l->bytes + 1, bytes);
	atomic_thread_fence(memory_order_release);
	w->at[0] = l->bytes[0];
	w->at += bytes;
	w->ticks += dt;
}

/* Where a reader stands: AT to END, nothing of it trusted. */
struct log_reader {
	const unsigned char *at, *end;
	uint64_t last, ticks;
	uint32_t usable_rule;
};

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

/* BYTES bytes, little-endian; at most 8, all before END. */
static inline uint64_t
log_get_little(const unsigned char *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

static inline int
log_get_short(struct log_reader *r, struct log_event *e)
{
	const unsigned char *at = r->at + 1;
	unsigned tag = r->at[0];
	unsigned time_bytes = tag & 128 ? 2 : 0, step_bytes = tag >> 2 & 7;
	unsigned size_bytes;

	e->kind = (enum log_kind)(tag & 3);
	size_bytes = e->kind == LOG_FREE ? 0 : 2;
	if (tag & 0x60
	    || (size_t)(r->end - at) < time_bytes + size_bytes + step_bytes)
		return -1;

	r->ticks += log_get_little(at, time_bytes);
	at += time_bytes;
	e->size = log_get_little(at, size_bytes);
	at += size_bytes;
	r->last += log_unzigzag(log_get_little(at, step_bytes));
	r->at = at + step_bytes;
	e->ticks = r->ticks;
	e->address = r->last << 4;
	e->align = 0;
	e->call = e->kind == LOG_FREE ? LOG_CALL_FREE
	    : e->kind == LOG_MALLOC ? LOG_CALL_MALLOC : LOG_CALL_CALLOC;
	e->usable = log_usable_expected(r->usable_rule, e->size);
	return 1;
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

static inline void
log_get_text(const unsigned char *at, const unsigned char *end,
    struct log_event *e)
{
	e->text = (const char *)at;
	e->text_bytes = (uint32_t)(end - at);
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
		return true;
	case LOG_X_FREE:
	case LOG_X_RESIZE:
		e->call = e->kind == LOG_X_FREE ? LOG_CALL_FREE
		    : LOG_CALL_REALLOC;
		return log_get_address(r, &at, end, &e->address);
	case LOG_X_REALLOC:
		e->call = LOG_CALL_REALLOC;
		return log_get_address(r, &at, end, &e->old)
		    && log_get_address(r, &at, end, &e->address)
		    && log_get_size(&at, end, e);
	case LOG_X_RESIZED:
		e->call = LOG_CALL_REALLOC;
		return log_get_address(r, &at, end, &e->address)
		    && log_get_size(&at, end, e);
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
		log_get_text(at, end, e);
		return true;
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
	e->align = 0;
	if (!log_get_body(r, at, end, e))
		return -1;
	r->at = end;
	return 1;
}

/* The next event into *E: 1; the events end: 0; what follows is none: -1,
 * and the reader stands before it. */
static inline int
log_get(struct log_reader *r, struct log_event *e)
{
	if (r->at >= r->end || r->at[0] == LOG_END)
		return 0;
	return r->at[0] & 3 ? log_get_short(r, e) : log_get_long(r, e);
}

#endif
