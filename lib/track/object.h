/* SPDX-License-Identifier: Apache-2.0 */
/* The executable and the libraries that code comes from, and what the log
 * has of them.  All may be called in signal handlers and in any thread. */
#ifndef HH_OBJECT_H
#define HH_OBJECT_H

#include <stdint.h>

#include "stream.h"

/* Look up what is needed for all that follows; once. */
void hh_object_begin(void);

/* The .eh_frame_hdr of the object that PC is in; NULL: there is none. */
const void *hh_object_tables(uintptr_t pc);

/* The log of S is to know the object that PC is in, if it is in any. */
void hh_object_note(struct hh_stream *s, uintptr_t pc);

/* Something may have been unloaded: from then on, what was is no more. */
void hh_object_check(struct hh_stream *s);

/* A forked child's log knows nothing. */
void hh_object_forget(void);

#endif
