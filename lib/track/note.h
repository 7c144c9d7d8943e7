/* SPDX-License-Identifier: Apache-2.0 */
/* The slow path: events that have no short form, and all those that find
 * their stream without room, whatever the reason. */
#ifndef HH_NOTE_H
#define HH_NOTE_H

#include <stddef.h>

#include "../log/codec.h"

/* Also of realloc when there was no block yet. ALIGN 0: the usual. */
void hh_note_alloc(enum log_call call, const void *block, size_t size,
    size_t usable, size_t align);

/* Of malloc and calloc, with the stack that was captured before. */
struct hh_stack;
void hh_note_stacked(struct hh_stack *stack, enum log_call call,
    const void *block, size_t size);

/* False: it is not recorded, only counted. */
bool hh_note_free(const void *block, size_t usable);

/* How long the thread's last call took, which is the event before this: where
 * events come before their calls.  Those that come after tell it themselves. */
void hh_note_took(void);

void hh_note_failed(enum log_call call, size_t size);

/* A whole realloc, when no other thread can come between. */
void hh_note_realloc(const void *old, size_t old_usable, const void *block,
    size_t size, size_t usable);

/* Its two halves, when one can.  A failed one ends by hh_note_failed(). */
void hh_note_resize(const void *old);
void hh_note_resized(size_t old_usable, const void *block, size_t size,
    size_t usable);

/* The same where only some blocks are recorded.  What it counts comes with
 * the second; a failed one takes the first back.  False: it was not. */
bool hh_note_gone(const void *old);
void hh_note_moved(enum log_call call, const void *block, size_t size,
    size_t usable, size_t old_usable);
void hh_note_back(enum log_call call, const void *old, size_t usable);

void hh_note_mark(const char *label);
void hh_note_pause(bool paused);
void hh_note_thread_name(unsigned long thread, const char *name);
void hh_note_mapped(enum log_call call, const void *at, size_t bytes,
    const void *old, size_t old_bytes);

#endif
