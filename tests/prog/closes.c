/* SPDX-License-Identifier: Apache-2.0 */
/* closes HOW: a daemon closes every descriptor, opens files of its own under
 * the numbers that became free, and goes on allocating.  Nothing but what it
 * writes may be in them. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "say.h"

enum { FILES = 64, PAIRS = 200000 };

static void
close_all(const char *how)
{
	struct rlimit most;

	getrlimit(RLIMIT_NOFILE, &most);
	if (!strcmp(how, "loop"))
		for (rlim_t fd = 3; fd < most.rlim_cur; fd++)
			close((int)fd);
	if (!strcmp(how, "closefrom"))
		closefrom(3);
	if (!strcmp(how, "close_range"))
		MUST(!close_range(3, ~0U, 0));
	if (!strcmp(how, "syscall"))
		MUST(!syscall(SYS_close_range, 3, ~0U, 0));
}

int
main(int argc, char **argv)
{
	int fd[FILES];
	struct stat s;

	MUST(argc == 2);
	free(malloc(100));
	close_all(argv[1]);
	for (int i = 0; i < FILES; i++)
		fd[i] = open(".", O_TMPFILE | O_RDWR, 0600);
	MUST(fd[0] == 3 && fd[FILES - 1] == FILES + 2);
	for (int i = 1; i < PAIRS; i++)
		free(malloc(100));
	MUST(write(fd[0], "mine\n", 5) == 5);
	for (int i = 0; i < FILES; i++)
		MUST(!fstat(fd[i], &s) && s.st_size == (i ? 0 : 5));
	say("allocations=%d frees=%d\n", PAIRS, PAIRS);
	return 0;
}
