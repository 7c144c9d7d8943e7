/* SPDX-License-Identifier: Apache-2.0 */
/* What a log says, as plain facts.  Nothing behind this header knows the
 * log, nothing before it a form of output. */
#ifndef TOOLS_PROFILE_H
#define TOOLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_number {
	bool known;
	uint64_t value;
};

struct profile_texts {
	char **list;
	size_t count;
};

struct profile_thread {
	int32_t tid;
	char name[16];
	uint64_t allocations, frees, allocated_bytes;
};

struct profile_size {
	uint64_t from, to;	/* both belong to it */
	uint64_t allocations;
};

struct profile_point {
	double s;		/* where it begins */
	uint64_t live_bytes;	/* where it ends */
	uint64_t peak_bytes;	/* the most within it */
	uint64_t extra_bytes;	/* usable, but not requested, where it ends */
	bool counted;		/* only counters tell it: the bytes are usable
				 * ones, and what was requested is unknown */
};

struct profile_mark {
	double s;
	char *label;
};

/* How long one kind of call took. */
struct profile_latency {
	const char *call;
	uint64_t count;
	double total_ns, mean_ns, p50_ns, p90_ns, p99_ns, p99_9_ns, max_ns;
};

/* One call that took long. */
struct profile_slow {
	const char *call;
	double s, ns;		/* when, and how long */
	struct profile_number tid, bytes;
	char name[16];		/* of the thread */
	uint32_t frame;		/* in tree, where its block was allocated; 0:
				 * unknown */
};

/* An executable or library. */
struct profile_object {
	char *path;		/* NULL: unknown */
	unsigned char build_id[32];
	unsigned build_id_bytes;
	uint64_t imprint;	/* where there is no build id; 0: unknown */
	const char *complaint;	/* why names or lines are missing; NULL */
	const char *missed;	/* a .dwo that is missing; NULL: none, */
	unsigned missed_more;	/* and how many more */
};

struct profile_call;

/* A function at work.  An inlined one comes before the function it is a part
 * of; both are at the same call. */
struct profile_frame {
	const char *function, *file;	/* NULL: unknown */
	unsigned line;			/* 0: unknown */
	bool inlined;
	bool plumbing;			/* it allocates for its caller, as
					 * operator new and strdup do */
	const struct profile_call *call;
};

/* A place in the code from where something was called. */
struct profile_call {
	struct profile_object *object;	/* NULL: unknown */
	uint64_t address;	/* in the object's file, to where it returns,
				 * less 1; without an object in the process */
	struct profile_frame *frames;	/* innermost first; the last is not
					 * inlined.  NULL: not named yet */
	unsigned frame_count;
};

/* Stacks as a tree; number 0 is none. */
struct profile_node {
	uint32_t call;		/* in calls */
	uint32_t caller;	/* in tree, less than its own number */
};

/* One stack, and the blocks that were allocated there. */
struct profile_site {
	uint32_t frame;		/* innermost, in tree; 0: unknown */
	const struct profile_frame **stack;	/* innermost first; see
						 * names.h */
	unsigned depth;
	bool suppressed;			/* as leak */
	uint64_t allocations, allocated_bytes, temporary;
	uint64_t live_blocks, live_bytes;	/* at the end */
	uint64_t peak_blocks, peak_bytes;	/* at the program's peak: they
						 * add up to it */
	uint64_t most_blocks, most_bytes;	/* at a peak of its own */
	double lived_s;				/* its blocks, together */
	double growth;		/* bytes a second, of live bytes that rise
				 * steadily; 0: they do not */
};

/* Within how much a site's estimates are right, nearly always. */
struct profile_error {
	double peak, live, allocated;	/* bytes */
	double allocations;
};

enum {
	PROFILE_SIZES = 65,		/* 0, 1, 2-3, 4-7, ... */
	PROFILE_POINTS = 256,
};

/* Texts are NULL, seconds NAN when unknown. */
struct profile {
	char *path;
	struct profile_number pid, ppid, rank, ranks;
	char *exe, *cwd, *host;
	struct profile_texts argv;
	const char *mode;		/* "events", "summary" */
	const char *bytes;		/* "requested", "usable" */
	const char *state;		/* "running", "exited", "execed",
					 * "died" */
	struct profile_number status;
	bool complete;
	struct profile_texts problems;
	double start;			/* since 1970 */
	double elapsed_s;
	struct profile_number allocations, frees, failed, allocated_bytes;
	struct profile_number peak_bytes, peak_usable_bytes;
	uint64_t peak_extra_bytes;	/* usable, but not requested, then */
	double peak_s;
	struct profile_number peak_error_bytes;
	struct profile_number live_blocks, live_bytes, live_usable_bytes;
	struct profile_number unknown_frees;
	struct profile_number inherited_blocks, inherited_bytes;

	bool paused;			/* at times; blocks are unknown then */
	char *allocator;		/* NULL: the C library's */
	bool has_mappings, has_pool;
	struct profile_number mappings, mapped_bytes;
	struct profile_number pool_bytes, pool_used_bytes, pool_peak_bytes,
	    pool_largest_free_bytes, pool_growths;

	struct profile_thread *threads;
	size_t thread_count;
	bool has_sizes;
	struct profile_size sizes[PROFILE_SIZES];	/* none is empty */
	size_t size_count;
	struct profile_point *timeline;
	size_t point_count;		/* at most PROFILE_POINTS */
	double timeline_end_s;
	bool stopped;			/* recording did: of frees after that */
	double stopped_s;		/* nothing is known */
	struct profile_mark *marks;
	size_t mark_count;

	bool has_latency;		/* how long calls took was recorded */
	double clock_ns;		/* that the clock takes of each */
	struct profile_latency *latency;
	size_t latency_count;
	struct profile_slow *slowest;	/* first */
	size_t slow_count;

	bool has_sites;			/* stacks were recorded */
	struct profile_number sample_bytes;	/* known: sites are estimates,
						 * by one block every so many
						 * bytes, */
	struct profile_error *errors;	/* with these, by frame; else NULL */
	struct profile_site *sites;
	size_t site_count;
	size_t once_count;		/* the last of them: they called once,
					 * and nobody asked for such */
	struct profile_node *tree;
	struct profile_call *calls;
	struct profile_object *objects;
	size_t tree_count, call_count, object_count;
	uint32_t *site_frames;		/* in tree, by the site that a replay
					 * gives a block */
	size_t site_frame_count;
};

/* Which part of a log counts. */
struct profile_part {
	double from_s, to_s;		/* since its start; INFINITY: no end */
	const char *thread;		/* blocks of threads with this name
				 * (glob) or tid; NULL: of all */
};

struct reader;

/* PROGRESS may be NULL: told now and then how much is done, of 1. */
void profile_make(struct profile *p, struct reader *log,
    const struct profile_part *part, void (*progress)(void *, double));
void profile_free(struct profile *p);

#endif
