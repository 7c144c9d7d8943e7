/* SPDX-License-Identifier: Apache-2.0 */
/* exhausts SIZE TIMES: fills the pool to the last block, then asks for SIZE
 * more, so often; says what came, and what the pool then is. */
#include <errno.h>
#include <stdlib.h>

#include <heaphook.h>

#include "say.h"

static struct heaphook_stats
stats(void)
{
	struct heaphook_stats s;

	MUST(heaphook_get_stats(&s, sizeof s) == 0);
	return s;
}

/* Half of the largest is there for sure, whatever it is rounded up to. */
static void
fill(void)
{
	uint64_t largest = stats().pool_largest_free_bytes;

	for (; largest >= 24; largest = stats().pool_largest_free_bytes)
		MUST(malloc(largest > 100 ? largest / 2 : 1));
}

int
main(int argc, char **argv)
{
	size_t size = strtoul(argv[1], NULL, 10);
	int times = atoi(argv[2]);

	MUST(argc == 3);
	free(malloc(1));
	for (; times; times--) {
		char *block;

		fill();
		errno = 0;
		block = malloc(size);
		if (block)
			memset(block, 1, size);
		say(block ? "block\n" : "NULL %s\n", errno == ENOMEM
		    ? "ENOMEM" : "");
	}
	say("pool %llu, growths %llu, failed %llu\n",
	    (unsigned long long)stats().pool_bytes,
	    (unsigned long long)stats().pool_growths,
	    (unsigned long long)stats().failed);
	return 0;
}
