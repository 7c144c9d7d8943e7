/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that led here, by the tables that compilers write.
 *
 * It takes no lock, no memory and, but when a stack is first seen to be so
 * deep, no system call.  Any thread may call it at any moment: in signal
 * handlers, under the loader's locks, in a child of any fork. */
#ifndef HH_UNWIND_H
#define HH_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One frame: where it will go on, and where its stack begins; where that of
 * its caller was found, in words from there and one more, 0 if elsewhere.  The
 * address is one beyond what comes next where a signal interrupted, as it is
 * after a call. */
struct hh_frame {
	uintptr_t pc, sp, fp;
	uint32_t pc_at;
	uint32_t fp_at : 31;
	uint32_t by_fp : 1;	/* what the frame pointer was mattered */
};

enum {
	HH_UNWIND_MOST = 128,	/* frames of the program */
	HH_WALK_OURS = 8,	/* and of this library, at most */
	HH_WALK_MOST = HH_UNWIND_MOST + HH_WALK_OURS,
};

struct hh_walk {
	unsigned count;
	bool ends;		/* for itself, and not by a limit */
	struct hh_frame frames[HH_WALK_MOST];
};

/* The last stack of a thread and the one before.  Most of a stack is as it
 * was: that is seen by a look at each return address, where to find the next
 * one takes much longer.  Zeroed at first; a thread's own. */
struct hh_walks {
	bool newest;
	uint32_t epoch;		/* of the code that they led through */
	uint32_t number;	/* the newest one's, or 0; see stack.h */
	struct hh_walk walk[2];
	uintptr_t pcs[HH_UNWIND_MOST];
};

/* False: there is no way to do it on this machine. */
bool hh_unwind_begin(void);

/* Return addresses, innermost first, without frames of this library; how
 * many, at most MOST.  By WALKS, into their pcs, where MOST is always the same
 * number; if this is the very stack that their number is of, that is enough,
 * and 0. */
unsigned hh_unwind(uintptr_t *pcs, unsigned most);
unsigned hh_unwind_again(struct hh_walks *walks, unsigned most);

/* Code is gone, and other code may come to where it was. */
void hh_unwind_forget(void);

#endif
