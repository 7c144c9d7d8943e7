/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in, one form of output out. */
#ifndef TOOLS_RENDER_H
#define TOOLS_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile.h"
#include "order.h"

struct branches;
struct diff;

struct render_look {
	unsigned columns;	/* of the terminal */
	bool utf8;		/* it can show */
	const struct order *order;	/* the order that sites are in; NULL:
					 * the default */
	size_t top;		/* how many sites to show; 0: as many as
				 * there is place for */
	bool leaks;		/* show what is live at the end */
	const struct branches *branches;	/* show them; NULL */
	const struct diff *diff;	/* show what changed; NULL: not asked */
};

/* What a form is about: forms that other viewers read have no place for more
 * than one log, but for all of its sites, however many are to be shown. */
enum render_about {
	RENDER_LOGS,		/* any number */
	RENDER_LOG,		/* one */
	RENDER_STACKS,		/* one that has stacks */
};

struct reader;

enum { RENDER_SITES = 5 };	/* in a text, when nobody says how many */

/* All sites of a profile are in the order that LOOK has; those that are
 * shown, at least, have their stacks. */
struct renderer {
	const char *name, *help;
	void (*run)(FILE *to, const struct profile *list, size_t count,
	    const struct render_look *look);
	size_t sites;		/* that it shows when nobody says how many;
				 * SIZE_MAX: all */
	enum render_about about;
	/* What follows, if it is more than profiles have; or NULL. */
	void (*events)(FILE *to, const struct profile *p, struct reader *log,
	    const struct profile_part *part,
	    void (*progress)(void *, double));
	const char *const *lacks;	/* what this heaphook was built
					 * without and the form needs; NULL,
					 * also there: nothing */
};

/* The default first; a NULL name ends them. */
extern const struct renderer renderers[];
const struct renderer *render_find(const char *name);

void render_text(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_json(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_csv(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_massif(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_heaptrack(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_heaptrack_events(FILE *to, const struct profile *p,
    struct reader *log, const struct profile_part *part,
    void (*progress)(void *, double));
void render_pprof(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_folded(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_speedscope(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_callgrind(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_dhat(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_svg(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
extern const char *const render_paper_lacks;
void render_pdf(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);
void render_png(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look);

/* The facts that are one value, or a list of texts, in their order. */
enum render_kind {
	RENDER_TEXT, RENDER_TEXTS, RENDER_NUMBER, RENDER_SECONDS, RENDER_TRUTH,
};

enum render_when {
	RENDER_ALWAYS, RENDER_MAPPINGS, RENDER_POOL, RENDER_SAMPLE
};

struct render_field {
	const char *name;
	enum render_kind kind;
	size_t offset;		/* in struct profile */
	enum render_when when;
};

extern const struct render_field render_fields[];	/* to a NULL name */

static inline const void *
render_value(const struct profile *p, const struct render_field *f)
{
	return (const char *)p + f->offset;
}

/* Does P have the field? */
bool render_has(const struct profile *p, const struct render_field *f);

/* How many sites of P are to be shown, if MOST are when nobody says. */
static inline size_t
render_top(const struct profile *p, const struct render_look *look,
    size_t most)
{
	size_t top = look->top ? look->top : most;
	size_t all = p->site_count - p->once_count;

	return top < all ? top : all;
}

/* At most COLUMNS of TEXT; what cannot be seen as \x1b.  Returns how many
 * columns are left. */
unsigned render_put(FILE *to, const char *text, unsigned columns, bool utf8);

/* Bytes of the UTF-8 character at AT; 0: there is none, or it would do
 * something to a terminal instead of being seen. */
unsigned render_seen(const char *at);

#endif
