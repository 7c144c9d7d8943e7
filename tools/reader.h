/* SPDX-License-Identifier: Apache-2.0 */
/* A log as a file, or as a part of a bundle (BUNDLE/NAME): opened, checked,
 * its chunks found.  No byte of it is trusted; what is not good is left out
 * and named in `problems`. */
#ifndef TOOLS_READER_H
#define TOOLS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "log/format.h"
#include "problems.h"

struct reader_chunk {
	uint64_t at;		/* where in the file */
	uint64_t seq;
	uint32_t slot;		/* as the log numbers it */
	uint32_t bytes;		/* as far as the file has them */
	uint32_t flags;		/* enum log_chunk_flag */
	bool whole, cut;	/* by the end of the file */
	unsigned char *kept;	/* a slot of a process that still runs, as it
				 * was when the log was opened */
};

/* The chunks of one slot, by seq; of equal ones the better comes first. */
struct reader_slot {
	size_t first, end;	/* in reader.chunks */
	uint32_t number;	/* as the log numbers it */
	bool nested;		/* of signal handlers */
};

enum reader_state {
	READER_EXITED,
	READER_EXECED,
	READER_RUNNING,
	READER_DIED,
};

struct reader {
	char *path;
	int fd;
	uint64_t base;			/* where in the file it begins: not 0
					 * in a bundle */
	enum reader_state state;
	uint64_t bytes;			/* of the log when it was opened */
	struct timespec changed;	/* and when it last was, then */
	uint64_t done;			/* of its chunks, read since */
	struct log_head head;
	struct reader_chunk *chunks;
	size_t chunk_count;
	struct reader_slot *slots;	/* by number */
	size_t slot_count;
	unsigned char *scratch;		/* one chunk, for its sum */
	struct problems problems;
};

/* NULL, or why PATH cannot be used at all; then nothing is left open. */
const char *reader_open(struct reader *r, const char *path);
void reader_close(struct reader *r);

/* How many of BYTES bytes at AT could be read. */
size_t reader_read(struct reader *r, uint64_t at, void *to, size_t bytes);

/* The chunk's head into *HEAD.  False: it is not, or no longer, there or
 * its sum is wrong. */
bool reader_check(struct reader *r, const struct reader_chunk *chunk,
    struct log_chunk *head);

/* A text of the header; NULL when it is unknown. */
const char *reader_text(const struct reader *r, uint32_t offset);

/* The slot that the log calls NUMBER; slot_count if there is none. */
size_t reader_find_slot(const struct reader *r, uint32_t number);

/* Into P, unless it is NULL: chunks FROM to TO of a slot, if there are any,
 * are missing; C has WHAT wrong with it. */
void reader_say_missing(struct problems *p, uint32_t slot, uint64_t from,
    uint64_t to);
void reader_say_damaged(struct problems *p, const struct reader_chunk *c,
    const char *what);

/* From the log's clock to seconds since its start. */
double reader_seconds(const struct reader *r, uint64_t ticks);
double reader_ticks_per_s(const struct reader *r);

#endif
