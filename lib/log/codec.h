/* SPDX-License-Identifier: Apache-2.0 */
/* Events as bytes, and how they are written; decode.h reads them.
 *
 * What is frequent has a short form, one to fourteen bytes:
 *
 *     tag  [time step]  [size]  [stack]  [address step]
 *
 *     tag bits 0-1  1 malloc, 2 free, 3 calloc
 *          bits 2-4  bytes of the address step, 0 to 6; 7: the address is
 *                    the last one, the size that of the last that came so
 *                    without an address, and neither is there
 *          bits 5-6  bytes of the stack, 0 to 3; free has none
 *          bit  7    there is a time step
 *
 * The time step is ticks in two bytes; without it the event is as late as
 * the one before.  The size, which free never has, is two bytes; their top
 * bit says that the block has LOG_SPARE_BYTES more than expected.  The stack
 * is the number of its innermost frame, without it unknown.  The address step
 * is from the last address of the chunk, over 16, zigzag (0 -1 1 -2 as
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
				 * address, excess, [stack] */
	LOG_X_FREE = 3 << 2,	/* address */
	LOG_X_REALLOC = 4 << 2,	/* old address, address, size, excess,
				 * [stack] */
	LOG_X_RESIZE = 5 << 2,	/* old address: a realloc begins */
	LOG_X_RESIZED = 6 << 2,	/* address, size, excess, [stack]: it ends */
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
	LOG_X_FRAME = 16 << 2,	/* number, number of its caller (0: none),
				 * return address: stacks are trees of these */
	LOG_X_OBJECT = 17 << 2,	/* bias, address, length, bytes of the build
				 * id, build id, path: mapped from now on */
	LOG_X_PATH = 18 << 2,	/* more of that object's path */
	LOG_X_UNLOAD = 19 << 2,	/* address: that object is gone */
	LOG_X_TOOK = 20 << 2,	/* how long: of the nearest call before it in
				 * this slot whose time is not known yet */
	LOG_X_IMPRINT = 21 << 2,/* of that object, which has no build id */
	LOG_X_KINDS = 22 << 2
};

/* Addresses in long forms are steps in bytes from 16 times the last one. */

enum log_call {
	LOG_CALL_MALLOC, LOG_CALL_CALLOC, LOG_CALL_REALLOC,
	LOG_CALL_REALLOCARRAY, LOG_CALL_POSIX_MEMALIGN, LOG_CALL_ALIGNED_ALLOC,
	LOG_CALL_MEMALIGN, LOG_CALL_VALLOC, LOG_CALL_PVALLOC, LOG_CALL_FREE,
	LOG_CALL_MMAP, LOG_CALL_MUNMAP, LOG_CALL_MREMAP, LOG_CALL_BRK,
	LOG_CALLS
};

enum {
	LOG_AGAIN = 7,		/* for the bytes of the address step */
	LOG_SIZE_BITS = 15,	/* of a short form, with what is spare above */
	LOG_SPARE_BYTES = 1 << 4,	/* a rest too small for a block */
	LOG_SPARE_SHIFT = LOG_SIZE_BITS - 4,
	LOG_LONG_MAX = 2 + 255,
	LOG_FRAMES_MOST = (1 << 24) - 1,	/* numbers of three bytes */
	LOG_BUILD_ID_MOST = 32,
};

/* Where a writer stands.  Only one thread has it in hand. */
struct log_writer {
	unsigned char *at;
	uint64_t last;		/* last address, over 16 */
	uint64_t size;		/* of the last one without an address */
	uint64_t ticks;		/* time of the last event */
};

/* One event, taken apart. */
struct log_event {
	enum log_kind kind;
	enum log_call call;
	uint64_t ticks;
	uint64_t address;	/* also LOG_X_RESIZE: the block that moves */
	uint64_t old;		/* realloc, map: where it was; the bias of an
				 * object; the sum that is its imprint */
	uint64_t size;		/* requested; of a mapping */
	uint64_t old_size;	/* of a mapping */
	uint64_t usable;
	uint64_t align;		/* 0: usual */
	int32_t tid;
	uint32_t slot;
	uint64_t seq;
	uint32_t offset;
	uint64_t self;
	uint32_t stack;		/* its innermost frame; 0: unknown */
	uint32_t caller;	/* of a frame */
	const char *text;	/* name, label or path, not NUL-terminated */
	uint32_t text_bytes;
	const unsigned char *build_id;
	uint32_t build_id_bytes;
	uint64_t took;		/* of the allocator, in units; 0: unknown */
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

	return !((address & 15) | size >> LOG_SIZE_BITS | dt >> 16 | z >> 48);
}

/* Whether SPARE, how much more is usable than expected, has one too. */
static inline bool
log_is_spare(uint64_t spare)
{
	return !(spare & ~(uint64_t)LOG_SPARE_BYTES);
}

