/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "conf.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "entry.h"
#include "sys.h"

enum {
	ENVIRON_BYTES = 256 * 1024,	/* of which pages in use count */
	SCRIPT_ARGUMENTS = 12,		/* two each, however nested */
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
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(v, 10, &v)
		    || __builtin_add_overflow(v, *text - '0', &v))
			v = UINT64_MAX;
	if (*text) {
		unit = strchr(units, *text & ~0x20);
		if (!unit || !*unit || text[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	*size = v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
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

size_t
hh_conf_argv(char *text, size_t bytes)
{
	long got = hh_sys_slurp("/proc/self/cmdline", text, bytes);

	return got > 0 ? (size_t)got : 0;
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

static HH_NEAR char **arguments;	/* NULL: not known yet, or never */

void
hh_conf_begin(char **argv)
{
	arguments = argv;
}

/* Of a script the kernel names the script and runs its interpreter, which
 * gets that very name as one of its first arguments. */
static bool
may_be_script(const char *name)
{
	if (!arguments)
		return true;
	for (int i = 1; i <= SCRIPT_ARGUMENTS && arguments[i - 1]
	    && arguments[i]; i++)
		if (strcmp(arguments[i], name) == 0)
			return true;
	return false;
}

/* The last part of the file's name, NULL if it takes /proc to tell: the
 * first look there costs a process more than all the rest of this. */
static const char *
file_base_name(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	char byte;

	if (!name || may_be_script(name)
	    || hh_sys_readlink(name, &byte, 1) != -EINVAL)
		return NULL;
	return hh_conf_base_name(name);
}

/* Whether PATTERN can match a name that begins with a slash. */
static bool
is_for_paths(const char *pattern)
{
	return strchr("/*?[\\", *pattern);
}

/* libc knows the name it was called by once it has begun; "" before. */
static bool
matches_call(const char *pattern)
{
	char name[PATH_MAX];

	if (*program_invocation_name)
		return matches_name(pattern, program_invocation_name);
	return hh_conf_argv(name, sizeof name) && matches_name(pattern, name);
}

/* On the stack: who is left out has no use for a page of ours. */
static bool
matches_file(const char *pattern)
{
	const char *base = is_for_paths(pattern) ? NULL : file_base_name();
	char path[PATH_MAX];
	long got;

	if (base)
		return hh_conf_glob(pattern, base);
	got = hh_sys_readlink("/proc/self/exe", path, sizeof path - 1);
	if (got <= 0)
		return matches_name(pattern, hh_conf_exe());
	path[got] = '\0';
	return matches_name(pattern, path);
}

static bool
is_wanted(void)
{
	const char *pattern = hh_conf_get("HEAPHOOK_ONLY");

	return !pattern || matches_call(pattern)
	    || matches_file(pattern);
}

bool
hh_conf_wanted(void)
{
	static HH_NEAR enum { NOT_ASKED, WANTED, LEFT_OUT } answer;

	if (answer == NOT_ASKED)
		answer = is_wanted() ? WANTED : LEFT_OUT;
	return answer == WANTED;
}

bool
hh_conf_secure(void)
{
	return getauxval(AT_SECURE) != 0;
}
