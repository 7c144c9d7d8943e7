/* SPDX-License-Identifier: Apache-2.0 */
/* Texts by number, each once: the first is 1. */
#ifndef TOOLS_TEXTS_H
#define TOOLS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct texts {
	char **list;		/* number 1 is list[0] */
	size_t count;
	uint32_t *places;	/* numbers by hash; 0: free */
	size_t mask;		/* one less than there are places, or 0 */
};

/* The number of TEXT, which is copied if it is new: then it is the count. */
uint32_t texts_number(struct texts *t, const char *text);
void texts_free(struct texts *t);

#endif
