/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "name.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "conf.h"
#include "sys.h"
#include "text.h"

struct expansion {
	const struct hh_name_facts *facts;
	struct hh_text out;
	unsigned n;
	bool numbered;		/* %n was there */
};

/* A value is one component of the path: its slashes become underscores. */
static void
add_value(struct hh_text *out, const char *value)
{
	if (!value || !*value)
		value = "x";
	for (; *value; value++)
		hh_text_add_bytes(out, *value == '/' ? "_" : value, 1);
}

static void
add_number(struct hh_text *out, int64_t number)
{
	if (number < 0)
		hh_text_add(out, "x");
	else
		hh_text_add_uint(out, (uint64_t)number);
}

/* WORD stands at the '{' of %q{VAR}; returns what follows '}', or NULL. */
static const char *
add_variable(struct hh_text *out, const char *word)
{
	char name[256];
	const char *end = *word == '{' ? strchr(word, '}') : NULL;

	if (!end || (size_t)(end - word) > sizeof name)
		return NULL;
	memcpy(name, word + 1, (size_t)(end - word) - 1);
	name[end - word - 1] = '\0';
	add_value(out, hh_conf_get(name));
	return end + 1;
}

/* The word after '%'; returns what follows it, or NULL if there is none. */
static const char *
add_word(struct expansion *x, const char *word)
{
	const struct hh_name_facts *f = x->facts;

	switch (*word) {
	case 'p': add_number(&x->out, f->pid); break;
	case 'r': add_number(&x->out, f->launcher.rank); break;
	case 'l': add_number(&x->out, f->launcher.local_rank); break;
	case 't': add_number(&x->out, (int64_t)f->start_s); break;
	case 'h': add_value(&x->out, f->host); break;
	case 'j': add_value(&x->out, f->launcher.job); break;
	case 'e': add_value(&x->out, hh_conf_base_name(f->exe)); break;
	case '%': hh_text_add(&x->out, "%"); break;
	case 'q': return add_variable(&x->out, word + 1);
	case 'n':
		x->numbered = true;
		add_number(&x->out, x->n);
		break;
	default: return NULL;
	}
	return word + 1;
}

static void
add_pattern(struct expansion *x, const char *pattern)
{
	while (*pattern) {
		const char *next = pattern[0] == '%'
		    ? add_word(x, pattern + 1) : NULL;

		if (pattern[0] == '%' && !next && x->n == 1)
			hh_say_bad("HEAPHOOK_OUTPUT", pattern,
			    "one of %p %r %h %e %l %j %n %t %q{VAR} %%");
		if (next) {
			pattern = next;
			continue;
		}
		hh_text_add_bytes(&x->out, pattern++, 1);
	}
}

/* Where the process was when it started: a daemon's children, which have
 * left for /, still find it. */
static bool
start_at_cwd(struct hh_text *out)
{
	static char first[PATH_MAX];

	if (!first[0] && hh_sys_getcwd(first, sizeof first) <= 0)
		first[0] = '\0';
	if (first[0] != '/')
		return false;
	hh_text_add(out, first);
	if (out->at[-1] != '/')
		hh_text_add(out, "/");
	return true;
}

/* ".N" before the suffix of the last component. */
static void
insert_number(struct hh_text *out, char *path, unsigned n)
{
	char suffix[NAME_MAX + 1];
	char *base = strrchr(path, '/') + 1;
	char *dot = *base ? strrchr(base + 1, '.') : NULL;

	if (!dot)
		dot = out->at;
	if ((size_t)(out->at - dot) >= sizeof suffix) {
		out->cut = true;
		return;
	}
	memcpy(suffix, dot, (size_t)(out->at - dot) + 1);
	out->at = dot;
	hh_text_add(out, ".");
	hh_text_add_uint(out, n);
	hh_text_add(out, suffix);
}

int
hh_name_expand(const char *pattern, const struct hh_name_facts *facts,
    unsigned n, char *path, size_t bytes)
{
	struct expansion x = {facts, hh_text_in(path, bytes), n, false};
	bool lost = pattern[0] != '/' && !start_at_cwd(&x.out);

	if (lost)
		hh_text_add(&x.out, "./");
	add_pattern(&x, pattern);
	if (n > 1 && !x.numbered)
		insert_number(&x.out, path, n);
	return lost ? -ENOENT : x.out.cut ? -ENAMETOOLONG : 0;
}

int
hh_name_make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash;
	    slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = hh_sys_mkdir(path, 0777);
		*slash = '/';
		if (r < 0 && r != -EEXIST && r != -EISDIR && r != -EROFS
		    && r != -EACCES && r != -EPERM)
			return r;
	}
	return 0;
}
