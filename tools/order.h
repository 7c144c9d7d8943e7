/* SPDX-License-Identifier: Apache-2.0 */
/* By what sites are compared: --sort. */
#ifndef TOOLS_ORDER_H
#define TOOLS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

struct order {
	const char *name, *title;
	bool repeats;			/* it is about calls made again and
					 * again: one alone tells little */
	struct order_column {
		const char *heading;
		bool bytes;
		size_t offset;		/* in struct profile_site */
	} by, beside;
	size_t error;		/* of by, in struct profile_error */
};

extern const struct order orders[];	/* the default first, to a NULL name */

/* NULL: there is none. */
const struct order *order_find(const char *name);

/* The sites of P, most first. */
void order_sites(struct profile *p, const struct order *order);

/* Those that called once come last, and are counted. */
void order_once_last(struct profile *p);

/* Of an estimate. */
static inline double
order_error(const struct profile *p, const struct profile_site *site,
    const struct order *r)
{
	return *(const double *)((const char *)(p->errors + site->frame)
	    + r->error);
}

static inline uint64_t
order_value(const struct profile_site *site, const struct order_column *c)
{
	return *(const uint64_t *)((const char *)site + c->offset);
}

#endif
