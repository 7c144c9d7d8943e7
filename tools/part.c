/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "room.h"

static uint64_t
ticks_at(const struct reader *log, double s)
{
	double ticks = s * reader_ticks_per_s(log)
	    + (double)log->head.h.start.ticks;

	return ticks < 0x1p63 ? (uint64_t)ticks : UINT64_MAX;
}

static bool
is_called(const struct thread *t, const char *pattern)
{
	char tid[16];

	snprintf(tid, sizeof tid, "%d", (int)t->tid);
	return !strcmp(pattern, tid) || !fnmatch(pattern, t->name, 0);
}

/* A thread may get its name late, so all are read before; what is wrong
 * with the log, the next reading finds again. */
static void
choose(struct part *p, struct reader *log, const char *pattern)
{
	static const struct replay_watch nobody = { .until = UINT64_MAX };
	struct problems before = log->problems;
	struct replay r;

	log->problems = (struct problems){ 0 };
	replay_run(&r, log, &nobody);
	problems_free(&log->problems);
	log->problems = before;
	p->count = r.threads.count;
	p->chosen = room_new(p->count, sizeof *p->chosen);
	for (size_t i = 0; i < p->count; i++)
		p->chosen[i] = is_called(r.threads.list + i, pattern);
	replay_free(&r);
}

void
part_find(struct part *p, struct reader *log,
    const struct profile_part *wanted)
{
	*p = (struct part){
		.from = ticks_at(log, wanted->from_s),
		.until = ticks_at(log, wanted->to_s),
	};
	if (wanted->thread)
		choose(p, log, wanted->thread);
}

void
part_free(struct part *p)
{
	free(p->chosen);
}
