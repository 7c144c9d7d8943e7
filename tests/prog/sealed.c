/* SPDX-License-Identifier: Apache-2.0 */
/* sealed strict|filter|refused PAIRS: a sandbox in which any system call but
 * read, write and exit kills; or none, for it was asked for in vain. */
#include <errno.h>
#include <stdlib.h>

#include "sandbox.h"

static void
seal(const char *how)
{
	if (!strcmp(how, "filter"))
		sandbox(0);
	else if (!strcmp(how, "strict"))
		MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
	else
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0) == -1
		    && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 0)
		    == -1 && errno == EFAULT);
}

int
main(int argc, char **argv)
{
	int pairs = argc == 3 ? atoi(argv[2]) : 0;

	free(malloc(100));
	seal(argv[1]);
	for (int i = 1; i < pairs; i++)
		free(malloc(100));
	say("allocations=%d frees=%d\n", pairs, pairs);
	syscall(SYS_exit, 7);
	return 0;
}
