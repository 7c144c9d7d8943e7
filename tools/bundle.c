/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "room.h"
#include "tar.h"

enum { MEMBERS_MOST = 1 << 20, PIECE = 1 << 16 };

struct bundle {
	struct bundle *next;
	char *path;
	struct tar_member *members;
	size_t count;
	const char *wrong;		/* NULL: it is good */
};

/* Each is read once.  They stay. */
static struct bundle *bundles;

/* Not to hang on a pipe. */
static int
open_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || (!fstat(fd, st) && S_ISREG(st->st_mode)))
		return fd;
	close(fd);
	errno = ENOTDIR;
	return -1;
}

static void
read_members(struct bundle *b, struct tar *t)
{
	struct tar_member m;
	size_t room = 0;

	while (tar_next(t, &m)) {
		if (b->count == room) {
			room = room ? 2 * room : 16;
			b->members = room_grow(b->members, room,
			    sizeof *b->members);
		}
		b->members[b->count++] = m;
		if (b->count == MEMBERS_MOST)
			t->wrong = "damaged: too many files are in it";
		if (t->wrong)
			break;
	}
	b->wrong = t->wrong;
}

/* NULL: it is none. */
static struct bundle *
bundle_read(const char *path)
{
	unsigned char first[TAR_BLOCK];
	struct stat st;
	struct tar t = { .fd = open_file(path, &st) };
	struct bundle *b = NULL;

	if (t.fd < 0)
		return NULL;
	t.bytes = (uint64_t)st.st_size;
	if (pread(t.fd, first, sizeof first, 0) == sizeof first
	    && tar_is(first)) {
		b = room_new(1, sizeof *b);
		*b = (struct bundle){ .next = bundles,
		    .path = room_text(path, SIZE_MAX) };
		read_members(b, &t);
		bundles = b;
	}
	close(t.fd);
	return b;
}

static struct bundle *
bundle_of(const char *path)
{
	for (struct bundle *b = bundles; b; b = b->next)
		if (!strcmp(b->path, path))
			return b;
	return bundle_read(path);
}

static bool
is_log(const struct tar_member *m)
{
	return !strncmp(m->name, "logs/", 5);
}

/* BUNDLE/NAME. */
static char *
join(const struct bundle *b, const char *name)
{
	size_t bytes = strlen(b->path) + strlen(name) + 2;
	char *path = room_new(bytes, 1);

	snprintf(path, bytes, "%s/%s", b->path, name);
	return path;
}

const char *
bundle_logs(const char *path, char ***list)
{
	const struct bundle *b = bundle_of(path);
	size_t count = 0;

	*list = NULL;
	if (!b || b->wrong)
		return b ? b->wrong : NULL;
	for (size_t i = 0; i < b->count; i++)
		count += is_log(b->members + i);
	if (!count)
		return "an archive without logs; expected a bundle of "
		    "heaphook-report --bundle";
	*list = room_new(count + 1, sizeof **list);
	count = 0;
	for (size_t i = 0; i < b->count; i++)
		if (is_log(b->members + i))
			(*list)[count++] = join(b, b->members[i].name);
	return NULL;
}

static const struct tar_member *
find(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->members[i].name, name))
			return b->members + i;
	return NULL;
}

/* Beside a log are also those that are there for children only. */
static const struct tar_member *
find_log(const struct bundle *b, const char *name)
{
	const struct tar_member *m = find(b, name);
	const char *last = strrchr(name, '/');
	char *parent;

	if (m || !last || strncmp(name, "logs/", 5))
		return m;
	parent = room_new(strlen(name) + sizeof "parents", 1);
	memcpy(parent, "parents", 7);
	memcpy(parent + 7, last, strlen(last));
	m = find(b, parent);
	free(parent);
	return m;
}

/* The part of PATH that is a file, and what follows. */
static struct bundle *
split(const char *path, const char **name)
{
	struct bundle *b = NULL;
	struct stat st;

	for (const char *slash = strchr(path, '/'); slash && !b;
	    slash = strchr(slash + 1, '/')) {
		char *file = room_text(path, (size_t)(slash - path));

		*name = slash + 1;
		if (!stat(file, &st) && S_ISREG(st.st_mode))
			b = bundle_of(file);
		free(file);
	}
	return b;
}

int
bundle_find(const char *path, struct bundle_part *part)
{
	const char *name;
	struct bundle *b = split(path, &name);
	const struct tar_member *m = b && !b->wrong ? find_log(b, name) : NULL;
	struct stat st;

	errno = b ? ENOENT : ENOTDIR;
	if (!m)
		return -1;
	*part = (struct bundle_part){ m->at, m->bytes, m->changed };
	return open_file(b->path, &st);
}

static bool
copy(int from, const struct bundle_part *part, int to)
{
	char piece[PIECE];

	for (uint64_t done = 0; done < part->bytes;) {
		size_t left = part->bytes - done < PIECE
		    ? (size_t)(part->bytes - done) : PIECE;
		ssize_t n = pread(from, piece, left,
		    (off_t)(part->at + done));

		if (n <= 0 || write(to, piece, (size_t)n) != n)
			return false;
		done += (uint64_t)n;
	}
	return true;
}

int
bundle_open(const char *path)
{
	struct bundle_part part;
	int from = bundle_find(path, &part);
	int to = from < 0 ? -1 : memfd_create("object", MFD_CLOEXEC);

	if (to >= 0 && !copy(from, &part, to)) {
		close(to);
		to = -1;
		errno = EIO;
	}
	if (from >= 0)
		close(from);
	return to;
}
