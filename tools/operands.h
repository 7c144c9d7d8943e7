/* SPDX-License-Identifier: Apache-2.0 */
/* The logs that a command line names: a bundle stands for those in it. */
#ifndef TOOLS_OPERANDS_H
#define TOOLS_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>

struct operands {
	char **logs;		/* COUNT, and a NULL */
	size_t count;
	bool unusable;		/* some that were named; what is wrong with
				 * them was said */
};

/* BUNDLE is told of each: to look for names in it. */
void operands_add(struct operands *o, const char *name,
    void (*bundle)(const char *path));
void operands_free(struct operands *o);

#endif
