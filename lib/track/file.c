/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "../interpose/clock.h"
#include "../interpose/conf.h"
#include "../interpose/create.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"

enum {
	SURE_PART = 8,			/* of what is free: look again then, */
	SURE_AT_MOST = 16 << 20,	/* or after so many bytes of ours */
	SCARCE = 64,			/* descriptors */
	SEALED_SLOTS = 64,		/* 4 MiB for what comes after */
};

/* Written by start, on one thread; then read by all, except as marked. */
static struct {
	_Atomic int fd;			/* also by whoever finds it gone */
	uint32_t turn;			/* changes in a forked child */
	bool clone;			/* we are: see hh_file_forget() */
	bool scarce;			/* descriptors are: ours is not kept */
	dev_t dev;
	ino_t ino;
	uint64_t limit;
	_Atomic uint64_t end;		/* claimed so far */
	_Atomic uint64_t sure;		/* up to here there is space */
	_Atomic uint32_t stopped;	/* enum log_stop */
	_Atomic(const void *) last;	/* slot that was made, */
	_Atomic uint64_t last_end;	/* and where it ends in the file */
	_Atomic uint32_t seals;		/* in whose number threads are */
	_Atomic uint32_t filters;	/* those of them that children keep */
	unsigned char *reserve;		/* SEALED_SLOTS slots, when sealed */
	_Atomic uint32_t reserve_used;
} file = { .fd = -1 };

static bool
is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && hh_sys_fstat(fd, &st) == 0
	    && st.st_dev == file.dev && st.st_ino == file.ino;
}

/* A copy of FD out of the program's way; FD itself where there is none. */
static int
move_high(int fd)
{
	int high = hh_sys_dup_high(fd);

	if (high < 0)
		return fd;
	hh_sys_close(fd);
	return high;
}

