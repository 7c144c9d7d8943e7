/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change what both libraries stand on: descriptors, and the right
 * to make system calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backend.h"
#include "entry.h"
#include "real.h"

/* A filter may make any system call deadly; it is about to be set, or the
 * right to set one is being given up, which comes before. */
static bool
seals(int option)
{
	return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;
}

HH_EXPORT int
prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;
	int result;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	hh_real_find();
	if (seals(option))
		hh_backend_seal();
	result = hh_real.prctl(option, a[0], a[1], a[2], a[3]);
	if (option == PR_SET_NAME && result == 0)
		hh_backend_thread_named(pthread_self(), (const char *)a[0]);
	return result;
}

/* The program closes what it never opened; to it, ours is not there. */
static bool
is_hidden(int fd)
{
	int fds[HH_HIDDEN];
	int count = hh_backend_hidden(fds);

	for (int i = 0; i < count; i++)
		if (fds[i] == fd)
			return true;
	return false;
}

HH_EXPORT int
close(int fd)
{
	hh_real_find();
	if (is_hidden(fd)) {
		errno = EBADF;
		return -1;
	}
	return hh_real.close(fd);
}

/* The range, in the pieces that our descriptors leave of it. */
HH_EXPORT int
close_range(unsigned first, unsigned last, int flags)
{
	int fds[HH_HIDDEN];
	int count = hh_backend_hidden(fds), result = 0;

	hh_real_find();
	if (!hh_real.close_range) {
		errno = ENOSYS;
		return -1;
	}
	for (int i = 0; i < count && result == 0; i++) {
		unsigned ours = (unsigned)fds[i];

		if (ours < first || ours > last)
			continue;
		if (ours > first)
			result = hh_real.close_range(first, ours - 1, flags);
		first = ours + 1;
	}
	if (result == 0 && first <= last)
		result = hh_real.close_range(first, last, flags);
	return result;
}

HH_EXPORT void
closefrom(int first)
{
	hh_real_find();
	if (close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0) == 0)
		return;
	/* A kernel without close_range. */
	for (int fd = first < 0 ? 0 : first; fd < sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
}

HH_EXPORT int
dup2(int from, int to)
{
	hh_real_find();
	if (is_hidden(to))
		hh_backend_move_descriptor(to);
	return hh_real.dup2(from, to);
}

HH_EXPORT int
dup3(int from, int to, int flags)
{
	hh_real_find();
	if (is_hidden(to))
		hh_backend_move_descriptor(to);
	return hh_real.dup3(from, to, flags);
}
