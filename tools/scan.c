/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "room.h"

/* Of slots of a process that runs; more are read when their turn comes, as
 * they are then. */
static const uint64_t KEEP_BYTES = 64 << 20;

enum { SLOTS_MET = 1 << 16 };

static bool
is_zero(const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	return !n || (!at[0] && !memcmp(at, at + 1, n - 1));
}

/* How much of the file is the chunk at AT; 0 if none is there. */
static uint32_t
chunk_extent(const struct reader *r, uint64_t at, const struct log_chunk *c)
{
	uint64_t left = r->bytes - at;

	if (c->magic != LOG_CHUNK_MAGIC || c->bytes % LOG_PAGE
	    || c->bytes < LOG_PAGE || c->bytes > LOG_MAX_CHUNK_BYTES)
		return 0;
	return c->bytes < left ? c->bytes : (uint32_t)left;
}

/* What the search for chunks has come upon. */
struct scan {
	uint64_t at;
	uint64_t covered;	/* up to where chunks say that they reach */
	size_t room;
	bool *met;		/* of a running process: slots, by number */
	uint64_t kept;		/* bytes of them */
	uint32_t slots;		/* that were never begun */
	uint64_t strange;	/* pages that are no part of a chunk */
};

static void
add_chunk(struct reader *r, struct scan *s, const struct log_chunk *c,
    uint32_t extent, unsigned char *kept)
{
	struct reader_chunk *chunk;

	if (r->chunk_count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		r->chunks = room_grow(r->chunks, s->room, sizeof *r->chunks);
	}
	chunk = r->chunks + r->chunk_count++;
	*chunk = (struct reader_chunk){
		.at = s->at, .seq = c->seq, .slot = c->slot,
		.bytes = extent, .flags = c->flags, .kept = kept,
		.cut = extent < c->bytes,
	};
}

/* The first chunk of a slot in the file is the slot itself, which will be
 * used again while we read: take it as it is now.  NULL: it is a copy, or
 * there are too many. */
static unsigned char *
snapshot(struct reader *r, struct scan *s, struct log_chunk *c)
{
	const uint32_t bytes = c->bytes;	/* C is read again */
	const struct log_chunk *taken;
	unsigned char *kept;

	if (r->state != READER_RUNNING || c->slot >= SLOTS_MET
	    || s->kept + bytes > KEEP_BYTES)
		return NULL;
	if (!s->met)
		s->met = room_new(SLOTS_MET, sizeof *s->met);
	if (s->met[c->slot])
		return NULL;
	s->met[c->slot] = true;
	s->kept += bytes;
	kept = room_new(bytes, 1);
	taken = (const struct log_chunk *)kept;
	/* Once more if it began again meanwhile. */
	for (int tries = 0; tries < 3 && taken->seq != c->seq; tries++) {
		reader_read(r, s->at, kept, bytes);
		reader_read(r, s->at, c, sizeof *c);
	}
	*c = *taken;
	c->bytes = bytes;
	return kept;
}

