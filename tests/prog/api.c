/* SPDX-License-Identifier: Apache-2.0 */
/* api [pool]: the public functions, as C or C++: says "nothing" when nothing
 * is preloaded, and checks what it is told otherwise. */
#include <heaphook.h>
#include <stdlib.h>

#include "say.h"

static void *kept[8];
static volatile size_t too_much = (size_t)-1 / 2;

static void
allocate(int n, size_t size)
{
	for (int i = 0; i < n; i++)
		MUST((kept[i] = malloc(size)));
}

int
main(int argc, char **argv)
{
	struct heaphook_stats before, after, part;

	(void)argv;
	memset(&part, 1, sizeof(part));
	before = part;
	heaphook_mark("first phase");
	if (heaphook_get_stats(&before, sizeof(before))) {
		heaphook_pause();
		heaphook_resume();
		say("nothing\n");
		return 0;
	}
	allocate(3, 1000);
	free(kept[0]);
	MUST(!heaphook_get_stats(&after, sizeof(after)));
	MUST(after.allocations - before.allocations == 3);
	MUST(after.frees - before.frees == 1);
	MUST(after.live_bytes - before.live_bytes >= 2000);
	MUST(after.peak_bytes >= after.live_bytes);
	MUST(after.failed == before.failed);
	MUST(!after.pool_bytes == (argc < 2));
	MUST(after.pool_bytes >= after.pool_used_bytes
	    + after.pool_largest_free_bytes);
	MUST(!malloc(too_much));
	MUST(!heaphook_get_stats(&before, sizeof(before)));
	MUST(before.failed == after.failed + 1);

	heaphook_mark("second phase");
	heaphook_mark(NULL);
	heaphook_pause();
	allocate(5, 100);
	MUST(!heaphook_get_stats(&after, sizeof(after)));
	MUST(after.allocations - before.allocations == 5);
	heaphook_resume();
	free(kept[0]);
	allocate(1, 3000);
	MUST(!heaphook_get_stats(&part, 2 * sizeof(uint64_t)));
	MUST(part.allocations == after.allocations + 1);
	MUST(part.frees == after.frees + 1 && part.failed & 1);
	say("marks=first phase,second phase, live_bytes=5000\n");
	return 0;
}
