/* SPDX-License-Identifier: Apache-2.0 */
/* The log as a file: space, slots, appended chunks, and the one descriptor.
 *
 * Every range of the file is claimed by one atomic add, so threads never
 * wait for each other here.  All may be called in a signal handler. */
#ifndef HH_FILE_H
#define HH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../interpose/head.h"
#include "../log/format.h"

/* Create the log that HEAPHOOK_OUTPUT names, with BYTES in all mapped, for
 * whoever hh_create() would. */
struct log_head *hh_file_create(const struct hh_head_origin *origin,
    uint64_t limit, size_t bytes);

/* In a forked child, what is being put into the parent's log is not. */
void hh_file_part(void);

/* A forked child lets go of its parent's log.  CLONE: by nobody knows what, and
 * it may share the descriptors of its parent, who needs his. */
void hh_file_forget(bool clone);

/* The process ends: such a clone leaves its parent no descriptor. */
void hh_file_leave(void);

/* A new chunk of BYTES in the file, mapped and present, zeroed but for its
 * first words.  NULL when there is no room: recording has been stopped. */
struct log_chunk *hh_file_slot(size_t bytes, uint32_t slot);

/* The slot CHUNK, of BYTES, needs only KEPT of them: the file ends there if
 * nothing came after it.  False: it stays as it is. */
bool hh_file_trim(const struct log_chunk *chunk, size_t bytes, size_t kept);

/* Append this full chunk as it is.  False: recording has been stopped. */
bool hh_file_append(const struct log_chunk *chunk);

/* No system call from now on: what is needed is made in advance.  FILTER: nor
 * may a child make any.  What failed is undone. */
void hh_file_seal(bool filter);
void hh_file_seal_failed(bool filter);
bool hh_file_sealed(void);
bool hh_file_filtered(void);

/* Events end here, for every thread; the first reason stays. */
void hh_file_stop(enum log_stop why, int error);
bool hh_file_stopped(void);

int hh_file_descriptor(void);	/* -1: none */
bool hh_file_move_descriptor(void);	/* false: that was not ours */

#endif
