/* SPDX-License-Identifier: Apache-2.0 */
/* again N: holds 1 MiB and becomes itself N times more, in the same pid. */
#include <stdlib.h>

#include "say.h"

int
main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 0;
	char next[16];
	char *block = malloc(1 << 20);

	MUST(block);
	block[0] = 1;
	if (!left)
		return 0;
	snprintf(next, sizeof(next), "%d", left - 1);
	execl("/proc/self/exe", argv[0], next, NULL);
	return 1;
}
