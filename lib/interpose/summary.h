/* SPDX-License-Identifier: Apache-2.0 */
/* The line that HEAPHOOK_SUMMARY asks for at exit: even a program that has
 * closed stderr gets it, by a copy that is kept only for this. */
#ifndef HH_SUMMARY_H
#define HH_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

void hh_summary_keep(void);

/* In a forked child: the line is its parent's business. */
void hh_summary_drop(void);

/* False without a copy, or when the program has put something else there. */
bool hh_summary_wanted(void);
void hh_summary_write(const char *line, size_t bytes);

/* The copy's number, -1 for none; and to another one.  False: it is no copy of
 * ours any more. */
int hh_summary_fd(void);
bool hh_summary_move(void);

#endif
