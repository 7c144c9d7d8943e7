/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of which job this process is, from its environment. */
#ifndef HH_LAUNCHER_H
#define HH_LAUNCHER_H

#include <stdint.h>

struct hh_launcher {
	const char *name;	/* "" when there is none */
	const char *job;	/* NULL when unknown */
	int32_t rank;		/* -1 when unknown, as the next two */
	int32_t ranks;
	int32_t local_rank;
};

struct hh_launcher hh_launcher_find(void);

#endif
