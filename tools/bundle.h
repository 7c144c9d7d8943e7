/* SPDX-License-Identifier: Apache-2.0 */
/* Logs and the objects that name their calls, in one file: a tar archive of
 *
 *	logs/NAME			what is to be reported on
 *	parents/NAME			logs that forked children refer to
 *	.build-id/ab/cdef		an object, by its build id
 *	.build-id/ab/cdef.debug		its debug file
 *	no-build-id/PATH		an object that has none, and beside
 *					it its debug file
 *
 * A bundle is read in place, as if it were a folder: BUNDLE/NAME is a file
 * in it.  Nothing is ever written under a name that it holds. */
#ifndef TOOLS_BUNDLE_H
#define TOOLS_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

/* The logs in PATH into *LIST, as BUNDLE/NAME, the last a NULL; all are the
 * caller's.  No bundle: *LIST is NULL.  Returns why PATH, which is one or
 * was, cannot be used; NULL: it can. */
const char *bundle_logs(const char *path, char ***list);

/* Where in its bundle a file is. */
struct bundle_part {
	uint64_t at, bytes;
	int64_t changed;	/* since 1970 */
};

/* PATH is BUNDLE/NAME.  A descriptor of the bundle, the caller's; -1 and
 * errno: there is none. */
int bundle_find(const char *path, struct bundle_part *part);

/* The same as a file of its own, which has no name. */
int bundle_open(const char *path);

#endif
