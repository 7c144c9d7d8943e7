/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "conf.h"

#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "sys.h"

enum {
	ENVIRON_BYTES = 256 * 1024,	/* of which pages in use count */
	ARGV_BYTES = 32 * 1024,
};

static const char *
value_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(entry, name, length) != 0 || entry[length] != '=')
		return NULL;
	return entry + length + 1;
}

/* libc sets environ in a constructor of its own; whoever calls malloc
 * before that (the loader does) still finds it in /proc. */
static const char *
look_in_proc(const char *name)
{
	static char *text;
	static long bytes;

	if (!text) {
		text = hh_sys_map_private(ENVIRON_BYTES);
		if (!text)
			return NULL;
		bytes = hh_sys_slurp("/proc/self/environ", text, ENVIRON_BYTES);
	}
	for (long i = 0; i < bytes; i += (long)strlen(text + i) + 1) {
		const char *value = value_of(text + i, name);

		if (value)
			return value;
	}
	return NULL;
}

static const char *
look_in_environ(const char *name)
{
	for (char **entry = environ; *entry; entry++) {
		const char *value = value_of(*entry, name);

		if (value)
			return value;
	}
	return NULL;
}

const char *
hh_conf_get(const char *name)
{
	const char *value = environ ? look_in_environ(name)
	    : look_in_proc(name);

	return value && *value ? value : NULL;
}

bool
hh_conf_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGT";
	uint64_t v = 0;
	const char *unit;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(v, 10, &v)
		    || __builtin_add_overflow(v, *text - '0', &v))
			return false;
	if (*text) {
		unit = strchr(units, *text & ~0x20);
		if (!unit || !*unit || text[1])
			return false;
		for (; unit >= units; unit--)
			if (__builtin_mul_overflow(v, 1024, &v))
				return false;
	}
	*size = v;
	return true;
}

bool
hh_conf_number(const char *text, int32_t *number)
{
	int64_t v = 0;
	const char *digit = text;

	for (; *digit >= '0' && *digit <= '9' && v <= INT32_MAX; digit++)
		v = v * 10 + *digit - '0';
	if (digit == text || *digit || v > INT32_MAX)
		return false;
	*number = (int32_t)v;
	return true;
}

/* PATTERN stands after '['.  Returns the end of the set, past ']', or NULL
 * if it is not closed; *HIT says whether C is in it. */
static const char *
match_set(const char *pattern, char c, bool *hit)
{
	bool not = *pattern == '!' || *pattern == '^';
	const char *first = pattern += not;

	*hit = false;
	for (; *pattern && (*pattern != ']' || pattern == first); pattern++) {
		char low = *pattern, high = low;

		if (pattern[1] == '-' && pattern[2] && pattern[2] != ']') {
			high = pattern[2];
			pattern += 2;
		}
		*hit = *hit || (low <= c && c <= high);
	}
	*hit = *hit != not;
	return *pattern ? pattern + 1 : NULL;
}

/* One element of the pattern against C: where the pattern goes on, or NULL. */
static const char *
match_one(const char *pattern, char c)
{
	bool hit;
	const char *end;

	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[' && (end = match_set(pattern + 1, c, &hit)))
		return hit ? end : NULL;
	if (*pattern == '\\' && pattern[1])
		pattern++;
	return *pattern == c ? pattern + 1 : NULL;
}

/* After a mismatch only the last star can take one more character: earlier
 * ones never need to, so this is bounded by the product of the lengths. */
bool
hh_conf_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL, *next;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern && (next = match_one(pattern, *text))) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

const char *
hh_conf_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *
hh_conf_argv(size_t *bytes)
{
	static char *text;
	static long got;

	if (!text) {
		text = hh_sys_map_private(ARGV_BYTES);
		if (!text) {
			*bytes = 0;
			return "";
		}
		got = hh_sys_slurp("/proc/self/cmdline", text, ARGV_BYTES);
	}
	*bytes = got > 0 ? (size_t)got : 0;
	return text;
}

const char *
hh_conf_exe(void)
{
	static char path[PATH_MAX];
	long got;

	if (path[0])
		return path;
	got = hh_sys_readlink("/proc/self/exe", path, sizeof path - 1);
	if (got <= 0) {
		const char *name = (const char *)getauxval(AT_EXECFN);

		return name ? name : "";
	}
	path[got] = '\0';
	return path;
}

static bool
matches_name(const char *pattern, const char *path)
{
	return hh_conf_glob(pattern, path)
	    || hh_conf_glob(pattern, hh_conf_base_name(path));
}

bool
hh_conf_wanted(void)
{
	const char *pattern = hh_conf_get("HEAPHOOK_ONLY");
	size_t bytes;

	return !pattern || matches_name(pattern, hh_conf_exe())
	    || matches_name(pattern, hh_conf_argv(&bytes));
}

bool
hh_conf_secure(void)
{
	return getauxval(AT_SECURE) != 0;
}
