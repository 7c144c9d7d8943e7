/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk that a stream writes into: where it comes from, how it is
 * described, what follows it. */
#ifndef HH_CHUNK_H
#define HH_CHUNK_H

#include "stream.h"

enum { CHUNK_PLACE_BYTES = 48 };	/* a long form with a place in it */

/* A slot of its own for a new stream.  Without room it has no chunk. */
void hh_chunk_give_slot(struct hh_stream *s);

/* The slot goes on with another thread's events: S's owner's. */
void hh_chunk_change_thread(struct hh_stream *s);

/* The chunk is full: it is kept and another one begins.  Where that cannot
 * be, the stream has no end from here on. */
void hh_chunk_next(struct hh_stream *s);

/* Its memory came with the header's and goes with it. */
bool hh_chunk_is_in_head(const struct log_chunk *chunk);

/* Let go of the memory of a chunk that is in the log. */
void hh_chunk_unmap(struct log_chunk *chunk);

/* The process ends, with this one thread: give back what will not be used.
 * Events may still come.  The stream must be taken. */
void hh_chunk_trim(struct hh_stream *s);

/* One place in a log; CHUNK_PLACE_BYTES must be free, or it is left out. */
void hh_chunk_put_place(struct hh_stream *s, enum log_kind kind,
    uint32_t slot, uint64_t seq, uint64_t offset);

/* A record, DT after the last one, before the event that S was taken for and
 * whose room is kept.  False: there is no room any more. */
bool hh_chunk_put_long(struct hh_stream *s, struct log_long *l, uint64_t dt);

/* What follows in S happened before the event that OUTER is putting down. */
void hh_chunk_put_outer(struct hh_stream *s, const struct hh_stream *outer);

/* How far S has come in its chunk. */
uint64_t hh_chunk_offset(const struct hh_stream *s);

/* A forked child's log has no slots yet. */
void hh_chunk_forget(void);

#endif
