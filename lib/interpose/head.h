/* SPDX-License-Identifier: Apache-2.0 */
/* What the header of a log says of its process. */
#ifndef HH_HEAD_H
#define HH_HEAD_H

#include <stdint.h>

#include "entry.h"
#include "name.h"
#include "../log/format.h"

/* The header of this process's log; NULL while there is none. */
extern HH_OWN struct log_head *hh_head;

/* Whose child this is: of the nearest ancestor with a log. pid 0: nobody's. */
struct hh_head_origin {
	const char *path;
	int32_t pid;
	uint64_t process_start;
};

/* Look at the process anew; what the name of its log is made of. */
const struct hh_name_facts *hh_head_facts(void);

/* Fill a new header and make it the process's.  After hh_head_facts(). */
void hh_head_begin(struct log_head *head, enum log_mode mode, uint32_t rule,
    const struct hh_head_origin *origin);

/* Note the time now, so that a reader knows how fast the ticks go.  It
 * takes a system call. */
void hh_head_touch(void);

/* The same by the ticks alone: as well as their speed is known. */
void hh_head_touch_at(uint64_t ticks);

void hh_head_mark(const char *label);
void hh_head_set_state(enum log_state state, int status);

#endif
