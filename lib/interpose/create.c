/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "create.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "sys.h"
#include "text.h"

enum {
	TRIES = 100000,			/* names, before we give up */
	SPARE_BYTES_AT_MOST = 64 << 20,	/* left free on the file system, */
	SPARE_PART = 64,		/* or this part of it if smaller */
};

static char path[PATH_MAX];

const char *
hh_create_path(void)
{
	return path;
}

uint64_t
hh_create_space(int fd)
{
	struct statfs fs;
	uint64_t spare, free_bytes;

	if (hh_sys_fstatfs(fd, &fs) != 0 || !fs.f_blocks)
		return UINT64_MAX;
	spare = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize / SPARE_PART;
	if (spare > SPARE_BYTES_AT_MOST)
		spare = SPARE_BYTES_AT_MOST;
	free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	return free_bytes > spare ? free_bytes - spare : 0;
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
	{ EFBIG, "beyond the limit of file size" },
	{ EEXIST, "exists and is not a file" },
	{ ENOMEM, "cannot be mapped" },
	{ ENOSYS, "forbidden in this sandbox" },
};

static void
say_error(const char *who, const char *what, int error)
{
	const char *text = "input/output error";

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == -error)
			text = errors[i].text;
	hh_say(who, ": ", path, ": ", what, ": ", text,
	    "; nothing is recorded", (char *)NULL);
}

static int
open_new(void)
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
is_taken(void)
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
		int fd = hh_name_expand(pattern, facts, n, path, sizeof path);

		if (fd < 0)
			return fd;
		fd = open_new();
		if (fd != -EEXIST || !is_taken())
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
	*error = hh_create_space(fd) >= bytes ? hh_sys_reserve(fd, 0, bytes)
	    : -ENOSPC;
	if (*error < 0)
		return NULL;
	at = hh_sys_map_file(fd, 0, bytes);
	if (!at)
		*error = -ENOMEM;
	return at;
}

/* After chroot the name of the log means another place, and folders made
 * for it would be the jail's.  A server may fork thousands there: heaphook(7)
 * says it, not each of them. */
static bool
is_in_jail(const struct hh_head_origin *origin)
{
	static struct stat first;
	struct stat now;
	bool known = hh_sys_lstat("/", &now) == 0;

	if (!origin->pid)
		first = now;
	return known && (now.st_dev != first.st_dev
	    || now.st_ino != first.st_ino);
}

struct log_head *
hh_create(const char *who, const char *pattern,
    const struct hh_head_origin *origin, size_t bytes, int *fd)
{
	struct log_head *head;
	int error;

	if (is_in_jail(origin))
		return NULL;
	*fd = open_next(pattern);
	if (*fd < 0) {
		say_error(who, "cannot create the log", *fd);
		return NULL;
	}
	head = fill(*fd, bytes, &error);
	if (head)
		return head;
	say_error(who, "cannot fill the log", error);
	hh_sys_unlink(path);
	hh_sys_close(*fd);
	return NULL;
}
