/* SPDX-License-Identifier: Apache-2.0 */
/* Our malloc by a name that nobody can take: "malloc" may be the program's. */
#ifndef HH_ENTRY_H
#define HH_ENTRY_H

#include <stddef.h>

void *hh_entry_malloc(size_t size);

#define HH_EXPORT __attribute__((visibility("default")))

#endif
