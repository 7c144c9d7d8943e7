/* SPDX-License-Identifier: Apache-2.0 */
/* What a forked child knows of its parent: all of it is in the child's own
 * memory, as it was at the fork, except the parent's log. */
#ifndef HH_INHERIT_H
#define HH_INHERIT_H

#include "../interpose/head.h"
#include "stream.h"

struct hh_inheritance;

/* In a child of fork(): what the thread may still write, if a handler forked,
 * does not come into the parent's log.  Aside, quick, of a thread that was not
 * in the middle of an event; else part.  False: no memory. */
void hh_inherit_aside(void);
bool hh_inherit_part(void);

/* Note how far each thread of the parent had come, and let go of its log.
 * The streams are as they were.  NULL: no memory. */
struct hh_inheritance *hh_inherit_take(void);

const struct hh_head_origin *hh_inherit_origin(
    const struct hh_inheritance *from);

/* Into the child's log, by its first stream; FROM is gone after it. */
void hh_inherit_put(struct hh_inheritance *from, struct hh_stream *s);

#endif
