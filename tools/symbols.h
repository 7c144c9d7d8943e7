/* SPDX-License-Identifier: Apache-2.0 */
/* From an address in a program or library to the function and line that
 * people wrote.  Built without libdw every answer is "unknown". */
#ifndef TOOLS_SYMBOLS_H
#define TOOLS_SYMBOLS_H

#include <stdint.h>

struct symbols;

/* As the log has it: where it was, and which build it was.  A PATH that is
 * NULL, empty or "[vdso]" is known to be no file. */
struct symbols_object {
	const char *path;
	const unsigned char *build_id;
	unsigned build_id_bytes;	/* 0: it has none, but maybe an */
	uint64_t imprint;		/* of log/imprint.h; 0: unknown */
};

/* NULL and 0: unknown.  Strings live until symbols_close. */
struct symbols_frame {
	const char *function, *file;
	unsigned line;
};

/* DEBUG_PATHS, up to a NULL, are more folders where debug files and copies
 * of objects may be.  Only this machine is asked, so DEBUGINFOD_URLS leaves
 * the environment. */
struct symbols *symbols_open(const char *const *debug_paths);
void symbols_close(struct symbols *s);

/* ADDRESS counts from the object's load bias; after a call it is that of
 * the return, minus 1.  The innermost inlined function comes first, the one
 * that was not inlined last; of more than MOST, the outermost are left out.
 * Returns how many, from 1 to MOST. */
unsigned symbols_find(struct symbols *s, const struct symbols_object *object,
    uint64_t address, struct symbols_frame *frames, unsigned most);

/* Why names or lines of OBJECT are missing, to be put after its path; NULL
 * when it has both. */
const char *symbols_complaint(struct symbols *s,
    const struct symbols_object *object);

/* A .dwo file that is missing and has functions of OBJECT that were asked
 * for, so that inlined ones are not known, and how many MORE such there are;
 * NULL: none. */
const char *symbols_missed(struct symbols *s,
    const struct symbols_object *object, unsigned *more);

/* The files that answer for OBJECT: to take them elsewhere, FILE goes to
 * .build-id/ab/cdef and DEBUG to .build-id/ab/cdef.debug below a folder that
 * is a debug path there.  NULL: none. */
void symbols_files(struct symbols *s, const struct symbols_object *object,
    const char **file, const char **debug);

/* The file with what their debug information shares with that of others, as
 * dwz makes it.  It goes to a .debug of its own build id, which is the ID of
 * BYTES; those live until symbols_close.  NULL: none. */
const char *symbols_shared(struct symbols *s,
    const struct symbols_object *object, const unsigned char **id,
    unsigned *bytes);

#endif
