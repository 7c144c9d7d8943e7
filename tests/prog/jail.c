/* SPDX-License-Identifier: Apache-2.0 */
/* jail DIRECTORY: chroot, another user, and then the bulk of the work. */
#include <grp.h>
#include <stdlib.h>

#include "say.h"

enum { PAIRS = 200000 };

int
main(int argc, char **argv)
{
	MUST(argc == 2);
	MUST(!chroot(argv[1]) && !chdir("/"));
	MUST(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
	for (int i = 0; i < PAIRS; i++)
		free(malloc(100));
	say("allocations=%d frees=%d\n", PAIRS, PAIRS);
	return 0;
}
