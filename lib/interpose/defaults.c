/* SPDX-License-Identifier: Apache-2.0 */
/* What a back end need not define: most care for nothing but blocks. */
#include "backend.h"

#define WEAK __attribute__((weak))

WEAK void
hh_backend_start(void)
{
}

WEAK void
hh_backend_exit(int status)
{
	(void)status;
}

WEAK void
hh_backend_exec(void)
{
}

WEAK void
hh_backend_exec_failed(void)
{
}

WEAK bool
hh_backend_seal(bool filter)
{
	(void)filter;
	return false;
}

WEAK void
hh_backend_seal_failed(bool filter)
{
	(void)filter;
}

WEAK void
hh_backend_thread_named(unsigned long thread, const char *name)
{
	(void)thread;
	(void)name;
}

WEAK int
hh_backend_hidden(int fds[HH_HIDDEN])
{
	(void)fds;
	return 0;
}

WEAK bool
hh_backend_move_descriptor(int fd)
{
	(void)fd;
	return false;
}
