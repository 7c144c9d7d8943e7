/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler wrote about a frame: how to come to its caller.
 *
 * The .eh_frame of the object is read in place, as DWARF 4, 6.4, and the
 * Linux Standard Base describe it, and no further than is needed to step
 * over a frame: stack pointer, frame pointer, return address.  No lock, no
 * memory, no system call: any thread may ask at any moment. */
#ifndef HH_CFI_H
#define HH_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum hh_cfa {
	HH_CFA_END,		/* nobody called this, or we cannot tell who */
	HH_CFA_UNTOLD,		/* there is no table: generated code, maybe */
	HH_CFA_SP,		/* the caller's stack begins at sp + offset */
	HH_CFA_FP,		/* at fp + offset */
	HH_CFA_AT_FP,		/* at the address that is kept at fp + offset */
	HH_CFA_SIGNAL,		/* the kernel made the frame */
};

enum hh_kept {
	HH_KEPT_SAME,		/* the frame pointer is the caller's still */
	HH_KEPT_CFA,		/* it is kept at where that stack begins + .. */
	HH_KEPT_FP,		/* at fp + .. */
};

/* One word, so that it can be stored and fetched as one. */
struct hh_rule {
	uint64_t cfa : 3;	/* enum hh_cfa */
	uint64_t kept : 2;	/* enum hh_kept */
	int64_t cfa_offset : 27;
	int64_t fp_words : 16;	/* offsets in words */
	int64_t ra_words : 16;
};

/* That of the instruction at PC, in an object whose .eh_frame_hdr is HDR;
 * NULL: it has none. */
struct hh_rule hh_cfi_find(const void *hdr, uintptr_t pc);

#endif
