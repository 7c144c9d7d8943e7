/* SPDX-License-Identifier: Apache-2.0 */
/* Logs made to order, by the recorder's own writers.  A tick is a
 * nanosecond; the log starts at MAKER_START and the process exits with 0
 * MAKER_SECONDS later, unless the test says otherwise in `head`. */
#ifndef LOGMAKER_H
#define LOGMAKER_H

#include <stddef.h>
#include <stdint.h>

#include "log/codec.h"

enum { MAKER_SLOTS = 16 };

static const uint64_t MAKER_START = 1000000000;
static const uint64_t MAKER_SECONDS = 2;

struct maker_slot {
	struct log_chunk *chunk;	/* being written; NULL: no such slot */
	struct log_writer w;
	uint64_t seq;
	int32_t tid;
	char name[LOG_NAME_BYTES];
	uint32_t flags;
	struct log_counters counters;
};

struct maker {
	struct log_head head;
	uint32_t chunk_bytes;		/* of those to come */
	struct maker_slot slots[MAKER_SLOTS];
	struct log_chunk **full;	/* chunks, in the order of filling */
	size_t full_count;
};

void maker_begin(struct maker *m);
void maker_end(struct maker *m);

/* The next slot, of TID called NAME, whose pthread_t is 1000 times TID. */
unsigned maker_slot(struct maker *m, int32_t tid, const char *name,
    uint32_t flags);

/* Store an event DT ticks after the slot's last.  Short forms are taken
 * where they fit. */
void maker_malloc(struct maker *m, unsigned slot, uint64_t address,
    uint64_t size, uint64_t dt);
void maker_free(struct maker *m, unsigned slot, uint64_t address,
    uint64_t dt);
void maker_alloc(struct maker *m, unsigned slot, enum log_call call,
    uint64_t address, uint64_t size, unsigned align_log, uint64_t excess);
void maker_realloc(struct maker *m, unsigned slot, uint64_t old,
    uint64_t address, uint64_t size, uint64_t dt);
void maker_resize(struct maker *m, unsigned slot, uint64_t old, uint64_t dt);
void maker_resized(struct maker *m, unsigned slot, uint64_t address,
    uint64_t size, uint64_t dt);
void maker_failed(struct maker *m, unsigned slot, enum log_call call,
    uint64_t size);
void maker_thread(struct maker *m, unsigned slot, int32_t tid,
    const char *name);
void maker_name(struct maker *m, unsigned slot, uint64_t self,
    const char *name);
void maker_mark(struct maker *m, unsigned slot, const char *label,
    uint64_t dt);
void maker_map(struct maker *m, unsigned slot, enum log_call call,
    uint64_t address, uint64_t bytes);

/* Stacks: frame NUMBER was called by CALLER and called from before PC. */
void maker_frame(struct maker *m, unsigned slot, uint32_t number,
    uint32_t caller, uint64_t pc);
void maker_object(struct maker *m, unsigned slot, uint64_t bias,
    uint64_t address, uint64_t bytes, const char *path);
void maker_unload(struct maker *m, unsigned slot, uint64_t address);
void maker_malloc_at(struct maker *m, unsigned slot, uint64_t address,
    uint64_t size, uint64_t dt, uint32_t stack);
void maker_realloc_at(struct maker *m, unsigned slot, uint64_t old,
    uint64_t address, uint64_t size, uint64_t dt, uint32_t stack);

/* How long the call before took; the log must say it has such. */
void maker_took(struct maker *m, unsigned slot, uint64_t units);

/* LOG_X_NESTED or LOG_X_INHERIT: a place. */
void maker_place(struct maker *m, unsigned slot, enum log_kind kind,
    uint32_t of, uint64_t seq, uint32_t offset);

/* A long form of KIND with only a time step. */
void maker_bare(struct maker *m, unsigned slot, enum log_kind kind,
    uint64_t dt);

/* Where the slot's next event will be. */
uint32_t maker_offset(const struct maker *m, unsigned slot);

/* The chunk is full; the slot goes on with the next. */
void maker_next_chunk(struct maker *m, unsigned slot);

/* The log: header, slots, full chunks.  The caller frees it. */
unsigned char *maker_bytes(const struct maker *m, size_t *bytes);

/* The same in a file of a new name, which the caller frees and removes. */
char *maker_save(const struct maker *m);
char *maker_store(const void *bytes, size_t n);

#endif
