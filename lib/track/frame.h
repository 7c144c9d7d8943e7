/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for stacks.
 *
 * A stack is named by its innermost frame, a frame by its caller's number
 * and the address it returns to: so each distinct one is in the log once.
 * The table is everybody's and takes no lock: a frame is in the log before
 * its number is seen by others, and one that two threads find new at once
 * has two numbers. */
#ifndef HH_FRAME_H
#define HH_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "stream.h"

/* That of the stack PCS, innermost first, if it was met lately; else 0. */
uint32_t hh_frame_find(const uintptr_t *pcs, unsigned count);

/* The same, whatever it takes: what is new goes into S, which has been taken.
 * 0: there is no room for it any more. */
uint32_t hh_frame_number(struct hh_stream *s, const uintptr_t *pcs,
    unsigned count);

/* What lies there will be other code. */
void hh_frame_forget_range(uintptr_t start, uintptr_t end);

/* A forked child's log has no frames. */
void hh_frame_forget(void);

#endif
