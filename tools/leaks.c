/* SPDX-License-Identifier: Apache-2.0 */
#include "leaks.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "pattern.h"
#include "room.h"

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

	return (f->function && pattern_matches(pattern, f->function))
	    || (f->file && pattern_matches(pattern, f->file))
	    || (o && o->path && pattern_matches(pattern, o->path));
}

static bool
is_suppressed(const struct leaks *l, const struct profile_site *site,
    bool no_files)
{
	if (kept_is(site, no_files))
		return true;
	for (unsigned i = 0; i < site->depth; i++)
		for (size_t j = 0; j < l->count; j++)
			if (is_about(l->patterns[j], site->stack[i]))
				return true;
	return false;
}

void
leaks_mark(const struct leaks *l, struct profile *p, bool some)
{
	bool no_files = !some && kept_has_no_files(p);

	for (size_t i = 0; i < p->site_count; i++)
		p->sites[i].suppressed = is_suppressed(l, p->sites + i,
		    no_files);
}
