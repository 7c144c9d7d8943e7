/* SPDX-License-Identifier: Apache-2.0 */
/* jail DIRECTORY [WHEN]: chroot, another user, and then the bulk of the work.
 * Before or after the first two, all descriptors are closed by number; or a
 * child is forked before, which does the rest. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "say.h"

enum { PAIRS = 200000 };

static void
close_all(void)
{
	MUST(!syscall(SYS_close_range, 3L, ~0L, 0L));
	MUST(syscall(SYS_close, 1000L) == -1);
}

/* A page's last argument comes through: other bytes than the first's. */
static void
last_of_seven(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char bytes[8];
	const char *at = (const char *)syscall(SYS_mmap, 0L, 4096L,
	    (long)PROT_READ, (long)MAP_PRIVATE, (long)fd, 4096L);

	MUST(at != MAP_FAILED && pread(fd, bytes, 8, 4096) == 8);
	MUST(!memcmp(at, bytes, 8) && memcmp(at, "\177ELF", 4));
	close(fd);
}

int
main(int argc, char **argv)
{
	const char *when = argc == 3 ? argv[2] : "";

	MUST(argc >= 2);
	last_of_seven();
	if (!strcmp(when, "before"))
		close_all();
	if (!strcmp(when, "forked")) {
		free(malloc(1));
		if (fork())
			return wait(NULL) < 0;
	}
	MUST(!chroot(argv[1]) && !chdir("/"));
	MUST(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
	if (!strcmp(when, "after"))
		close_all();
	for (int i = 0; i < PAIRS; i++)
		free(malloc(100));
	say("allocations=%d frees=%d\n", PAIRS, PAIRS);
	return 0;
}