/* The descriptor, found again by name if the program closed it. */
static int
descriptor(void)
{
	int fd = atomic_load_explicit(&file.fd, memory_order_relaxed);

	if (is_ours(fd))
		return fd;
	fd = hh_sys_open(hh_create_path(), O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return -1;
	if (!is_ours(fd)) {
		hh_sys_close(fd);
		return -1;
	}
	if (file.scarce)
		return fd;
	fd = move_high(fd);
	atomic_store_explicit(&file.fd, fd, memory_order_relaxed);
	return fd;
}

/* The program gets the descriptor back where it has few. */
static void
let_go(int fd)
{
	if (file.scarce)
		hh_sys_close(fd);
}

int
hh_file_descriptor(void)
{
	return atomic_load_explicit(&file.fd, memory_order_relaxed);
}

bool
hh_file_move_descriptor(void)
{
	int fd = hh_file_descriptor();
	bool ours = is_ours(fd);

	/* Where there is no other number, none is ours: the log is opened
	 * again when it is needed. */
	fd = ours ? hh_sys_dup_high(fd) : -1;
	atomic_store_explicit(&file.fd, fd < 0 ? -1 : fd,
	    memory_order_relaxed);
	return ours;
}

bool
hh_file_stopped(void)
{
	return atomic_load_explicit(&file.stopped, memory_order_relaxed);
}

bool
hh_file_sealed(void)
{
	return atomic_load_explicit(&file.seals, memory_order_relaxed);
}

bool
hh_file_filtered(void)
{
	return atomic_load_explicit(&file.filters, memory_order_relaxed);
}

static const char *
reason(enum log_stop why)
{
	switch (why) {
	case LOG_STOP_FULL: return "the disk is full, or nearly";
	case LOG_STOP_FILE_SIZE: return "the limit of file size is reached";
	case LOG_STOP_CLOSED: return "the program closed the log";
	default: return "the log cannot be written";
	}
}

void
hh_file_stop(enum log_stop why, int error)
{
	struct log_header *h = &hh_head->h;
	uint32_t none = LOG_STOP_NONE;
	uint64_t now = hh_ticks();	/* before anybody loses an event */

	if (!atomic_compare_exchange_strong(&file.stopped, &none, why))
		return;
	h->stop_ticks = now;
	h->stop_errno = (uint32_t)error;
	h->stop = why;
	if (why != LOG_STOP_LIMIT && why != LOG_STOP_SEALED)
		hh_say("heaphook-track: ", hh_create_path(), ": ", reason(why),
		    "; events are no longer recorded, counters are",
		    (char *)NULL);
}

/* Whether the file system has BYTES beyond what is left to others.  The
 * more it has, the longer we believe so. */
static bool
has_space(int fd, uint64_t end)
{
	uint64_t space, sure;

	if (end < atomic_load_explicit(&file.sure, memory_order_relaxed))
		return true;
	space = hh_create_space(fd);
	if (space < LOG_SLOT_BYTES)
		return false;
	sure = space / SURE_PART;
	atomic_store_explicit(&file.sure, end
	    + (sure < SURE_AT_MOST ? sure : SURE_AT_MOST),
	    memory_order_relaxed);
	return true;
}

static enum log_stop
stop_for(int error)
{
	return error == -ENOSPC || error == -EDQUOT ? LOG_STOP_FULL
	    : error == -EFBIG ? LOG_STOP_FILE_SIZE : LOG_STOP_ERROR;
}

/* The next BYTES of the file, and the descriptor to put them there; -1 when
 * recording has been stopped instead.  A claim that fails leaves a hole,
 * which readers step over. */
static int
claim(size_t bytes, uint64_t *offset)
{
	uint32_t turn = file.turn;
	int fd;

	if (hh_file_stopped())
		return -1;
	*offset = atomic_fetch_add_explicit(&file.end, bytes,
	    memory_order_relaxed);
	if (*offset + bytes > file.limit) {
		hh_file_stop(LOG_STOP_LIMIT, 0);
		return -1;
	}
	/* To write past it is a SIGXFSZ, which kills. */
	if (*offset + bytes > hh_sys_file_size_limit()) {
		hh_file_stop(LOG_STOP_FILE_SIZE, EFBIG);
		return -1;
	}
	fd = descriptor();
	if (fd < 0)
		hh_file_stop(LOG_STOP_CLOSED, 0);
	else if (has_space(fd, *offset + bytes))
		return turn == file.turn ? fd : -1;
	else
		let_go(fd), hh_file_stop(LOG_STOP_FULL, ENOSPC);
	return -1;
}

/* BYTES of the file, allocated and mapped; NULL: recording is stopped. */
static void *
map_more(size_t bytes)
{
	uint64_t offset;
	int fd = claim(bytes, &offset), r;
	void *at;

	if (fd < 0)
		return NULL;
	r = hh_sys_reserve(fd, offset, bytes);
	at = r < 0 ? NULL : hh_sys_map_file(fd, offset, bytes);
	let_go(fd);
	if (r < 0) {
		hh_file_stop(stop_for(r), -r);
		return NULL;
	}
	if (!at)
		hh_file_stop(LOG_STOP_ERROR, ENOMEM);
	atomic_store(&file.last, at);
	atomic_store(&file.last_end, offset + bytes);
	return at;
}

static void *
from_reserve(void)
{
	uint32_t i = atomic_fetch_add(&file.reserve_used, 1);

	if (file.reserve && i < SEALED_SLOTS)
		return file.reserve + (size_t)i * LOG_MIDDLE_SLOT_BYTES;
	hh_file_stop(LOG_STOP_SEALED, 0);
	return NULL;
}

struct log_chunk *
hh_file_slot(size_t bytes, uint32_t slot)
{
	struct log_chunk *chunk;

	if (hh_file_sealed()) {
		bytes = LOG_MIDDLE_SLOT_BYTES;
		chunk = from_reserve();
	} else {
		chunk = map_more(bytes);
	}
	if (!chunk)
		return NULL;
	chunk->bytes = (uint32_t)bytes;
	chunk->slot = slot;
	return chunk;
}

bool
hh_file_trim(const struct log_chunk *chunk, size_t bytes, size_t kept)
{
	uint64_t end = atomic_load(&file.last_end);
	int fd = -1, r;

	if (!hh_file_sealed() && !hh_file_stopped()
	    && atomic_load(&file.last) == chunk
	    && atomic_load(&file.end) == end)
		fd = descriptor();
	if (fd < 0)
		return false;
	r = hh_sys_truncate(fd, end - bytes + kept);
	let_go(fd);
	if (r < 0)
		return false;
	atomic_store(&file.end, end - bytes + kept);
	atomic_store(&file.last_end, end - bytes + kept);
	return true;
}

bool
hh_file_append(const struct log_chunk *chunk)
{
	uint64_t offset;
	int fd = claim(chunk->bytes, &offset);
	long r;

	if (fd < 0)
		return false;
	r = hh_sys_write_at(fd, chunk, chunk->bytes, offset);
	let_go(fd);
	if (r < 0)
		hh_file_stop(stop_for((int)r), (int)-r);
	return r >= 0;
}

void
hh_file_seal(bool filter)
{
	if (!file.reserve && !hh_file_sealed())
		file.reserve = map_more((size_t)SEALED_SLOTS
		    * LOG_MIDDLE_SLOT_BYTES);
	atomic_fetch_add(&file.seals, 1);
	atomic_fetch_add(&file.filters, filter);
}

void
hh_file_seal_failed(bool filter)
{
	atomic_fetch_sub(&file.seals, 1);
	atomic_fetch_sub(&file.filters, filter);
}

void
hh_file_part(void)
{
	file.turn++;
}

static void
close_ours(void)
{
	int fd = hh_file_descriptor();

	if (is_ours(fd))
		hh_sys_close(fd);
	atomic_store(&file.fd, -1);
}

void
hh_file_leave(void)
{
	if (file.clone)
		close_ours();
}

void
hh_file_forget(bool clone)
{
	file.clone = clone;
	if (clone)
		atomic_store(&file.fd, -1);
	else
		close_ours();
	atomic_store(&file.end, 0);
	atomic_store(&file.sure, 0);
	atomic_store(&file.stopped, LOG_STOP_NONE);
	atomic_store(&file.seals, 0);
	atomic_store(&file.reserve_used, 0);
	file.reserve = NULL;
}

struct log_head *
hh_file_create(const struct hh_head_origin *origin, uint64_t limit,
    size_t bytes)
{
	const char *pattern = hh_conf_get("HEAPHOOK_OUTPUT");
	struct log_head *head;
	struct stat st;
	int fd;

	head = hh_create("heaphook-track",
	    pattern ? pattern : "heaplog.%p.log", origin, bytes, &fd);
	if (!head)
		return NULL;
	hh_sys_fstat(fd, &st);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	file.limit = limit;
	atomic_store(&file.end, bytes);
	atomic_store(&file.last, head + 1);
	atomic_store(&file.last_end, bytes);
	file.scarce = hh_sys_descriptor_limit() < SCARCE;
	if (file.scarce)
		hh_sys_close(fd);
	else
		atomic_store(&file.fd, move_high(fd));
	return head;
}
