/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle.h"
#include "cli.h"
#include "names.h"
#include "origin.h"
#include "profile.h"
#include "progress.h"
#include "reader.h"
#include "room.h"
#include "symbols.h"
#include "tar.h"
#include "texts.h"

enum { PIECE = 1 << 16 };

struct pack {
	FILE *to;
	char *path;
	struct texts names;		/* of what is in it */
	struct profile_object *objects;	/* that are needed */
	size_t object_count;
	char **children;		/* logs whose parents are, too */
	size_t child_count;
};

/* Nothing is ever overwritten. */
static bool
begin(struct pack *k)
{
	int fd = open(k->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	k->to = fdopen(fd, "w");
	if (!k->to)
		room_none();
	return true;
}

static void
forget(struct pack *k)
{
	for (size_t i = 0; i < k->object_count; i++)
		free(k->objects[i].path);
	for (size_t i = 0; i < k->child_count; i++)
		free(k->children[i]);
	free(k->objects);
	free(k->children);
	free(k->path);
	texts_free(&k->names);
}

static bool
is_empty(const char *bytes, size_t count)
{
	return !*bytes && !memcmp(bytes, bytes + 1, count - 1);
}

/* What is empty stays a hole: logs have many. */
static void
put_bytes(struct pack *k, const char *bytes, size_t count)
{
	if (is_empty(bytes, count))
		fseeko(k->to, (off_t)count, SEEK_CUR);
	else
		fwrite(bytes, 1, count, k->to);
}

/* NAME, unless it is there.  What FD has less than BYTES by now is empty. */
static void
put_file(struct pack *k, const char *name, int fd, uint64_t bytes,
    int64_t changed)
{
	const struct tar_member m = {
		.name = (char *)name, .bytes = bytes, .changed = changed,
	};
	char piece[PIECE];
	uint64_t padded = bytes + -bytes % TAR_BLOCK;
	size_t known = k->names.count;

	if (texts_number(&k->names, name) <= known)
		return;
	tar_put(k->to, &m);
	for (uint64_t at = 0; at < padded && !ferror(k->to);) {
		size_t now = padded - at < PIECE ? (size_t)(padded - at)
		    : PIECE;
		size_t there = at >= bytes ? 0
		    : bytes - at < now ? (size_t)(bytes - at) : now;
		ssize_t n = pread(fd, piece, there, (off_t)at);

		memset(piece + (n > 0 ? n : 0), 0, now - (n > 0 ? (size_t)n
		    : 0));
		put_bytes(k, piece, now);
		at += now;
	}
}

__attribute__((format(printf, 1, 2)))
static char *
text(const char *format, ...)
{
	char *made;
	va_list args;

	va_start(args, format);
	if (vasprintf(&made, format, args) < 0)
		room_none();
	va_end(args);
	return made;
}

static void
put_log(struct pack *k, const char *name, const struct reader *log)
{
	struct stat st;

	if (!fstat(log->fd, &st))
		put_file(k, name, log->fd, log->bytes, st.st_mtime);
}

/* Logs of one name, from several folders, are numbered. */
static char *
new_log_name(struct pack *k, const char *path)
{
	const char *last = names_last(path);
	char *name = text("logs/%s", last);

	for (unsigned n = 2;; n++) {
		bool is_new = true;

		for (size_t i = 0; i < k->names.count && is_new; i++)
			is_new = strcmp(k->names.list[i], name);
		if (is_new)
			return name;
		free(name);
		name = text("logs/%u/%s", n, last);
	}
}

static bool
is_same(const struct profile_object *a, const struct profile_object *b)
{
	return a->build_id_bytes == b->build_id_bytes
	    && !memcmp(a->build_id, b->build_id, a->build_id_bytes)
	    && a->imprint == b->imprint && !strcmp(a->path, b->path);
}

static void
need(struct pack *k, const struct profile_object *o)
{
	if (!o || !o->path || !strchr(o->path, '/'))
		return;
	for (size_t i = 0; i < k->object_count; i++)
		if (is_same(k->objects + i, o))
			return;
	k->objects = room_grow(k->objects, k->object_count + 1,
	    sizeof *k->objects);
	k->objects[k->object_count] = *o;
	k->objects[k->object_count++].path = room_text(o->path, SIZE_MAX);
}

static void
add(struct pack *k, struct reader *log)
{
	static const struct profile_part all = { .to_s = INFINITY };
	char *name = new_log_name(k, log->path);
	struct profile p = { 0 };

	put_log(k, name, log);
	free(name);
	profile_make(&p, log, &all, progress_show);
	for (size_t i = 0; i < p.call_count; i++)
		need(k, p.calls[i].object);
	profile_free(&p);
	if (!origin_is_told(log))
		return;
	k->children = room_grow(k->children, k->child_count + 1,
	    sizeof *k->children);
	k->children[k->child_count++] = room_text(log->path, SIZE_MAX);
}

static bool
has(const struct pack *k, const char *folder, const char *last)
{
	char *name = text("%s/%s", folder, last);
	bool found = false;

	for (size_t i = 0; i < k->names.count && !found; i++)
		found = !strcmp(k->names.list[i], name);
	free(name);
	return found;
}

/* The logs that CHILD was born with, up to the first; those that are missing
 * are named by the report. */
static void
put_parents(struct pack *k, const char *child)
{
	struct reader log, origin;
	bool more = !reader_open(&log, child);

	while (more) {
		const char *last;

		more = origin_is_told(&log) && origin_open(&origin, &log);
		reader_close(&log);
		if (!more)
			break;
		log = origin;
		last = names_last(log.path);
		if (!has(k, "logs", last)) {
			char *name = text("parents/%s", last);

			put_log(k, name, &log);
			free(name);
		}
	}
}

static void
put_object(struct pack *k, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		warn("%s: %s", path, strerror(errno));
	else
		put_file(k, name, fd, (uint64_t)st.st_size, st.st_mtime);
	if (fd >= 0)
		close(fd);
}

/* Where builds.c looks for what has this build id, or none. */
static char *
name_of(const struct profile_object *o, const char *debug)
{
	char hex[2 * sizeof o->build_id + 1];

	for (unsigned i = 0; i < o->build_id_bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", o->build_id[i]);
	if (!o->build_id_bytes)
		return text("no-build-id%.*s%s",
		    (int)(names_last(o->path) - o->path), o->path,
		    names_last(debug ? debug : o->path));
	return text(".build-id/%.2s/%s%s", hex, hex + 2,
	    debug ? ".debug" : "");
}

/* Many debug files may share it. */
static void
put_shared(struct pack *k, const char *path, const unsigned char *id,
    unsigned bytes)
{
	struct profile_object o = { .build_id_bytes = bytes };
	char *name;

	if (bytes > sizeof o.build_id)
		return;
	memcpy(o.build_id, id, bytes);
	name = name_of(&o, path);
	put_object(k, path, name);
	free(name);
}

static void
put_objects(struct pack *k, struct symbols *symbols,
    const struct profile_object *o)
{
	const struct symbols_object key = {
		o->path, o->build_id, o->build_id_bytes, o->imprint,
	};
	const char *why = symbols_complaint(symbols, &key);
	const char *file, *debug, *shared;
	const unsigned char *id;
	unsigned bytes;
	char *name;

	symbols_files(symbols, &key, &file, &debug);
	if (!file) {
		warn("%s: %s", o->path, why ? why : "unknown");
		return;
	}
	name = name_of(o, NULL);
	put_object(k, file, name);
	free(name);
	shared = symbols_shared(symbols, &key, &id, &bytes);
	if (shared)
		put_shared(k, shared, id, bytes);
	if (!debug || !strcmp(debug, file))
		return;
	name = name_of(o, debug);
	put_object(k, debug, name);
	free(name);
}

/* Parents and objects come after all logs. */
static bool
end(struct pack *k, struct symbols *symbols)
{
	static const char none[TAR_END * TAR_BLOCK];
	bool good;

	for (size_t i = 0; i < k->child_count; i++)
		put_parents(k, k->children[i]);
	for (size_t i = 0; i < k->object_count; i++)
		put_objects(k, symbols, k->objects + i);
	fwrite(none, 1, sizeof none, k->to);
	errno = 0;
	good = !ferror(k->to);
	return !fclose(k->to) && good;
}

/* False: it cannot be used, which is said. */
static bool
take(struct pack *k, const char *path)
{
	struct reader log;
	char **packed;
	const char *why = bundle_logs(path, &packed);

	if (!why && packed)
		why = "a bundle already; expected a log";
	for (char **p = packed; p && *p; p++)
		free(*p);
	free(packed);
	if (!why)
		why = reader_open(&log, path);
	if (why) {
		warn("%s: %s", path, why);
		return false;
	}
	progress_next();
	add(k, &log);
	reader_close(&log);
	return true;
}

int
pack_logs(const char *path, char *const *logs,
    const char *const *debug_paths)
{
	struct pack k = {
		.path = path ? room_text(path, SIZE_MAX)
		    : text("%s.bundle.tar", *logs),
	};
	struct symbols *symbols = symbols_open(debug_paths);
	int status = 0;
	bool good = begin(&k), empty = true;

	for (; good && *logs; logs++)
		if (take(&k, *logs))
			empty = false;
		else
			status = PACK_UNUSABLE;
	if (good)
		good = end(&k, symbols);
	if (!good) {
		warn("%s: %s", k.path, strerror(errno ? errno : EIO));
		status = PACK_FAILED;
	}
	if (k.to && (empty || !good))
		unlink(k.path);
	symbols_close(symbols);
	forget(&k);
	return status;
}
