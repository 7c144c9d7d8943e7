/* SPDX-License-Identifier: Apache-2.0 */
/* What a program can say to heaphook, and ask it.
 *
 * Nothing needs to be linked: each function looks for a heaphook library in
 * the process, once, and does nothing when there is none.  (Before glibc
 * 2.34 link with -ldl, or they never find one.)  All are async-signal-safe
 * after their first call, and usable in a child of any fork. */
#ifndef HEAPHOOK_H
#define HEAPHOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heaphook_stats {
	uint64_t allocations;	/* that succeeded; a realloc counts as one */
	uint64_t frees;		/* and as one of these */
	uint64_t failed;
	uint64_t live_bytes;	/* usable bytes, as the next two */
	uint64_t peak_bytes;
	uint64_t pool_bytes;	/* 0 without a TLSF pool, as the rest */
	uint64_t pool_used_bytes;
	uint64_t pool_largest_free_bytes;
	uint64_t pool_growths;
};

#ifndef HEAPHOOK_IMPLEMENTATION

/* A library that is linked in, or NULL; and the lookup where libc has it.
 * Both by other names, so that the program's own declarations do not clash. */
extern int heaphook_linked_get_stats_(struct heaphook_stats *, size_t)
    __asm__("heaphook_get_stats") __attribute__((weak));
extern void heaphook_linked_mark_(const char *)
    __asm__("heaphook_mark") __attribute__((weak));
extern void heaphook_linked_pause_(void)
    __asm__("heaphook_pause") __attribute__((weak));
extern void heaphook_linked_resume_(void)
    __asm__("heaphook_resume") __attribute__((weak));
extern void *heaphook_dlsym_(void *, const char *)
    __asm__("dlsym") __attribute__((weak));

/* *KEPT is the function NAME, or stays NULL; *KNOWN says that we looked. */
static inline void *
heaphook_find_(void **kept, int *known, const char *name)
{
	void *found;

	if (__atomic_load_n(known, __ATOMIC_ACQUIRE))
		return *kept;
	found = heaphook_dlsym_ ? heaphook_dlsym_((void *)0, name) : (void *)0;
	__atomic_store_n(kept, found, __ATOMIC_RELAXED);
	__atomic_store_n(known, 1, __ATOMIC_RELEASE);
	return found;
}

#define HEAPHOOK_FUNCTION_(type, pointer, linked, name) \
	static void *kept_; \
	static int known_; \
	type pointer; \
	void *found_; \
	if (linked) \
		pointer = linked; \
	else { \
		found_ = heaphook_find_(&kept_, &known_, name); \
		__builtin_memcpy(&pointer, &found_, sizeof found_); \
	}

/* The functions below, too, under other names in the object file: else the
 * weak ones above would be they. */
static inline int heaphook_get_stats(struct heaphook_stats *, size_t)
    __asm__("heaphook_get_stats_inline_");
static inline void heaphook_mark(const char *)
    __asm__("heaphook_mark_inline_");
static inline void heaphook_pause(void) __asm__("heaphook_pause_inline_");
static inline void heaphook_resume(void) __asm__("heaphook_resume_inline_");

typedef int (*heaphook_get_stats_type_)(struct heaphook_stats *, size_t);
typedef void (*heaphook_mark_type_)(const char *);
typedef void (*heaphook_void_type_)(void);

/* Fill at most SIZE bytes of *OUT.  0, or -1 when nothing is preloaded. */
static inline int
heaphook_get_stats(struct heaphook_stats *out, size_t size)
{
	HEAPHOOK_FUNCTION_(heaphook_get_stats_type_, call_,
	    heaphook_linked_get_stats_, "heaphook_get_stats")
	return call_ ? call_(out, size) : -1;
}

/* A named instant: a phase of the program begins. */
static inline void
heaphook_mark(const char *label)
{
	HEAPHOOK_FUNCTION_(heaphook_mark_type_, call_,
	    heaphook_linked_mark_, "heaphook_mark")
	if (call_)
		call_(label);
}

/* Process-wide, not nested: from here no new blocks are recorded.  Counters
 * go on, and so do frees of blocks that were recorded. */
static inline void
heaphook_pause(void)
{
	HEAPHOOK_FUNCTION_(heaphook_void_type_, call_,
	    heaphook_linked_pause_, "heaphook_pause")
	if (call_)
		call_();
}

static inline void
heaphook_resume(void)
{
	HEAPHOOK_FUNCTION_(heaphook_void_type_, call_,
	    heaphook_linked_resume_, "heaphook_resume")
	if (call_)
		call_();
}

#undef HEAPHOOK_FUNCTION_

#endif

#ifdef __cplusplus
}
#endif

#endif
