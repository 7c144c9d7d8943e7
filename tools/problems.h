/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a log, in lines for people. */
#ifndef TOOLS_PROBLEMS_H
#define TOOLS_PROBLEMS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROBLEMS_KEPT = 20 };	/* a bad log may have millions */

struct problems {
	char *lines[PROBLEMS_KEPT];
	unsigned kept;
	uint64_t more;		/* not kept */
	bool loss;		/* for one of them events are missing */
};

/* Something to know, though nothing is lost. */
void problems_note(struct problems *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Events are missing. */
void problems_loss(struct problems *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void problems_free(struct problems *p);

#endif
