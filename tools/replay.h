/* SPDX-License-Identifier: Apache-2.0 */
/* The live blocks over time: each event becomes a step that says what came
 * and what went. */
#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"
#include "doubts.h"
#include "merge.h"
#include "reader.h"
#include "stacks.h"
#include "threads.h"

static const uint32_t REPLAY_NO_THREAD = UINT32_MAX;

struct replay_step {
	const struct log_event *event;
	uint64_t ticks;		/* never less than in the step before */
	uint32_t thread;	/* in replay.threads, or REPLAY_NO_THREAD */
	bool freed;		/* if gone is NULL, what had not come before */
	const struct block *come;	/* or NULL; a realloc has both */
	const struct block *gone;	/* or NULL.  It can go without a free:
					 * when another takes its address */
};

/* Who wants to know.  All may be NULL. */
struct replay_watch {
	void *who;
	/* Blocks that a forked child began with, by address. */
	void (*inherited)(void *who, const struct block *block);
	void (*step)(void *who, const struct replay_step *step);
	/* Sites of blocks that will soon come or go: most of them. */
	void (*expect)(void *who, const uint32_t *sites, unsigned n);
	/* Now and then: how much of the log is done, of 1. */
	void (*progress)(void *who, double done);
	uint64_t until;		/* no steps at or after this time */
	struct stacks *stacks;	/* to be filled; NULL: all sites are 0 */
};

/* Reallocs on their way: their blocks are live, but not at their addresses.
 * There is more than one when a signal handler comes in the middle of one. */
struct replay_transit {
	int32_t tid;			/* whose they are */
	uint64_t self;
	unsigned depth;
	struct replay_moving {
		bool known, owed;
		struct block block;
	} moving[4];
};

struct replay {
	struct reader *log;
	const struct replay_watch *watch;
	void (*show)(void *who, const struct replay_step *step);
	struct merge merge;
	struct blocks blocks;
	struct threads threads;
	struct stacks *stacks;
	uint32_t *who;			/* is at work in each slot */
	struct replay_transit *transit;	/* in each slot */
	struct doubts doubles;		/* live, where another block is too */
	struct doubts owed;		/* frees that came before their block */
	struct recent recent;
	struct replay_step step;
	struct block gone;		/* the step's */
	uint64_t batches;		/* decoded up to now */
	uint64_t address, old;		/* that the step is about; or what
					 * is in its way; or 0 */
	uint64_t lost;			/* blocks whose free is missing */
	uint64_t senseless;		/* events that no program can cause */
};

/* Show WATCH all of LOG.  What is wrong is added to the log's problems.
 * The result is good for its threads until replay_free. */
void replay_run(struct replay *r, struct reader *log,
    const struct replay_watch *watch);
void replay_free(struct replay *r);

/* The parts of it: to CUTS, if they are not NULL, and from there on to others
 * by merge_go_on() and another play.  Without a watch nobody is shown
 * anything.  Settled, the blocks are as the process left them. */
void replay_init(struct replay *r, struct stacks *stacks);
void replay_begin(struct replay *r, struct reader *log,
    const struct stream_place *cuts);
void replay_play(struct replay *r);
void replay_settle(struct replay *r);
void replay_end(struct replay *r);

#endif
