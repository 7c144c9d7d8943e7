/* SPDX-License-Identifier: Apache-2.0 */
#include "leaks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "room.h"

/* Does TEXT begin with PATTERN, up to a '*' in that?  What is left of both
 * then. */
static bool
match_piece(const char **pattern, const char **text)
{
	const char *p = *pattern, *t = *text;

	while (*p && *p != '*' && !(*p == '$' && !p[1])) {
		if (*p++ != *t++)
			return false;
	}
	if (*p == '$' && *t)
		return false;
	*pattern = p;
	*text = t;
	return true;
}

/* Each piece is looked for from where the one before ended; of the last,
 * the '$' may need a later place, which the search goes on to. */
bool
leaks_match(const char *pattern, const char *text)
{
	bool fixed = *pattern == '^';

	pattern += fixed;
	for (;;) {
		while (*pattern == '*') {
			pattern++;
			fixed = false;
		}
		while (!match_piece(&pattern, &text)) {
			if (fixed || !*text++)
				return false;
		}
		if (*pattern != '*')
			return true;
	}
}

/* NULL: it is none, and says nothing wrong if it is EMPTY. */
static const char *
pattern_of(char *line, bool *empty)
{
	static const char key[] = "leak:";
	char *end = line + strlen(line);

	while (end > line && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*line))
		line++;
	*empty = !*line || *line == '#';
	if (*empty || strncmp(line, key, sizeof key - 1)
	    || !line[sizeof key - 1])
		return NULL;
	return line + sizeof key - 1;
}

static void
add(struct leaks *l, const char *pattern)
{
	l->patterns = room_grow(l->patterns, l->count + 1,
	    sizeof *l->patterns);
	l->patterns[l->count++] = room_text(pattern, SIZE_MAX);
}

static char *
complaint(const char *path, unsigned line, const char *what)
{
	char *text = NULL;
	int n = line ? asprintf(&text, "%s:%u: %s", path, line, what)
	    : asprintf(&text, "%s: %s", path, what);

	if (n < 0)
		room_none();
	return text;
}

char *
leaks_read(struct leaks *l, const char *path)
{
	FILE *from = fopen(path, "re");
	char *line = NULL, *wrong = NULL;
	size_t room = 0;

	if (!from)
		return complaint(path, 0, strerror(errno));
	errno = 0;
	for (unsigned i = 1; !wrong && getline(&line, &room, from) >= 0; i++) {
		bool empty;
		const char *pattern = pattern_of(line, &empty);

		if (pattern)
			add(l, pattern);
		else if (!empty)
			wrong = complaint(path, i, "expected leak:PATTERN, or "
			    "# and a comment");
	}
	if (!wrong && ferror(from))
		wrong = complaint(path, 0, strerror(errno));
	free(line);
	fclose(from);
	return wrong;
}

void
leaks_free(struct leaks *l)
{
	while (l->count)
		free(l->patterns[--l->count]);
	free(l->patterns);
}

static bool
is_about(const char *pattern, const struct profile_frame *f)
{
	const struct profile_object *o = f->call->object;

	return (f->function && leaks_match(pattern, f->function))
	    || (f->file && leaks_match(pattern, f->file))
	    || (o && o->path && leaks_match(pattern, o->path));
}

/* The name without what marks libc's own uses and variants of a function:
 * __GI__IO_puts is puts. */
static const char *
bare(const char *name)
{
	static const char *const marks[] = { "__GI_", "_IO_" };

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (!strncmp(name, marks[i], strlen(marks[i])))
			name += strlen(marks[i]);
	return name + strspn(name, "_");
}

static bool
is_any(const char *name, const char *const *patterns)
{
	while (*patterns && !leaks_match(*patterns, name))
		patterns++;
	return *patterns;
}

/* Those that know no other streams than the standard ones; and libstdc++,
 * whose own files have no FILE's buffer. */
static bool
is_standard_stream(const struct profile_frame *f)
{
	static const char *const functions[] = {
		"^printf$", "^printf_chk$", "^vprintf$", "^vprintf_chk$",
		"^wprintf$", "^wprintf_chk$", "^vwprintf$", "^vwprintf_chk$",
		"^puts$", "^putchar$", "^putchar_unlocked$", "^putwchar$",
		"^putwchar_unlocked$", "^perror$", "^psignal$", "^scanf$",
		"^isoc99_scanf$", "^vscanf$", "^isoc99_vscanf$", "^gets$",
		"^getchar$", "^getchar_unlocked$", "^getwchar$", NULL
	};

	return (f->function && is_any(bare(f->function), functions))
	    || leaks_match("^libstdc++.so", names_last(f->call->object->path));
}

/* What the C library keeps to the end, whoever calls it. */
static bool
is_kept(const struct profile_frame *f)
{
	static const char *const keepers[] = {
		"^cxa_atexit$", "^atexit$", "^on_exit$",
		"^cxa_thread_atexit", "^setlocale$",
		"^bindtextdomain$", "^set_binding_values$", "^textdomain$",
		"^dcgettext$", "^dcigettext$", "^dcngettext$",
		"^tzset$", "^tzset_internal$", "^tz_convert$", "^localtime",
		"^mktime$", "^setenv$", "^putenv$", "^add_to_environ$",
		"^wcsmbs_load_conv$", "^gconv_find_shlib$",
		"^gconv_load_cache$", "^gconv_read_conf$",
		"^gconv_load_conf$", "^nss_", "^dlerror_run$", NULL
	};

	return f->function && is_any(bare(f->function), keepers);
}

/* Not of musl, whose loader is its C library. */
static bool
is_loader(const struct profile_frame *f)
{
	const char *file = names_last(f->call->object->path);

	return leaks_match("^ld-*.so", file) && !leaks_match("^ld-musl", file);
}

/* Is F in the loader, the C or the C++ library? */
static bool
is_inside(const struct profile_frame *f)
{
	const struct profile_object *o = f->call->object;

	return o && o->path && names_is_plumbing(NULL, o);
}

/* What the loader allocates for itself; what the C and C++ libraries do
 * when it starts them, and what they keep.  But they and it call others,
 * too: whose a block is is seen before the first frame of those. */
static bool
is_theirs(const struct profile_site *site)
{
	bool buffer = false;

	for (unsigned i = 0; i < site->depth && is_inside(site->stack[i]);
	    i++) {
		const struct profile_frame *f = site->stack[i];

		if (is_loader(f) || is_kept(f)
		    || (buffer && is_standard_stream(f)))
			return true;
		buffer |= f->function
		    && !strcmp(bare(f->function), "file_doallocate");
	}
	return false;
}

static bool
is_suppressed(const struct leaks *l, const struct profile_site *site)
{
	if (is_theirs(site))
		return true;
	for (unsigned i = 0; i < site->depth; i++)
		for (size_t j = 0; j < l->count; j++)
			if (is_about(l->patterns[j], site->stack[i]))
				return true;
	return false;
}

void
leaks_mark(const struct leaks *l, struct profile *p)
{
	for (size_t i = 0; i < p->site_count; i++)
		p->sites[i].suppressed = is_suppressed(l, p->sites + i);
}
