/* SPDX-License-Identifier: Apache-2.0 */
/* Every event on a line of its own:
 *
 *     SECONDS TID CALL ADDRESS SIZE USABLE EXTRA
 *
 * seven words, one blank between; "-" is none or unknown.  Sizes of a free
 * are those of its block.  EXTRA is one or more of old=ADDRESS, align=N,
 * failed, unknown, stack=N, caller=N, bias=ADDRESS, build-id=HEX, path=TEXT,
 * name=TEXT, label=TEXT, length=N, with commas between; in a TEXT, what is
 * no letter of ASCII that can be seen, and the backslash, is \xNN.  If the
 * log says how long calls took, that is an eighth word, in ns.  Lines that
 * begin with '#' name the log. */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include <stdio.h>

#include "profile.h"
#include "reader.h"

void dump_log(FILE *to, struct reader *log, const struct profile_part *part,
    void (*progress)(void *, double));

#endif
