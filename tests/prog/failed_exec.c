/* SPDX-License-Identifier: Apache-2.0 */
/* Children of vfork whose exec fails, and an exec of the process itself
 * that fails: all goes on in the same record. */
#include <stdlib.h>
#include <sys/wait.h>

#include "say.h"

static pid_t
try_in_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/no/such/file", "x", (char *)NULL);
		_exit(44);
	}
	return pid;
}

int
main(void)
{
	for (int i = 0; i < 25; i++) {
		int status;

		MUST(wait(&status) == -1);
		MUST(try_in_vfork() == wait(&status));
		MUST(WEXITSTATUS(status) == 44);
		free(malloc(100));
	}
	MUST(execl("/no/such/file", "x", (char *)NULL) == -1);
	MUST(malloc(100));
	say("allocations=26 frees=25 live_bytes=100\n");
	return 0;
}
