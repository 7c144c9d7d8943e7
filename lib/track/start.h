/* SPDX-License-Identifier: Apache-2.0 */
/* How a process comes under watch, a forked child's log included. */
#ifndef HH_START_H
#define HH_START_H

#include <stdbool.h>
#include <stdint.h>

#include "../interpose/head.h"

/* This image and its children are left alone. */
extern bool hh_off;

/* False in an image that is none of our business: hh_off, too. */
bool hh_start_wanted(void);

/* Read the variables, create the log, make its header.  False: hh_off. */
bool hh_start(const struct hh_head_origin *origin);

/* One line on stderr, if HEAPHOOK_SUMMARY asks for it. */
void hh_start_summary(void);

#endif
