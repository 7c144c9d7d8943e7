/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process, as its log introduces them. */
#ifndef TOOLS_THREADS_H
#define TOOLS_THREADS_H

#include <stddef.h>
#include <stdint.h>

enum { THREAD_NAME_BYTES = 16 };	/* with the NUL */

struct thread {
	int32_t tid;
	uint64_t self;			/* its pthread_t; may be given again */
	char name[THREAD_NAME_BYTES];
	char said[THREAD_NAME_BYTES];	/* when it was last introduced */
};

/* Numbers of threads, by hash; UINT32_MAX is an empty place. */
struct threads_index {
	uint32_t *places;
	size_t mask;
};

struct threads {
	struct thread *list;
	size_t count, room;
	struct threads_index by_both, by_self;
};

void threads_init(struct threads *t);
void threads_free(struct threads *t);

/* The number, in the list, of the thread that is introduced so; it may have
 * been before.  NAME is of at most BYTES bytes, up to its NUL. */
uint32_t threads_meet(struct threads *t, int32_t tid, uint64_t self,
    const char *name, size_t bytes);

/* SELF is called NAME from now on. */
void threads_rename(struct threads *t, uint64_t self, const char *name,
    size_t bytes);

#endif
