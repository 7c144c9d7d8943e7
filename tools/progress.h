/* SPDX-License-Identifier: Apache-2.0 */
/* A bar on the terminal while work lasts. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* COUNT pieces of work begin.  Without SHOW nothing is ever drawn. */
void progress_begin(size_t count, bool show);

/* The next piece. */
void progress_next(void);

/* So much of the piece is done, of 1.  WHO is not used. */
void progress_show(void *who, double done);

/* Leave no trace. */
void progress_end(void);

#endif
