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

#include "bundle.h"
#include "process.h"
#include "room.h"
#include "scan.h"

/* Instants nearer to each other tell the clock's rate worse than the
 * measurement at start. */
static const uint64_t FAR_APART_NS = 10000000;

size_t
reader_read(struct reader *r, uint64_t at, void *to, size_t bytes)
{
	size_t got = 0;

	/* What follows in a bundle is none of it. */
	if (r->base && bytes > r->bytes - (at < r->bytes ? at : r->bytes))
		bytes = at < r->bytes ? (size_t)(r->bytes - at) : 0;
	while (got < bytes) {
		ssize_t n = pread(r->fd, (char *)to + got, bytes - got,
		    (off_t)(r->base + at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
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

/* What else begins with these bytes.  A bundle is often sent compressed. */
static const char *
not_log(const void *bytes, size_t got)
{
	static const struct {
		const char *magic, *what;
	} forms[] = {
#define PACKED(by) "compressed; unpack it first, with " by " -d"
		{ "\x1f\x8b", PACKED("gzip") },
		{ "BZh", PACKED("bzip2") },
		{ "\xfd" "7zXZ", PACKED("xz") },
		{ "\x28\xb5\x2f\xfd", PACKED("zstd") },
		{ "\x04\x22\x4d\x18", PACKED("lz4") },
#undef PACKED
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		size_t n = strlen(forms[i].magic);

		if (got >= n && !memcmp(bytes, forms[i].magic, n))
			return forms[i].what;
	}
	return "not a heaphook log; one begins with \"heaphook\"";
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
		return not_log(&h->magic, got);
	if (got < sizeof *h)
		return "cut within its header; too little is left of the log";
	if (h->version < LOG_VERSION_UNSPARED || h->version > LOG_VERSION
	    || h->header_bytes != LOG_HEADER_BYTES)
		return "a log of another version; expected version 1 or 2";
	if (h->mode != LOG_EVENTS && h->mode != LOG_SUMMARY)
		return "damaged: its mode is neither events nor summary";
	return NULL;
}

static void
open_part(struct reader *r, struct bundle_part *part)
{
	r->fd = bundle_find(r->path, part);
	r->base = part->at;
}

static const char *
open_file(struct reader *r, struct stat *st)
{
	struct bundle_part part = { 0 };

	/* Not to hang on a pipe that nobody writes into. */
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 && errno == ENOTDIR)
		open_part(r, &part);
	if (r->fd < 0 || fstat(r->fd, st))
		return strerror(errno);
	if (S_ISDIR(st->st_mode))
		return "a directory; expected a heaphook log";
	if (!S_ISREG(st->st_mode))
		return "not a regular file; expected a heaphook log";
	r->bytes = r->base ? part.bytes : (uint64_t)st->st_size;
	if (r->base)
		st->st_mtim = (struct timespec){ .tv_sec = part.changed };
	r->changed = st->st_mtim;
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
	scan_chunks(r);
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

/* The whole chunk, from the file or as it was kept. */
static const unsigned char *
bytes_of(struct reader *r, const struct reader_chunk *chunk)
{
	if (chunk->kept)
		return chunk->kept;
	if (!r->scratch)
		r->scratch = room_new(LOG_MAX_CHUNK_BYTES, 1);
	return reader_read(r, chunk->at, r->scratch, chunk->bytes)
	    == chunk->bytes ? r->scratch : NULL;
}

static bool
sum_is_right(struct reader *r, const struct reader_chunk *chunk)
{
	const unsigned char *bytes = bytes_of(r, chunk);
	struct log_trailer t;

	if (!bytes)
		return false;
	memcpy(&t, bytes + chunk->bytes - sizeof t, sizeof t);
	return t.sum == log_sum(bytes, chunk->bytes);
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

	if (h->clock != LOG_CLOCK_MONOTONIC
	    && now->monotonic_ns > h->start.monotonic_ns && ns >= FAR_APART_NS
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

void
reader_say_missing(struct problems *p, uint32_t slot, uint64_t from,
    uint64_t to)
{
	if (!p || from > to)
		return;
	if (from == to)
		problems_loss(p, "chunk %" PRIu64 " of slot %" PRIu32
		    " is missing", from, slot);
	else
		problems_loss(p, "chunks %" PRIu64 " to %" PRIu64 " of slot %"
		    PRIu32 " are missing", from, to, slot);
}

void
reader_say_damaged(struct problems *p, const struct reader_chunk *c,
    const char *what)
{
	if (p)
		problems_loss(p, "chunk %" PRIu64 " of slot %" PRIu32 " %s",
		    c->seq, c->slot, what);
}
