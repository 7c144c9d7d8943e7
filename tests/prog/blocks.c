/* SPDX-License-Identifier: Apache-2.0 */
/* blocks PAIRS LIVE SIZE [HOW]: so many malloc and free, then LIVE blocks
 * that stay, all of SIZE bytes. */
#include <stdlib.h>

#include "end.h"
#include "say.h"

int
main(int argc, char **argv)
{
	size_t pairs = strtoul(argv[1], NULL, 10);
	size_t live = strtoul(argv[2], NULL, 10);
	size_t size = strtoul(argv[3], NULL, 10);

	for (size_t i = 0; i < pairs; i++)
		free(malloc(size));
	for (size_t i = 0; i < live; i++)
		MUST(malloc(size));
	say("allocations=%zu frees=%zu live_blocks=%zu live_bytes=%zu\n",
	    pairs + live, pairs, live, live * size);
	if (argc > 4)
		end(argv[4]);
	return 7;
}
