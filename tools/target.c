/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "image.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	MAX_SCRIPTS = 5,	/* an interpreter may be a script: the kernel's
				 * own bound, and one for env */
	FIRST_LINE = 256,	/* as much as the kernel looks at */
	REASON = 512,
};

static int
executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

int
target_find(const char *name, char path[PATH_MAX])
{
	const char *folder = getenv("PATH");
	int seen = ENOENT;

	if (strlen(name) >= PATH_MAX)
		return ENAMETOOLONG;
	if (strchr(name, '/') || !*name) {
		snprintf(path, PATH_MAX, "%s", name);
		return *name ? executable(path) : ENOENT;
	}
	if (!folder)
		folder = "/bin:/usr/bin";
	for (;; folder++) {
		size_t length = strcspn(folder, ":");
		int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length,
		    folder, length ? "/" : "", name);
		int error = n < PATH_MAX ? executable(path) : ENAMETOOLONG;

		if (!error)
			return 0;
		if (error == EACCES)
			seen = EACCES;
		folder += length;
		if (!*folder)
			return seen;
	}
}

/* File capabilities make a program privileged, except for root, who has
 * them anyway. */
static bool
gains_capabilities(const char *path)
{
	struct vfs_ns_cap_data caps = { 0 };

	if (getuid() == 0 || getxattr(path, "security.capability", &caps,
	    sizeof caps) < (ssize_t)XATTR_CAPS_SZ_2)
		return false;
	/* Stored little-endian, but any bit is enough. */
	return (caps.magic_etc & htole32(VFS_CAP_FLAGS_EFFECTIVE))
	    || caps.data[0].permitted || caps.data[1].permitted;
}

/* What makes the loader ignore a preload (AT_SECURE), NULL if nothing does.
 * Set-user-id for the caller's own id changes nothing. */
static const char *
privilege(const char *path)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct statvfs fs;
	struct stat st;
	bool honoured;

	if (stat(path, &st) || statvfs(path, &fs))
		return NULL;
	honoured = !(fs.f_flag & ST_NOSUID);
	if (honoured && gains_capabilities(path))
		return "has file capabilities";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		honoured = false;
	if (honoured && (st.st_mode & S_ISUID))
		uid = st.st_uid;
	/* Without the group's x the bit has another meaning. */
	if (honoured && (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP))
		gid = st.st_gid;
	if (uid != getuid())
		return "is set-user-id";
	if (gid != getgid())
		return "is set-group-id";
	return NULL;
}

/* The next word of *AT, cut off with a NUL; NULL at the end. */
static char *
word(char **at)
{
	char *start = *at + strspn(*at, " \t");

	if (!*start)
		return NULL;
	*at = start + strcspn(start, " \t");
	if (**at)
		*(*at)++ = '\0';
	return start;
}

/* "#!/usr/bin/env [-S] [NAME=VALUE]... X": X, found; else NULL. */
static const char *
env_runs(char *arguments, char path[PATH_MAX])
{
	char *w;

	while ((w = word(&arguments)))
		if (strcmp(w, "-S") && !strchr(w, '='))
			break;
	if (!w || *w == '-' || target_find(w, path))
		return NULL;
	return path;
}

static bool
is_env(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strcmp(slash, "/env");
}

/* What runs the script: PATH becomes its interpreter and ARGUMENTS the rest
 * of the line.  Without "#!" it is a shell's, as execvp has it. */
static void
interpreter(const struct image *script, char path[PATH_MAX],
    char arguments[FIRST_LINE])
{
	char line[FIRST_LINE] = "";
	size_t size = script->size < sizeof line ? script->size
	    : sizeof line - 1;
	char *rest = line + 2, *name;

	if (size)
		memcpy(line, script->bytes, size);
	line[strcspn(line, "\n")] = '\0';
	name = strncmp(line, "#!", 2) ? NULL : word(&rest);
	snprintf(path, PATH_MAX, "%s", name ? name : "/bin/sh");
	snprintf(arguments, FIRST_LINE, "%s", name ? rest : "");
}

/* What is said of PATH itself; it follows "which" when it is not PROGRAM. */
static enum target_fate
binary_fate(const char *path, enum image_kind kind, const char *what,
    char why[REASON])
{
	static const char *const reasons[] = {
		[IMAGE_BROKEN] = "cannot be executed: %s",
		[IMAGE_FOREIGN] = "is made for another machine or C library "
		    "(%s): build heaphook for that one",
		[IMAGE_STATIC] = "is statically linked, out of any preload's "
		    "reach: link it dynamically%s",
		[IMAGE_SANITIZER] = "is built with %s, which takes malloc for "
		    "itself: build it without",
		[IMAGE_OWN_MALLOC] = "brings its own malloc (%s), out of any "
		    "preload's reach: build it without",
	};
	bool starts = kind != IMAGE_BROKEN && kind != IMAGE_FOREIGN;
	const char *gains = starts ? privilege(path) : NULL;

	if (gains) {
		snprintf(why, REASON, "%s, so its loader takes no preload "
		    "from you: run heaphook-run as its owner", gains);
		return TARGET_UNSEEN;
	}
	if (kind == IMAGE_PLAIN)
		return TARGET_RECORDED;
	if (kind == IMAGE_OWN_MALLOC && !*what)
		what = "linked in";
	snprintf(why, REASON, reasons[kind], what);
	return kind == IMAGE_BROKEN ? TARGET_FAILS : TARGET_UNSEEN;
}

/* A program with the rest of the "#!" line that led to it. */
struct step {
	char path[PATH_MAX];
	char arguments[FIRST_LINE];
};

/* True: STEP is now what runs the script, or what env runs. */
static bool
next_step(struct step *step, enum target_fate *fate, char why[REASON])
{
	char what[IMAGE_WHAT] = "";
	enum image_kind kind = IMAGE_PLAIN;
	struct image image;
	int error = executable(step->path);

	*fate = TARGET_FAILS;
	if (error) {
		snprintf(why, REASON, "cannot be executed: %s",
		    strerror(error));
		return false;
	}
	/* One may run what one may not read. */
	if (image_open(&image, step->path)) {
		kind = image_kind(&image, what);
		if (kind == IMAGE_NOT_ELF)
			interpreter(&image, step->path, step->arguments);
		image_close(&image);
	}
	if (kind == IMAGE_NOT_ELF)
		return true;
	*fate = binary_fate(step->path, kind, what, why);
	return *fate == TARGET_RECORDED && is_env(step->path)
	    && env_runs(step->arguments, step->path);
}

enum target_fate
target_fate(const char *path, char why[TARGET_WHY])
{
	char reason[REASON] = "";
	enum target_fate fate;
	struct step step = { .arguments = "" };

	snprintf(step.path, sizeof step.path, "%s", path);
	for (int i = 0; next_step(&step, &fate, reason); i++)
		if (i == MAX_SCRIPTS) {
			snprintf(why, TARGET_WHY, "cannot be executed: its "
			    "interpreters are scripts without end");
			return TARGET_FAILS;
		}
	if (strcmp(step.path, path))
		snprintf(why, TARGET_WHY, "is run by %s, which %s", step.path,
		    reason);
	else
		snprintf(why, TARGET_WHY, "%s", reason);
	return fate;
}
