/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a log: frames by number, and what was mapped where.
 *
 * A log numbers frames as they are met: the same frame may have several
 * numbers, and that of a forked child has numbers of its own.  So a block
 * remembers a site, one for each number that an allocation named; when the
 * log is over, stacks_settle makes one of all frames that are the same call
 * in the same object with the same callers, and sites say which it is. */
#ifndef TOOLS_STACKS_H
#define TOOLS_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "log/codec.h"

enum {
	STACKS_DEEPEST = 1024,		/* calls; no recorder goes so far */
	STACKS_OBJECTS = 4096,		/* in all */
	STACKS_MAPPINGS = 1 << 16,	/* at one time */
	STACKS_PATH = 8192,
	STACKS_SITES = 1 << 24,		/* struct block has 24 bits for one */
	STACKS_GROUP = 1 << 12,		/* numbers; most logs need few */
	STACKS_GROUPS = (LOG_FRAMES_MOST + 1) / STACKS_GROUP,
};

/* An executable or library, wherever it was mapped. */
struct stacks_object {
	char *path;			/* empty: the program itself */
	unsigned char build_id[LOG_BUILD_ID_MOST];
	uint32_t build_id_bytes;
	uint64_t imprint;		/* 0: unknown */
};

/* A call, somewhere in the code. */
struct stacks_call {
	uint64_t address;	/* in the object: to where it returns, less 1.
				 * In the process, if the object is unknown */
	uint32_t object;	/* 0: unknown */
};

struct stacks_frame {
	uint32_t call;
	uint32_t caller;	/* less than its own number; 0: none */
	uint32_t depth;		/* frames up to the outermost, with it */
};

/* What the log being played says of a number. */
struct stacks_number {
	uint64_t address;	/* of the return, in the object; 0: unknown */
	uint32_t caller, object;
	uint32_t site;		/* 0: nobody named it */
	uint32_t frame;		/* once settled */
};

struct stacks_mapping;

/* Numbers of what is in a list, by hash; 0 is an empty place. */
struct stacks_index {
	uint32_t *places;
	size_t mask;
};

struct stacks {
	/* Of all logs played, number 0 of each being none: */
	struct stacks_object *objects;
	struct stacks_call *calls;
	struct stacks_frame *frames;
	uint32_t *sites;		/* a frame; while the log is played
					 * that names it, a number */
	size_t object_count, call_count, frame_count, site_count;
	struct stacks_index calls_index, frames_index;
	uint64_t multiplier;

	/* Of the log being played: */
	struct stacks_number *groups[STACKS_GROUPS];	/* or NULL */
	size_t first_site;
	struct stacks_mapping **mappings;	/* now, by address */
	size_t mapping_count, mapping_room;
	uint64_t *naming;		/* address of the mapping whose path
					 * may go on, in each slot */
	uint64_t senseless;		/* records that no program causes */
	uint64_t unknown;		/* sites whose frame is missing */
};

void stacks_init(struct stacks *s);
void stacks_free(struct stacks *s);

/* TO, which is nothing yet, becomes another FROM. */
void stacks_copy(struct stacks *to, const struct stacks *from);

/* The events of another log, which has so many SLOTS, follow.  What was
 * mapped stays: a forked child's log comes after that of its parent. */
void stacks_begin(struct stacks *s, size_t slots);

/* A frame, object, path or unload; others are no matter. */
void stacks_take(struct stacks *s, const struct log_event *e);

/* The log is over. */
void stacks_settle(struct stacks *s);

/* NULL: none near it was ever heard of. */
static inline struct stacks_number *
stacks_number(const struct stacks *s, uint32_t number)
{
	struct stacks_number *group = s->groups[number / STACKS_GROUP];

	return group ? group + number % STACKS_GROUP : NULL;
}

/* NUMBER will soon be asked for. */
static inline void
stacks_expect(const struct stacks *s, uint32_t number)
{
	__builtin_prefetch(stacks_number(s, number));
}

uint32_t stacks_new_site(struct stacks *s, uint32_t number);

/* The site of the stack whose innermost frame is NUMBER, LOG_FRAMES_MOST at
 * most; 0 is the unknown. */
static inline uint32_t
stacks_site(struct stacks *s, uint32_t number)
{
	const struct stacks_number *n;

	if (!number)
		return 0;
	n = stacks_number(s, number);
	return n && n->site ? n->site : stacks_new_site(s, number);
}

#endif