/* A hole may be as large as the file system likes. */
static uint64_t
next_data(struct reader *r, uint64_t at)
{
	off_t data = lseek(r->fd, (off_t)(r->base + at), SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? r->bytes : at + LOG_PAGE;
	data -= (off_t)r->base;
	data -= data % LOG_PAGE;
	return (uint64_t)data > at ? (uint64_t)data : at + LOG_PAGE;
}

static void
take_chunk(struct reader *r, struct scan *s, struct log_chunk *c,
    uint32_t extent)
{
	unsigned char *kept = extent == c->bytes ? snapshot(r, s, c) : NULL;
	struct log_trailer t = { 0 };

	if (s->covered < s->at + c->bytes)
		s->covered = s->at + c->bytes;
	add_chunk(r, s, c, extent, kept);
	if (kept)
		memcpy(&t, kept + extent - sizeof t, sizeof t);
	else if (extent == c->bytes)
		reader_read(r, s->at + extent - sizeof t, &t, sizeof t);
	r->chunks[r->chunk_count - 1].whole = t.seq == c->seq;
	/* What claims to be large and is not whole may hide others. */
	s->at += t.seq == c->seq ? c->bytes : LOG_PAGE;
}

/* Look at one place; move to the next.  False: what is there is just being
 * appended. */
static bool
scan_one(struct reader *r, struct scan *s)
{
	struct log_chunk c = { 0 };
	size_t got = reader_read(r, s->at, &c, sizeof c);
	uint32_t extent = got == sizeof c ? chunk_extent(r, s->at, &c) : 0;

	if (r->state == READER_RUNNING
	    && (got < sizeof c || (extent && extent < c.bytes)))
		return false;
	if (is_zero(&c, got)) {
		s->at = next_data(r, s->at);
		return true;
	}
	if (extent && c.seq) {
		take_chunk(r, s, &c, extent);
		return true;
	}
	/* The magic is stored last: without any, it is a slot that was
	 * being made. */
	if (extent)
		s->slots++;
	else if (s->at >= s->covered && (c.magic || got < sizeof c))
		s->strange++;
	s->at += LOG_PAGE;
	return true;
}

static int
by_number(const void *a, const void *b)
{
	const struct reader_chunk *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->whole != y->whole)
		return x->whole ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void
group_slots(struct reader *r)
{
	size_t room = 0;

	for (size_t i = 0; i < r->chunk_count; i++) {
		const struct reader_chunk *c = r->chunks + i;

		if (i && c->slot == c[-1].slot) {
			r->slots[r->slot_count - 1].end++;
			continue;
		}
		if (r->slot_count == room) {
			room = room ? 2 * room : 16;
			r->slots = room_grow(r->slots, room, sizeof *r->slots);
		}
		r->slots[r->slot_count++] = (struct reader_slot){
			.first = i, .end = i + 1, .number = c->slot,
			.nested = c->flags & LOG_CHUNK_NESTED,
		};
	}
}

/* Counters only: a table of heads, one for each slot. */
static void
scan_table(struct reader *r, struct scan *s)
{
	struct log_chunk c;

	for (; s->at < LOG_HEADER_BYTES + LOG_FIRST_SLOT_BYTES;
	    s->at += sizeof c)
		if (reader_read(r, s->at, &c, sizeof c) == sizeof c
		    && c.magic == LOG_CHUNK_MAGIC)
			add_chunk(r, s, &c, sizeof c, NULL);
}

static bool
has_cut_chunk(const struct reader *r)
{
	for (size_t i = 0; i < r->chunk_count; i++)
		if (r->chunks[i].cut)
			return true;
	return false;
}

/* Of a process that died, slots may not have been made to their end. */
static void
say_missing(struct reader *r, const struct scan *s)
{
	const struct log_header *h = &r->head.h;

	if (r->bytes < LOG_HEADER_BYTES)
		problems_loss(&r->problems, "the log is cut: it ends within "
		    "its header, after %" PRIu64 " bytes", r->bytes);
	else if (r->bytes % LOG_PAGE && !has_cut_chunk(r))
		problems_loss(&r->problems, "the log is cut: it ends within "
		    "a page");
	else if (s->slots < h->slots && !h->stop && !h->others.allocations
	    && r->state != READER_DIED)
		problems_loss(&r->problems, "the log is cut or damaged: %"
		    PRIu32 " of its %" PRIu32 " slots are missing",
		    h->slots - s->slots, h->slots);
	if (s->strange)
		problems_loss(&r->problems, "damaged: %" PRIu64 " page%s of "
		    "4096 bytes %s no part of a chunk", s->strange,
		    s->strange == 1 ? "" : "s",
		    s->strange == 1 ? "is" : "are");
}

/* While the process runs, slots become full and are appended: what came
 * before a slot as we have it is in the file only after we have it. */
static void
scan_to_end(struct reader *r, struct scan *s)
{
	struct stat st;
	uint64_t kept;

	do {
		kept = s->kept;
		while (s->at < r->bytes && scan_one(r, s))
			;
		if (s->kept > kept && !r->base && !fstat(r->fd, &st)
		    && (uint64_t)st.st_size > r->bytes)
			r->bytes = (uint64_t)st.st_size;
	} while (s->kept > kept);
	free(s->met);
}

void
scan_chunks(struct reader *r)
{
	struct scan s = { .at = LOG_HEADER_BYTES, .covered = LOG_HEADER_BYTES };

	if (r->head.h.mode == LOG_SUMMARY)
		scan_table(r, &s);
	else
		scan_to_end(r, &s);
	if (r->chunk_count)
		qsort(r->chunks, r->chunk_count, sizeof *r->chunks, by_number);
	group_slots(r);
	s.slots += (uint32_t)r->slot_count;
	if (r->state != READER_RUNNING)
		say_missing(r, &s);
}
