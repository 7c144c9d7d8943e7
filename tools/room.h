/* SPDX-License-Identifier: Apache-2.0 */
/* Memory or the end: a report that lacks memory has nothing else to do. */
#ifndef TOOLS_ROOM_H
#define TOOLS_ROOM_H

#include <stddef.h>

/* COUNT times BYTES, all zero. */
void *room_new(size_t count, size_t bytes);

/* OLD, moved to where it has COUNT times BYTES; what is new is not set. */
void *room_grow(void *old, size_t count, size_t bytes);

/* A copy of at most MAX bytes of TEXT, up to its NUL. */
char *room_text(const char *text, size_t max);

/* There is none. */
_Noreturn void room_none(void);

#endif
