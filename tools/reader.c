/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "room.h"

/* Of open slots; more are read as they are when their turn comes. */
static const uint64_t KEEP_BYTES = 64 << 20;

/* Instants nearer to each other tell the clock's rate worse than the
 * measurement at start. */
static const uint64_t FAR_APART_NS = 10000000;

size_t
reader_read(struct reader *r, uint64_t at, void *to, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = pread(r->fd, (char *)to + got, bytes - got,
		    (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

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

static bool
is_whole(struct reader *r, uint64_t at, const struct log_chunk *c)
{
	struct log_trailer t;
	uint64_t end = at + c->bytes;

	return end <= r->bytes
	    && reader_read(r, end - sizeof t, &t, sizeof t) == sizeof t
	    && t.seq == c->seq;
}

/* What the search for chunks has come upon. */
struct scan {
	uint64_t at;
	uint64_t covered;	/* up to where chunks say that they reach */
	size_t room;
	uint64_t kept;		/* bytes of open slots */
	uint32_t slots;		/* that were made, begun or not */
	uint64_t strange;	/* pages that are no part of a chunk */
};

static void
keep(struct reader *r, struct scan *s, struct reader_chunk *chunk)
{
	if (r->state != READER_RUNNING || chunk->whole
	    || s->kept + chunk->bytes > KEEP_BYTES)
		return;
	s->kept += chunk->bytes;
	chunk->kept = room_new(chunk->bytes, 1);
	reader_read(r, chunk->at, chunk->kept, chunk->bytes);
}

static void
add_chunk(struct reader *r, struct scan *s, const struct log_chunk *c,
    uint32_t extent, bool whole)
{
	struct reader_chunk *chunk;

	if (r->chunk_count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		r->chunks = room_grow(r->chunks, s->room, sizeof *r->chunks);
	}
	chunk = r->chunks + r->chunk_count++;
	*chunk = (struct reader_chunk){
		.at = s->at, .seq = c->seq, .slot = c->slot,
		.bytes = extent, .flags = c->flags, .whole = whole,
		.cut = extent < c->bytes && r->state != READER_RUNNING,
	};
	keep(r, s, chunk);
}

/* A hole may be as large as the file system likes. */
static uint64_t
next_data(struct reader *r, uint64_t at)
{
	off_t data = lseek(r->fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? r->bytes : at + LOG_PAGE;
	data -= data % LOG_PAGE;
	return (uint64_t)data > at ? (uint64_t)data : at + LOG_PAGE;
}

/* Look at one place; move to the next.  Only a whole chunk is stepped over
 * at once: what claims to be large and is not may hide others. */
static void
scan_one(struct reader *r, struct scan *s)
{
	struct log_chunk c;
	size_t got = reader_read(r, s->at, &c, sizeof c);
	uint32_t extent = got == sizeof c ? chunk_extent(r, s->at, &c) : 0;
	bool whole;

	if (is_zero(&c, got)) {
		s->at = next_data(r, s->at);
		return;
	}
	if (!extent) {
		/* The magic is stored last: without any, it is a slot that
		 * was being made. */
		s->strange += s->at >= s->covered
		    && (c.magic || got < sizeof c);
		s->at += LOG_PAGE;
		return;
	}
	if (s->covered < s->at + c.bytes)
		s->covered = s->at + c.bytes;
	whole = c.seq && is_whole(r, s->at, &c);
	if (c.seq)
		add_chunk(r, s, &c, extent, whole);
	else
		s->slots++;
	s->at += whole ? c.bytes : LOG_PAGE;
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
			add_chunk(r, s, &c, sizeof c, false);
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
		problems_loss(&r->problems, "damaged: %" PRIu64 " pages of "
		    "4096 bytes are no part of a chunk", s->strange);
}

static void
find_chunks(struct reader *r)
{
	struct scan s = { .at = LOG_HEADER_BYTES, .covered = LOG_HEADER_BYTES };

	if (r->head.h.mode == LOG_SUMMARY)
		scan_table(r, &s);
	while (r->head.h.mode == LOG_EVENTS && s.at < r->bytes)
		scan_one(r, &s);
	if (r->chunk_count)
		qsort(r->chunks, r->chunk_count, sizeof *r->chunks, by_number);
	group_slots(r);
	s.slots += (uint32_t)r->slot_count;
	if (r->state != READER_RUNNING)
		say_missing(r, &s);
}

/* Settle what the header says of the process's end. */
static enum reader_state
find_state(struct reader *r, const struct stat *st)
{
	struct timespec now;
	double changed;

	switch (r->head.h.state) {
	case LOG_EXITED:
		return READER_EXITED;
	case LOG_EXECED:
		return READER_EXECED;
	case LOG_RUNNING:
		break;
	default:
		problems_note(&r->problems, "damaged: the header knows no "
		    "state %" PRIu32, r->head.h.state);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	changed = (double)(now.tv_sec - st->st_mtim.tv_sec)
	    + (double)(now.tv_nsec - st->st_mtim.tv_nsec) / 1e9;
	return process_runs(&r->head.h, changed, &r->problems)
	    ? READER_RUNNING : READER_DIED;
}

static const char *
check_header(struct reader *r, size_t got)
{
	const struct log_header *h = &r->head.h;
	size_t magic = got < sizeof h->magic ? got : sizeof h->magic;

	if (!got)
		return "empty; expected a heaphook log";
	if (memcmp(&h->magic, &(uint64_t){ LOG_MAGIC_SWAPPED }, magic) == 0
	    && got >= magic)
		return "a heaphook log of a machine with the other byte "
		    "order; expected one of this machine's";
	if (memcmp(&h->magic, &(uint64_t){ LOG_MAGIC }, magic))
		return "not a heaphook log; one begins with \"heaphook\"";
	if (got < sizeof *h)
		return "cut within its header; too little is left of the log";
	if (h->version != LOG_VERSION || h->header_bytes != LOG_HEADER_BYTES)
		return "a log of another version; expected version 1";
	if (h->mode != LOG_EVENTS && h->mode != LOG_SUMMARY)
		return "damaged: its mode is neither events nor summary";
	return NULL;
}

static const char *
open_file(struct reader *r, struct stat *st)
{
	/* Not to hang on a pipe that nobody writes into. */
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, st))
		return strerror(errno);
	if (S_ISDIR(st->st_mode))
		return "a directory; expected a heaphook log";
	if (!S_ISREG(st->st_mode))
		return "not a regular file; expected a heaphook log";
	r->bytes = (uint64_t)st->st_size;
	return NULL;
}

const char *
reader_open(struct reader *r, const char *path)
{
	const char *why;
	struct stat st;

	*r = (struct reader){ .fd = -1, .path = room_text(path, SIZE_MAX) };
	why = open_file(r, &st);
	if (!why)
		why = check_header(r, reader_read(r, 0, &r->head,
		    sizeof r->head));
	if (why) {
		reader_close(r);
		return why;
	}
	r->head.text[LOG_TEXT_BYTES - 1] = '\0';
	r->head.h.now_index &= 1;
	r->state = find_state(r, &st);
	find_chunks(r);
	return NULL;
}

void
reader_close(struct reader *r)
{
	for (size_t i = 0; i < r->chunk_count; i++)
		free(r->chunks[i].kept);
	free(r->chunks);
	free(r->slots);
	free(r->scratch);
	free(r->path);
	problems_free(&r->problems);
	if (r->fd >= 0)
		close(r->fd);
}

static bool
sum_is_right(struct reader *r, const struct reader_chunk *chunk)
{
	struct log_trailer t;

	if (!r->scratch)
		r->scratch = room_new(LOG_MAX_CHUNK_BYTES, 1);
	if (reader_read(r, chunk->at, r->scratch, chunk->bytes) != chunk->bytes)
		return false;
	memcpy(&t, r->scratch + chunk->bytes - sizeof t, sizeof t);
	return t.sum == log_sum(r->scratch, chunk->bytes);
}

bool
reader_check(struct reader *r, const struct reader_chunk *chunk,
    struct log_chunk *head)
{
	if (chunk->bytes < sizeof *head)
		return false;
	if (chunk->kept)
		memcpy(head, chunk->kept, sizeof *head);
	else if (reader_read(r, chunk->at, head, sizeof *head) != sizeof *head)
		return false;
	return head->magic == LOG_CHUNK_MAGIC && head->slot == chunk->slot
	    && head->seq == chunk->seq
	    && (!chunk->whole || sum_is_right(r, chunk));
}

const char *
reader_text(const struct reader *r, uint32_t offset)
{
	if (offset >= LOG_TEXT_BYTES || !r->head.text[offset])
		return NULL;
	return r->head.text + offset;
}

size_t
reader_find_slot(const struct reader *r, uint32_t number)
{
	size_t low = 0, high = r->slot_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->slots[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->slot_count && r->slots[low].number == number
	    ? low : r->slot_count;
}

double
reader_ticks_per_s(const struct reader *r)
{
	const struct log_header *h = &r->head.h;
	const struct log_instant *now = h->now + h->now_index;
	uint64_t ns = now->monotonic_ns - h->start.monotonic_ns;
	uint64_t ticks = now->ticks - h->start.ticks;

	if (h->clock == LOG_CLOCK_MONOTONIC)
		return 1e9;
	if (now->monotonic_ns > h->start.monotonic_ns && ns >= FAR_APART_NS
	    && now->ticks > h->start.ticks)
		return (double)ticks / ((double)ns / 1e9);
	return h->ticks_per_s ? (double)h->ticks_per_s : 1e9;
}

double
reader_seconds(const struct reader *r, uint64_t ticks)
{
	uint64_t start = r->head.h.start.ticks;

	return ticks > start ? (double)(ticks - start) / reader_ticks_per_s(r)
	    : 0;
}
