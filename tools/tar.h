/* SPDX-License-Identifier: Apache-2.0 */
/* The part of POSIX.1-2001 tar archives that a bundle needs: plain files,
 * with a pax header for a long name or a big size. */
#ifndef TOOLS_TAR_H
#define TOOLS_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	TAR_BLOCK = 512,
	TAR_END = 2,		/* empty blocks, at least */
	TAR_PAX_MOST = 1 << 16,	/* bytes; ours are shorter by far */
};

struct tar_member {
	char *name;
	uint64_t at, bytes;	/* where its contents are */
	int64_t changed;	/* since 1970 */
};

/* Its headers; the contents must follow, up to a whole block. */
void tar_put(FILE *to, const struct tar_member *m);

/* Is this the first block of an archive, or of what was one? */
bool tar_is(const unsigned char block[TAR_BLOCK]);

/* Where tar_next is. */
struct tar {
	int fd;
	uint64_t at, bytes;	/* of the archive */
	const char *wrong;	/* NULL: nothing yet */
};

/* The next file into *M, whose name is the caller's to free; others are
 * passed by.  False: there is no other, or something is wrong. */
bool tar_next(struct tar *t, struct tar_member *m);

#endif
