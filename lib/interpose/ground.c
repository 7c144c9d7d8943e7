/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change what both libraries stand on: descriptors, and the right
 * to make system calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend.h"
#include "entry.h"
#include "real.h"
#include "sys.h"

/* A filter may make any system call deadly; it is about to be set, or the
 * right to set one is being given up, which comes before. */
static bool
seals(int option)
{
	return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;
}

/* Where syscall() is not ours a filter may be set unseen, after that. */
static bool
filters(int option)
{
#ifdef __x86_64__
	return option == PR_SET_SECCOMP;
#else
	return seals(option);
#endif
}

static _Atomic int sealed;

static bool
seal(bool filter)
{
	bool ours = hh_backend_seal(filter);

	sealed += ours;
	return ours;
}

static void
seal_failed(bool filter)
{
	int kept = errno;

	sealed--;
	hh_backend_seal_failed(filter);
	errno = kept;
}

HH_EXPORT int
prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;
	bool sealing;
	int result;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	hh_real_find();
	sealing = seals(option) && seal(filters(option));
	result = hh_real.prctl(option, a[0], a[1], a[2], a[3]);
	if (sealing && result != 0)
		seal_failed(filters(option));
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

static int
bad(void)
{
	errno = EBADF;
	return -1;
}

HH_EXPORT int
close(int fd)
{
	hh_real_find();
	return is_hidden(fd) ? bad() : hh_real.close(fd);
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
	if (first > last)
		return hh_real.close_range(first, last, flags);
	for (int i = 0; i < count && result == 0; i++) {
		unsigned ours = (unsigned)fds[i];

		if (ours < first || ours > last)
			continue;
		if (ours > first)
			result = hh_real.close_range(first, ours - 1, flags);
		first = ours + 1;
	}
	if (result != 0)
		return result;
	/* Of a range that was ours only, at least the flags are looked at. */
	return first <= last ? hh_real.close_range(first, last, flags)
	    : hh_real.close_range(~0u, ~0u, flags);
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

/* The program wants TO: whether that was ours. */
static bool
make_way(int to)
{
	return is_hidden(to) && hh_backend_move_descriptor(to);
}

/* It was, and the program did not get it: nobody has it.  A standard error that
 * it made for itself is where our lines go from now on. */
static int
settle(int result, int to, bool ours)
{
	if (ours && result < 0)
		hh_sys_close(to);
	if (result == STDERR_FILENO && !sealed)
		hh_sys_remember_stderr(false);
	return result;
}

HH_EXPORT int
dup2(int from, int to)
{
	bool none = is_hidden(from), ours = !none && make_way(to);

	hh_real_find();
	return settle(none ? bad() : hh_real.dup2(from, to), to, ours);
}

HH_EXPORT int
dup3(int from, int to, int flags)
{
	/* To itself is another error, and looked at first. */
	bool none = from != to && is_hidden(from);
	bool ours = !none && make_way(to);

	hh_real_find();
	return settle(none ? bad() : hh_real.dup3(from, to, flags), to, ours);
}

/* Our own calls must go another way, and all but the last argument be in
 * registers. */
#if defined __x86_64__

static long
seccomp(long operation, long flags, long arguments)
{
	bool filter = operation == SECCOMP_SET_MODE_STRICT
	    || operation == SECCOMP_SET_MODE_FILTER;
	bool sealing = filter && seal(true);
	long result;

	result = hh_real.syscall(SYS_seccomp, operation, flags, arguments,
	    0L, 0L);
	if (sealing && result < 0)
		seal_failed(true);
	return result;
}

/* Not as <unistd.h> has it.  This must end in a jump: some calls come back
 * twice, or on another stack; and the last argument, which is not named here,
 * stays where it is. */
HH_EXPORT long hh_ground_call(long number, long a, long b, long c, long d,
    long e) __asm__("syscall");

/* By number, what has a name above or elsewhere. */
__attribute__((optimize("O2", "optimize-sibling-calls"))) HH_EXPORT long
hh_ground_call(long number, long a, long b, long c, long d, long e)
{
	hh_real_find();
	switch (number) {
	case SYS_close:
		return close((int)a);
#ifdef SYS_close_range
	case SYS_close_range:
		return close_range((unsigned)a, (unsigned)b, (int)c);
#endif
#ifdef SYS_dup2
	case SYS_dup2:
		return dup2((int)a, (int)b);
#endif
	case SYS_dup3:
		return dup3((int)a, (int)b, (int)c);
	case SYS_prctl:
		return prctl((int)a, b, c, d, e);
	case SYS_seccomp:
		return seccomp(a, b, c);
	}
	return hh_real.syscall(number, a, b, c, d, e);
}

#endif
