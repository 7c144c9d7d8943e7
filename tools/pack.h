/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a bundle, as bundle.h says what that is. */
#ifndef TOOLS_PACK_H
#define TOOLS_PACK_H

/* LOGS, up to a NULL, their parents and the objects that their stacks need
 * into a new file PATH; NULL: named after the first log.  DEBUG_PATHS as
 * symbols_open has them.  Says what goes wrong.  Returns 0, or the status for
 * the tool: PACK_FAILED when there is no bundle because it could not be
 * written, PACK_UNUSABLE when a log is not in it. */
enum { PACK_FAILED = 2, PACK_UNUSABLE = 3 };
int pack_logs(const char *path, char *const *logs,
    const char *const *debug_paths);

#endif
