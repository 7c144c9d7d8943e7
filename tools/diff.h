/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two runs of one program, or of two builds of it. */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "profile.h"

/* Sites that are the same by their functions, files and objects, whatever
 * the lines and addresses, added up. */
struct diff_site {
	const struct profile_site *shown;	/* one of them, for its stack:
						 * of now, if there is any */
	struct profile_site before, now;	/* only counts and bytes */
	bool is_new, is_gone;
};

struct diff_size {
	uint64_t from, to;		/* both belong to it */
	uint64_t before, now;		/* allocations */
};

struct diff_total {
	const char *name, *title;	/* a NULL name ends them */
	bool bytes;
	size_t offset;			/* in struct profile */
};

extern const struct diff_total diff_totals[];

struct diff {
	const struct profile *before, *now;
	bool has_sites;			/* both have stacks */
	struct diff_site *sites;	/* the biggest change first */
	size_t site_count;
	struct diff_size sizes[PROFILE_SIZES];
	size_t size_count;
};

/* All sites of both must have their stacks.  ORDER says which change. */
void diff_make(struct diff *d, const struct profile *before,
    const struct profile *now, const struct order *order);
void diff_free(struct diff *d);

/* How many of the sites, the first ones, are not in BY as they were. */
size_t diff_changed(const struct diff *d, const struct order_column *by);

static inline const struct profile_number *
diff_value(const struct profile *p, const struct diff_total *t)
{
	return (const struct profile_number *)(const void *)
	    ((const char *)p + t->offset);
}

#endif
