/* SPDX-License-Identifier: Apache-2.0 */
/* What the library shows to the program; all else is hidden. */
#ifndef HH_ENTRY_H
#define HH_ENTRY_H

#include <stddef.h>

#define HH_EXPORT __attribute__((visibility("default")))

/* A variable of another file of this library: fetched without the table that
 * a foreign one would be found by.  -fvisibility is not for declarations. */
#define HH_OWN __attribute__((visibility("hidden")))

/* A variable that start writes to, or a process that is left out.  It lies
 * where the loader has written already, for each other page costs a process
 * that is left out more than all that we do in it. */
#define HH_NEAR __attribute__((section(".data")))

/* realloc for a back end that has its own. */
void *hh_entry_realloc(void *block, size_t size);

#endif
