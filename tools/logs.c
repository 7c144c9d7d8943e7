/* SPDX-License-Identifier: Apache-2.0 */
#include "logs.h"

#include "log/format.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct found {
	char *path;
	uint64_t start_ns;
	pid_t pid, parent;
};

struct text {
	char *at, *end;
};

/* Stays one byte short of the end, so that a NUL fits. */
static void
put(struct text *t, char c)
{
	if (t->at < t->end)
		*t->at++ = c;
}

const char *
logs_settle(const char *name, char path[PATH_MAX])
{
	char cwd[PATH_MAX] = "";
	struct text t = { path, path + PATH_MAX - 1 };
	bool lost = *name != '/' && !getcwd(cwd, sizeof cwd);

	if (lost)
		put(&t, '.');
	for (const char *c = cwd; *c; c++) {
		if (*c == '%')
			put(&t, '%');
		put(&t, *c);
	}
	if (*name != '/')
		put(&t, '/');
	for (; *name; name++)
		put(&t, *name);
	*t.at = '\0';
	return lost ? "there is no current folder any more"
	    : t.at == t.end ? "the name is too long" : NULL;
}

/* Why no file can be made in FOLDER: which rights do not tell of all. */
static int
refused(const char *folder)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof path, "%s.heaphook.%ld", folder,
	    (long)getpid());
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	unlink(path);
	return 0;
}

int
logs_refused(const char *path, char folder[PATH_MAX])
{
	struct stat st;

	snprintf(folder, PATH_MAX, "%s", path);
	if (!strchr(path, '%') && !lstat(path, &st) && !S_ISREG(st.st_mode)
	    && !S_ISLNK(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
	/* What a word stands for is one name, which need not exist yet. */
	folder[strcspn(folder, "%")] = '\0';
	for (char *slash = strrchr(folder, '/');;
	    slash = strrchr(folder, '/')) {
		/* With its slash, so that a file is no folder. */
		slash[1] = '\0';
		if (!faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
			return refused(folder);
		if (errno != ENOENT || slash == folder)
			return errno;
		*slash = '\0';
	}
}

/* One word after '%': any text.  Returns what follows it. */
static const char *
any(struct text *t, const char *word)
{
	const char *end = *word == 'q' ? strchr(word, '}') : NULL;

	if (*word == '%') {
		put(t, '%');
		return word + 1;
	}
	put(t, '*');
	return end ? end + 1 : word + !!*word;
}

/* PATH as a glob: a star for each word, and one where .N may go. */
static void
make_glob(const char *path, struct text t)
{
	const char *base = strrchr(path, '/') + 1;
	const char *dot = *base ? strrchr(base + 1, '.') : NULL;

	while (*path) {
		if (path == dot)
			put(&t, '*');
		if (*path == '%') {
			path = any(&t, path + 1);
			continue;
		}
		if (strchr("*?[]\\", *path))
			put(&t, '\\');
		put(&t, *path++);
	}
	if (!dot)
		put(&t, '*');
	*t.at = '\0';
}

/* What the header says, as far as it is one; it is not trusted further. */
static bool
read_header(const char *path, struct found *found)
{
	struct log_header h;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, &h, sizeof h, 0);

	if (fd >= 0)
		close(fd);
	if (n != sizeof h || h.magic != LOG_MAGIC)
		return false;
	found->start_ns = h.start_realtime_ns;
	found->pid = h.pid;
	found->parent = h.flags & LOG_FLAG_FORKED ? h.origin_pid : h.ppid;
	return true;
}

static int
by_start(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool
is_running(pid_t pid)
{
	return pid > 0 && (!kill(pid, 0) || errno == EPERM);
}

/* Whether FOUND[N] is of the family, of which all before it are.  A parent
 * that left no log (--only, say) is unknown by now; one that still runs is
 * somebody else, who records to the same name at the same time. */
static bool
is_ours(const struct found *found, size_t n, pid_t parent)
{
	const struct found *f = found + n;

	if (f->pid == parent || f->parent == parent)
		return true;
	for (size_t i = 0; i < n; i++)
		if (found[i].pid == f->pid || found[i].pid == f->parent)
			return true;
	return !is_running(f->parent);
}

/* Those of the N that are ours, at the front; returns how many. */
static size_t
keep_ours(struct found *found, size_t n, pid_t parent)
{
	size_t kept = 0;

	qsort(found, n, sizeof *found, by_start);
	for (size_t i = 0; i < n; i++) {
		struct found f = found[i];

		found[i] = found[kept];
		found[kept] = f;
		kept += is_ours(found, kept, parent);
	}
	return kept;
}

char **
logs_of(const char *path, pid_t parent, uint64_t start_ns)
{
	char pattern[2 * PATH_MAX];
	struct found *found;
	char **paths = NULL;
	size_t n = 0;
	glob_t all;

	make_glob(path, (struct text){ pattern, pattern + sizeof pattern - 1 });
	if (glob(pattern, GLOB_NOSORT, NULL, &all))
		return calloc(1, sizeof *paths);
	found = calloc(all.gl_pathc, sizeof *found);
	for (size_t i = 0; found && i < all.gl_pathc; i++) {
		found[n].path = all.gl_pathv[i];
		n += read_header(found[n].path, &found[n])
		    && found[n].start_ns >= start_ns;
	}
	if (found) {
		n = keep_ours(found, n, parent);
		paths = calloc(n + 1, sizeof *paths);
	}
	for (size_t i = 0; paths && i < n; i++)
		paths[i] = strdup(found[i].path);
	free(found);
	globfree(&all);
	return paths;
}

void
logs_free(char **paths)
{
	for (char **p = paths; p && *p; p++)
		free(*p);
	free(paths);
}
