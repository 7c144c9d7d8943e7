/* SPDX-License-Identifier: Apache-2.0 */
/* What the library shows to the program; all else is hidden. */
#ifndef HH_ENTRY_H
#define HH_ENTRY_H

#define HH_EXPORT __attribute__((visibility("default")))

#endif
