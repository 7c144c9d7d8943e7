/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of libheaphook-tlsf.so, if it is loaded too.  It has no log of its
 * own then: its figures stand in ours. */
#ifndef HH_POOL_H
#define HH_POOL_H

#include <stdbool.h>

#include "../log/format.h"

/* Once, at start. */
void hh_pool_find(void);

/* Whether it is what we record, so that usable sizes follow its rule. */
bool hh_pool_is_next(void);

/* It keeps its figures at TO from now on; NULL: nowhere. */
void hh_pool_record(struct log_pool *to);

#endif
