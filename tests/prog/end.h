/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a process ends. */
#ifndef END_H
#define END_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void
end(const char *how)
{
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "segv"))
		kill(getpid(), SIGSEGV);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "exit_group"))	/* unseen by any wrapper */
		syscall(SYS_exit_group, 7);
}

#endif