/* Both as the two bytes of size. */
static inline uint64_t
log_short_size(uint64_t size, uint64_t spare)
{
	return size | spare << LOG_SPARE_SHIFT;
}

/* Store the short form of an event that has one.  LOG_EVENT_ROOM bytes must
 * be free at w->at.  SIZE is of log_short_size(), 0 for free; DT, in ticks, is
 * stored if TIMED.
 * What is at once given up, or served again, needs no address, and if it is
 * served as it was, no size.
 *
 * Few stores: while one waits for memory all later ones do. */
static inline void
log_put_short(struct log_writer *w, enum log_kind kind, uint64_t address,
    uint64_t size, bool timed, uint64_t dt)
{
	unsigned char *at = w->at;
	uint64_t step = (address >> 4) - w->last;
	unsigned bits = 8;
	uint64_t low = kind;

	if (timed) {
		low |= 128 | dt << 8;
		bits += 16;
		w->ticks += dt;
	}
	if (kind != LOG_FREE && !step && size == w->size) {
		low |= LOG_AGAIN << 2;
	} else if (kind != LOG_FREE) {
		low |= size << bits;
		bits += 16;
		if (!step)
			w->size = size;
	}
	if (step) {
		uint64_t z = log_zigzag(step);
		unsigned step_bytes = log_bytes_of(z);

		low |= step_bytes << 2 | z << bits;
		if (bits + 8 * step_bytes >= 64) {
			/* The high half first: the tag makes it an event. */
			uint64_t high = bits > 8 ? z >> (64 - bits) : 0;

			high = log_little(high);
			memcpy(at + 8, &high, 8);
		}
		bits += 8 * step_bytes;
		w->last = address >> 4;
	}
	/* Pairs with the acquire of whoever reads the log while we live. */
	low = log_little(low);
	atomic_thread_fence(memory_order_release);
	memcpy(at, &low, 8);
	w->at = at + bits / 8;
}

/* The same for an event that has a stack: LOG_FRAMES_MOST at most. */
static inline void
log_put_stacked(struct log_writer *w, enum log_kind kind, uint64_t address,
    uint64_t size, uint64_t dt, uint32_t stack)
{
	uint64_t z = log_zigzag((address >> 4) - w->last);
	unsigned step_bytes = z ? log_bytes_of(z) : 0;
	unsigned stack_bytes = stack ? log_bytes_of(stack) : 0;
	unsigned bits = 40 + 8 * stack_bytes;
	uint64_t low = kind | step_bytes << 2 | stack_bytes << 5 | 128
	    | dt << 8 | size << 24 | (uint64_t)stack << 40;
	uint64_t high = bits < 64 ? z >> (64 - bits) : z;

	low = log_little(bits < 64 ? low | z << bits : low);
	high = log_little(high);
	memcpy(w->at + 8, &high, 8);
	atomic_thread_fence(memory_order_release);
	memcpy(w->at, &low, 8);
	w->at += bits / 8 + step_bytes;
	w->last = address >> 4;
	if (!z)
		w->size = size;
	w->ticks += dt;
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

/* As much of TEXT as fits: that much is returned. */
static inline size_t
log_long_text(struct log_long *l, const char *text, size_t bytes)
{
	size_t room = (size_t)(l->bytes + LOG_LONG_MAX - l->at);

	if (bytes > room)
		bytes = room;
	memcpy(l->at, text, bytes);
	l->at += bytes;
	return bytes;
}

/* The last of an event's integers, if it has a stack at all. */
static inline void
log_long_stack(struct log_long *l, uint32_t stack)
{
	if (stack)
		log_long_uint(l, stack);
}

/* Something with code in it that the loader mapped. */
struct log_object {
	uint64_t bias;		/* from its own addresses to the process's */
	uint64_t address;	/* where its mapping begins */
	uint64_t bytes;
	const unsigned char *build_id;
	size_t build_id_bytes;	/* LOG_BUILD_ID_MOST at most */
};

/* A LOG_X_OBJECT with as much of PATH as fits, which is returned; the rest
 * goes into one LOG_X_PATH after the other. */
static inline size_t
log_long_object(struct log_long *l, const struct log_object *o,
    const char *path, size_t bytes, uint64_t dt)
{
	log_long_begin(l, LOG_X_OBJECT, dt);
	log_long_uint(l, o->bias);
	log_long_uint(l, o->address);
	log_long_uint(l, o->bytes);
	log_long_uint(l, o->build_id_bytes);
	log_long_text(l, (const char *)o->build_id, o->build_id_bytes);
	return log_long_text(l, path, bytes);
}

static inline size_t
log_long_path(struct log_long *l, const char *path, size_t bytes)
{
	log_long_begin(l, LOG_X_PATH, 0);
	return log_long_text(l, path, bytes);
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

#endif
