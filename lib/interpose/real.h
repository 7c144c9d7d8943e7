/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that ours stand before: the next ones in the loader's order.
 * One list declares them, looks them up and stands in for them meanwhile. */
#ifndef HH_REAL_H
#define HH_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend.h"
#include "entry.h"

/* X(result, name, parameters, arguments); free, which has no result, is not
 * among them. */
#define HH_REAL_CALLS(X) \
	X(void *, malloc, (size_t a), (a)) \
	X(void *, calloc, (size_t a, size_t b), (a, b)) \
	X(void *, realloc, (void *a, size_t b), (a, b)) \
	X(void *, aligned_alloc, (size_t a, size_t b), (a, b)) \
	X(void *, memalign, (size_t a, size_t b), (a, b)) \
	X(void *, valloc, (size_t a), (a)) \
	X(void *, pvalloc, (size_t a), (a)) \
	X(int, posix_memalign, (void **a, size_t b, size_t c), (a, b, c))
#define HH_REAL_HEAP(X) \
	HH_REAL_CALLS(X) \
	X(size_t, malloc_usable_size, (void *a), (a))

/* X(int, name, parameters, arguments): after these a process may not make the
 * files that it could before, or they would lie elsewhere. */
#define HH_REAL_LEAVES(X) \
	X(int, chroot, (const char *a), (a)) \
	X(int, setuid, (uid_t a), (a)) \
	X(int, seteuid, (uid_t a), (a)) \
	X(int, setreuid, (uid_t a, uid_t b), (a, b)) \
	X(int, setresuid, (uid_t a, uid_t b, uid_t c), (a, b, c)) \
	X(int, setgid, (gid_t a), (a)) \
	X(int, setegid, (gid_t a), (a)) \
	X(int, setregid, (gid_t a, gid_t b), (a, b)) \
	X(int, setresgid, (gid_t a, gid_t b, gid_t c), (a, b, c))

/* X(result, name, parameters) */
#define HH_REAL_REST(X) \
	X(void, _exit, (int)) \
	X(void, _Exit, (int)) \
	X(void, quick_exit, (int)) \
	X(int, daemon, (int, int)) \
	X(int, fork, (void)) \
	X(int, _Fork, (void)) \
	HH_REAL_LEAVES(X) \
	X(int, execve, (const char *, char *const *, char *const *)) \
	X(int, execv, (const char *, char *const *)) \
	X(int, execvp, (const char *, char *const *)) \
	X(int, execvpe, (const char *, char *const *, char *const *)) \
	X(int, fexecve, (int, char *const *, char *const *)) \
	X(int, execveat, \
	    (int, const char *, char *const *, char *const *, int)) \
	X(int, pthread_create, \
	    (void *, const void *, void *(*)(void *), void *)) \
	X(int, pthread_setname_np, (unsigned long, const char *)) \
	X(int, prctl, (int, ...)) \
	X(void *, dlopen, (const char *, int)) \
	X(int, dlclose, (void *)) \
	X(int, close, (int)) \
	X(int, close_range, (unsigned, unsigned, int)) \
	X(int, dup2, (int, int)) \
	X(int, dup3, (int, int, int)) \
	X(long, syscall, (long, long, long, long, long, long)) \
	X(void *, mmap, (void *, size_t, int, int, int, off_t)) \
	X(void *, mmap64, (void *, size_t, int, int, int, off_t)) \
	X(int, munmap, (void *, size_t)) \
	X(void *, mremap, (void *, size_t, size_t, int, ...)) \
	X(int, brk, (void *)) \
	X(void *, sbrk, (intptr_t))

#define HH_REAL_POINTER(result, name, parameters, ...) \
	result (*name) parameters;

/* Those of the heap can be called from the first moment.  The rest are NULL
 * before hh_real_find(), and after it where the libc has none. */
struct hh_real {
	HH_REAL_HEAP(HH_REAL_POINTER)
	void (*free)(void *);
	HH_REAL_REST(HH_REAL_POINTER)
};

extern HH_OWN struct hh_real hh_real;

/* Who else answers to the name malloc. */
struct hh_real_order {
	bool next_is_libc;	/* the next malloc is glibc's */
	bool program_first;	/* the program itself defines it */
	bool other_first;	/* a library before us does */
	char who[256];		/* its file, or "" */
};

extern HH_OWN struct hh_real_order hh_real_order;

/* Whether AT lies in this library. */
bool hh_real_is_ours(const void *at);

/* Whether the other of our two libraries is loaded, too.  It may allocate:
 * while the caller starts. */
bool hh_real_has_peer(void);

/* What is found first of all, or behind us.  NULL when there is none, which is
 * no error of the program's: nothing is left for its dlerror(3).  Calls dlsym,
 * so not from a signal handler. */
enum hh_scope { HH_ANY, HH_NEXT };
void *hh_real_symbol(enum hh_scope scope, const char *name);

/* Look all up, once.  With the first call that needs one at the latest: a
 * second thread, a forked child's and a dlopen come after a call of malloc,
 * and there the loader's lock could be taken for ever. */
void hh_real_find(void);

/* Whichever of the aligned functions CALL is; as hh_backend_memalign(). */
void *hh_real_memalign(enum hh_call call, size_t align, size_t size,
    int *error);

#endif
