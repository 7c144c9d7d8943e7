/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "../interpose/conf.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "clock.h"
#include "head.h"

enum {
	TRIES = 100000,			/* names, before we give up */
	SPARE_BYTES_AT_MOST = 64 << 20,	/* left free on the file system, */
	SPARE_PART = 64,		/* or this part of it if smaller */
	SURE_PART = 8,			/* of what is free: look again then, */
	SURE_AT_MOST = 16 << 20,	/* or after so many bytes of ours */
	SCARCE = 64,			/* descriptors */
	SEALED_SLOTS = 64,		/* 4 MiB for what comes after */
};

/* Written by start, on one thread; then read by all, except as marked. */
static struct {
	char path[PATH_MAX];
	_Atomic int fd;			/* also by whoever finds it gone */
	bool scarce;			/* descriptors are: ours is not kept */
	dev_t dev;
	ino_t ino;
	uint64_t limit;
	_Atomic uint64_t end;		/* claimed so far */
	_Atomic uint64_t sure;		/* up to here there is space */
	_Atomic uint32_t stopped;	/* enum log_stop */
	_Atomic(const void *) last;	/* slot that was made, */
	_Atomic uint64_t last_end;	/* and where it ends in the file */
	_Atomic bool sealed;
	unsigned char *reserve;		/* SEALED_SLOTS slots, when sealed */
	_Atomic uint32_t reserve_used;
} file = { .fd = -1 };

const char *
hh_file_path(void)
{
	return file.path;
}

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
	fd = hh_sys_open(file.path, O_RDWR | O_NOFOLLOW, 0);
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

void
hh_file_move_descriptor(void)
{
	int fd = hh_file_descriptor(), moved;

	if (!is_ours(fd))
		return;
	moved = hh_sys_dup_high(fd);
	if (moved >= 0)
		atomic_store_explicit(&file.fd, moved, memory_order_relaxed);
}

bool
hh_file_stopped(void)
{
	return atomic_load_explicit(&file.stopped, memory_order_relaxed);
}

bool
hh_file_sealed(void)
{
	return atomic_load_explicit(&file.sealed, memory_order_relaxed);
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

	if (!atomic_compare_exchange_strong(&file.stopped, &none, why))
		return;
	h->stop_ticks = hh_ticks();
	h->stop_errno = (uint32_t)error;
	h->stop = why;
	if (why != LOG_STOP_LIMIT && why != LOG_STOP_SEALED)
		hh_say("heaphook-track: ", file.path, ": ", reason(why),
		    "; events are no longer recorded, counters are",
		    (char *)NULL);
}

/* Whether the file system has BYTES beyond what is left to others.  The
 * more it has, the longer we believe so. */
static bool
has_space(int fd, uint64_t end)
{
	struct statfs fs;
	uint64_t spare, free_bytes, sure;

	if (end < atomic_load_explicit(&file.sure, memory_order_relaxed)
	    || hh_sys_fstatfs(fd, &fs) != 0 || !fs.f_blocks)
		return true;
	spare = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize / SPARE_PART;
	if (spare > SPARE_BYTES_AT_MOST)
		spare = SPARE_BYTES_AT_MOST;
	free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	if (free_bytes < spare + LOG_SLOT_BYTES)
		return false;
	sure = (free_bytes - spare) / SURE_PART;
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
		return fd;
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
hh_file_seal(void)
{
	if (hh_file_sealed())
		return;
	file.reserve = map_more((size_t)SEALED_SLOTS
	    * LOG_MIDDLE_SLOT_BYTES);
	atomic_store(&file.sealed, true);
}

void
hh_file_forget(void)
{
	int fd = hh_file_descriptor();

	if (is_ours(fd))
		hh_sys_close(fd);
	atomic_store(&file.fd, -1);
	atomic_store(&file.end, 0);
	atomic_store(&file.sure, 0);
	atomic_store(&file.stopped, LOG_STOP_NONE);
	atomic_store(&file.sealed, false);
	atomic_store(&file.reserve_used, 0);
	file.reserve = NULL;
	file.path[0] = '\0';
}

static const struct {
	int error;
	const char *text;
} errors[] = {
	{ EACCES, "permission denied" },
	{ EPERM, "permission denied" },
	{ EROFS, "read-only file system" },
	{ ENOSPC, "no space left" },
	{ EDQUOT, "quota exceeded" },
	{ ENOENT, "no such folder" },
	{ ENOTDIR, "not a folder" },
	{ EISDIR, "is a folder" },
	{ ENAMETOOLONG, "the name is too long" },
	{ EMFILE, "too many open files" },
	{ ENFILE, "too many open files" },
	{ EFBIG, "the limit of file size is below 64 KiB" },
	{ EEXIST, "exists and is not a file" },
	{ ENOMEM, "cannot be mapped" },
	{ ENOSYS, "forbidden in this sandbox" },
};

static void
say_error(const char *what, const char *path, int error)
{
	const char *text = "input/output error";

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == -error)
			text = errors[i].text;
	hh_say("heaphook-track: ", path, ": ", what, ": ", text,
	    "; nothing is recorded", (char *)NULL);
}

static int
open_new(char *path)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
	int fd = hh_sys_open(path, flags, 0600);

	if (fd != -ENOENT)
		return fd;
	fd = hh_name_make_folders(path);
	return fd < 0 ? fd : hh_sys_open(path, flags, 0600);
}

/* Another log stands there, or a link to who knows what: try the next
 * name.  A device, a pipe or a folder is a mistake. */
static bool
is_taken(const char *path)
{
	struct stat st;

	return hh_sys_lstat(path, &st) != 0 || S_ISREG(st.st_mode)
	    || S_ISLNK(st.st_mode);
}

static int
open_next(const char *pattern)
{
	const struct hh_name_facts *facts = hh_head_facts();

	for (unsigned n = 1; n <= TRIES; n++) {
		int fd;

		if (!hh_name_expand(pattern, facts, n, file.path,
		    sizeof file.path))
			return -ENAMETOOLONG;
		fd = open_new(file.path);
		if (fd != -EEXIST || !is_taken(file.path))
			return fd;
	}
	return -EEXIST;
}

static void *
fill(int fd, size_t bytes, int *error)
{
	void *at;

	*error = -EFBIG;
	if (bytes > hh_sys_file_size_limit())
		return NULL;
	*error = has_space(fd, 0) ? hh_sys_reserve(fd, 0, bytes) : -ENOSPC;
	if (*error < 0)
		return NULL;
	at = hh_sys_map_file(fd, 0, bytes);
	if (!at)
		*error = -ENOMEM;
	return at;
}

struct log_head *
hh_file_create(uint64_t limit, size_t bytes)
{
	const char *pattern = hh_conf_get("HEAPHOOK_OUTPUT");
	int fd = open_next(pattern ? pattern : "heaplog.%p.log"), error;
	struct stat st;
	void *at;

	if (fd < 0) {
		say_error("cannot create the log", file.path, fd);
		return NULL;
	}
	at = fill(fd, bytes, &error);
	if (!at) {
		say_error("cannot fill the log", file.path, error);
		hh_sys_unlink(file.path);
		hh_sys_close(fd);
		return NULL;
	}
	hh_sys_fstat(fd, &st);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	file.limit = limit;
	atomic_store(&file.end, bytes);
	atomic_store(&file.last, (struct log_head *)at + 1);
	atomic_store(&file.last_end, bytes);
	file.scarce = hh_sys_descriptor_limit() < SCARCE;
	if (file.scarce)
		hh_sys_close(fd);
	else
		atomic_store(&file.fd, move_high(fd));
	return at;
}
