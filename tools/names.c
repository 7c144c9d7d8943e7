/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"
#include "signature.h"

enum { INLINED_MOST = 64 };	/* into one function */

const char *
names_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool
begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool
begins_with_any(const char *text, const char *const *list)
{
	while (*list && !begins(text, *list))
		list++;
	return *list;
}

/* In a static program the C library is no object of its own. */
static bool
is_wrapper(const char *function)
{
	static const char *const wrappers[] = {
		"malloc", "calloc", "realloc", "reallocarray",
		"posix_memalign", "aligned_alloc", "memalign", "valloc",
		"pvalloc", "strdup", "__strdup", "strndup", "__strndup",
		"wcsdup", "asprintf", "vasprintf", "__asprintf_chk",
		"__vasprintf_chk", "getline", "getdelim", "__getdelim",
		"realpath", "getcwd", NULL
	};

	for (const char *const *w = wrappers; *w; w++)
		if (!strcmp(*w, function))
			return true;
	return false;
}

/* What is in these crates of Rust allocates for those who call it. */
static const char *const crates[] = {
	"alloc::", "core::", "hashbrown::", "std::", NULL
};

/* Of a type: none of its crates is another.  Only std can give functions to a
 * type that is nobody's. */
static bool
is_of_std(const char *type, const char *end)
{
	const char *name = type;

	for (; name < end && !begins(name, "::"); name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			type = name + 1;
	return name >= end || begins_with_any(type, crates);
}

/* <TYPE>::function, or <TYPE as TRAIT>::function. */
static bool
is_rust_plumbing(const char *function)
{
	static const char *const own[] = { "alloc::", "hashbrown::", NULL };
	const char *end = function, *trait = NULL;
	unsigned deep = 0;

	if (*function != '<')
		return false;
	do {
		deep += *end == '<';
		deep -= *end == '>' && end[-1] != '-';
		if (deep == 1 && begins(end, " as "))
			trait = end + 4;
	} while (deep && *++end);
	if (!begins(end, ">::"))
		return false;
	if (trait && begins_with_any(trait, own))
		return true;
	/* A trait within a function of a type. */
	if (trait && *trait == '<')
		return is_of_std(trait + 1, trait + strcspn(trait, ">"));
	return (!trait || begins_with_any(trait, crates))
	    && is_of_std(function + 1, trait ? trait - 4 : end);
}

bool
names_is_plumbing(const char *function, const struct profile_object *object)
{
	static const char *const names[] = {
		"operator new", "__gnu_cxx::",			/* C++ */
		"__rust_", "__rdl_", "__rg_", "__rustc::",	/* Rust */
		"_gfortran_", "_gfortrani_", "_FortranA",	/* Fortran */
		"for_alloc",
		"__gnat_", "system__", "ada__", "gnat__",	/* Ada */
		"interfaces__", NULL
	};
	static const char *const files[] = {
		"libc.so", "libc-", "libc.musl-", "ld-", "libpthread",
		"libstdc++.so", "libc++", "libgcc_s.so", "libstd-",
		"libgfortran.so", "libquadmath.so", "libFortranRuntime",
		"libifcore", "libgnat-", "libgnat.so", "libgnarl", NULL
	};

	if (function && (is_wrapper(function) || is_rust_plumbing(function)
	    || begins_with_any(signature_own(function), crates)
	    || begins_with_any(signature_own(function), names)))
		return true;
	return object && object->path
	    && begins_with_any(names_last(object->path), files);
}

static unsigned
find(struct symbols *symbols, struct profile_call *c,
    struct symbols_frame *found)
{
	const struct profile_object *o = c->object;
	const struct symbols_object key = {
		o ? o->path : NULL, o ? o->build_id : NULL,
		o ? o->build_id_bytes : 0, o ? o->imprint : 0,
	};
	unsigned count;

	found[0] = (struct symbols_frame){ 0 };
	if (!symbols || !o || !o->path)
		return 1;
	c->object->complaint = symbols_complaint(symbols, &key);
	count = symbols_find(symbols, &key, c->address, found, INLINED_MOST);
	c->object->missed = symbols_missed(symbols, &key,
	    &c->object->missed_more);
	return count;
}

static void
name_call(struct symbols *symbols, struct profile_call *c)
{
	struct symbols_frame found[INLINED_MOST];

	c->frame_count = find(symbols, c, found);
	c->frames = room_new(c->frame_count, sizeof *c->frames);
	for (unsigned i = 0; i < c->frame_count; i++)
		c->frames[i] = (struct profile_frame){
			.function = found[i].function, .file = found[i].file,
			.line = found[i].line,
			.inlined = i + 1 < c->frame_count,
			.plumbing = names_is_plumbing(found[i].function,
			    c->object),
			.call = c,
		};
}

/* The frames of the calls from FRAME outwards, to TO if that is not NULL. */
static unsigned
lay(const struct profile *p, uint32_t frame, const struct profile_frame **to)
{
	unsigned n = 0;

	for (; frame; frame = p->tree[frame].caller) {
		const struct profile_call *c = p->calls + p->tree[frame].call;

		for (unsigned i = 0; i < c->frame_count; i++, n++)
			if (to)
				to[n] = c->frames + i;
	}
	return n;
}

static void
name_site(struct profile *p, struct symbols *symbols,
    struct profile_site *site)
{
	for (uint32_t f = site->frame; f; f = p->tree[f].caller) {
		struct profile_call *c = p->calls + p->tree[f].call;

		if (!c->frames)
			name_call(symbols, c);
	}
	site->depth = lay(p, site->frame, NULL);
	site->stack = room_new(site->depth, sizeof *site->stack);
	lay(p, site->frame, site->stack);
}

static bool
is_slow(const struct profile *p, uint32_t frame)
{
	for (size_t i = 0; i < p->slow_count; i++)
		if (p->slowest[i].frame == frame)
			return true;
	return false;
}

/* Where an inlined function is not known, the one around it has its place:
 * that would be believed. */
static void
note_missed(struct profile *p)
{
	for (size_t i = 0; i < p->object_count; i++) {
		const struct profile_object *o = p->objects + i;
		struct profile_texts *to = &p->problems;
		char more[40] = "";

		if (!o->missed)
			continue;
		if (o->missed_more)
			snprintf(more, sizeof more, " and %u more like it",
			    o->missed_more);
		to->list = room_grow(to->list, to->count + 1,
		    sizeof *to->list);
		if (asprintf(&to->list[to->count++], "%s: %s%s %s missing: "
		    "what is inlined there is shown as the function around it",
		    names_last(o->path), o->missed, more,
		    o->missed_more ? "are" : "is") < 0)
			room_none();
	}
}

void
names_give(struct profile *p, struct symbols *symbols, size_t count)
{
	for (size_t i = 0; i < p->site_count; i++)
		if (!p->sites[i].stack && (i < count
		    || p->sites[i].growth > 0
		    || is_slow(p, p->sites[i].frame)))
			name_site(p, symbols, p->sites + i);
	note_missed(p);
}

unsigned
names_headline(const struct profile_site *site)
{
	for (unsigned i = 0; i < site->depth; i++)
		if (!site->stack[i]->plumbing)
			return i;
	return 0;
}
