/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline in the header of a log: as many points for any run. */
#ifndef HH_TIMELINE_H
#define HH_TIMELINE_H

#include <stdint.h>

/* So many bytes are live now.  Threads that meet here may lose a point's
 * last value to each other, never its order. */
void hh_timeline_note(int64_t live);

#endif
