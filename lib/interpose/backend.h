/* SPDX-License-Identifier: Apache-2.0 */
/* What a library does behind the functions that it takes over.  Linked, not
 * looked up: each .so defines these once.  None of them may call malloc or
 * use stdio, and errno is left as the program would find it without us.
 * They are called by any thread, in signal handlers, in children of any
 * fork, before the first constructor and after the last destructor.
 *
 * The first six must be defined; heaphook-backend(3) has an example. */
#ifndef HH_BACKEND_H
#define HH_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

/* The same values as in the log. */
enum hh_call {
	HH_MALLOC, HH_CALLOC, HH_REALLOC, HH_REALLOCARRAY, HH_POSIX_MEMALIGN,
	HH_ALIGNED_ALLOC, HH_MEMALIGN, HH_VALLOC, HH_PVALLOC, HH_FREE,
	HH_MMAP, HH_MUNMAP, HH_MREMAP, HH_BRK,
};

/* Sizes as the program gave them: 0, or products that overflow, included.
 * NULL is an answer with errno set.  Blocks are aligned to 16, and those of
 * calloc zeroed. */
void *hh_backend_malloc(size_t size);
void *hh_backend_calloc(size_t count, size_t size);

/* BLOCK may be NULL, SIZE 0: what glibc does then is done. */
void *hh_backend_realloc(enum hh_call call, void *block, size_t size);

/* HH_POSIX_MEMALIGN gets its error in *ERROR and errno untouched, the
 * others set errno.  ALIGN is as given, and 0 for valloc and pvalloc. */
void *hh_backend_memalign(enum hh_call call, size_t align, size_t size,
    int *error);

/* For use in hh_backend_memalign: what glibc makes of the request.  *ALIGN
 * becomes a power of two, 16 at least; *SIZE whole pages for pvalloc.  0, or
 * EINVAL or ENOMEM when it cannot be served. */
int hh_settle_alignment(enum hh_call call, size_t *align, size_t *size);

/* BLOCK is not NULL, but may be another allocator's: of a library that found
 * malloc elsewhere, or from before us. */
void hh_backend_free(void *block);

/* Bytes that the program may use of BLOCK, which is not NULL. */
size_t hh_backend_usable(void *block);

/* The rest may be left out.
 *
 * Once a process image: before the first constructor that we can reach, or
 * with the first call, whichever comes first. */
void hh_backend_start(void);

/* What the process is about to do.  Each may be called from a vfork child,
 * which shares our memory but is not our process. */
void hh_backend_exit(int status);	/* it ends, with this status */
void hh_backend_exec(void);		/* another image takes over ... */
void hh_backend_exec_failed(void);	/* ... or did not */
bool hh_backend_is_within(void);	/* a call of this thread: it forks */
void hh_backend_forked(bool within);	/* ... and we are its child */
void hh_backend_leaving(void);		/* of rights, or of / */
void hh_backend_second_thread(void);	/* one is about to exist */

/* System calls may become deadly; FILTER: and then for children, too.  False:
 * not for us, in a vfork child.  Else they did not, after all, if the call that
 * was about to do that has failed. */
bool hh_backend_seal(bool filter);
void hh_backend_seal_failed(bool filter);

void hh_backend_thread_named(unsigned long thread, const char *name);
void hh_backend_unloading(void);	/* a library may go ... */
void hh_backend_unloaded(void);		/* ... and may be gone */
void hh_backend_mapped(enum hh_call call, const void *at, size_t bytes,
    const void *old, size_t old_bytes);

/* Descriptors that are not the program's, in rising order; how many. */
enum { HH_HIDDEN = 2 };
int hh_backend_hidden(int fds[HH_HIDDEN]);

/* The program wants this very number: ours moves away.  False: it is not ours
 * any more. */
bool hh_backend_move_descriptor(int fd);

#endif
