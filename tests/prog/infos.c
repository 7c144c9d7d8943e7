/* SPDX-License-Identifier: Apache-2.0 */
/* What glibc's own questions about the heap are answered. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "say.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int
main(void)
{
	char *block = malloc(1 << 20);
	struct mallinfo before = mallinfo(), after;

	MUST(block);
	free(block);
	after = mallinfo();
	say("arena %d\n", after.arena);
	say("used and free are all: %s\n",
	    after.uordblks + after.fordblks == after.arena ? "yes" : "no");
	say("a MiB less: %s\n", before.uordblks + before.hblkhd
	    - after.uordblks - after.hblkhd >= 1 << 20 ? "yes" : "no");
#if __GLIBC_PREREQ(2, 33)
	MUST(mallinfo2().arena == (size_t)after.arena);
	MUST(mallinfo2().uordblks == (size_t)after.uordblks);
#endif
	say("trim %d\n", malloc_trim(0));
	say("mallopt %d %d\n", mallopt(M_MMAP_THRESHOLD, 1 << 20),
	    mallopt(M_TRIM_THRESHOLD, -1));
	MUST(malloc_info(1, stdout) == EINVAL);
	MUST(malloc_info(0, stdout) == 0);
	malloc_stats();
	return 0;
}
