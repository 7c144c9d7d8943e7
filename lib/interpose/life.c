/* SPDX-License-Identifier: Apache-2.0 */
/* How a process ends, or goes on as another. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "entry.h"
#include "real.h"
#include "sys.h"

HH_EXPORT void
_exit(int status)
{
	hh_real_find();
	hh_backend_exit(status & 0xff);
	if (hh_real._exit)
		hh_real._exit(status);
	hh_sys_exit_group(status);
}

HH_EXPORT void
_Exit(int status)
{
	_exit(status);
}

HH_EXPORT void
quick_exit(int status)
{
	hh_real_find();
	hh_backend_exit(status & 0xff);
	hh_real.quick_exit(status);
	hh_sys_exit_group(status);
}

/* The call came back: there is no other image, or this is the child. */
static int
came_back(int result)
{
	int kept = errno;

	hh_backend_exec_failed();
	errno = kept;
	return result;
}

/* The parent ends in the midst of it, by a call of libc's own. */
HH_EXPORT int
daemon(int keep_folder, int keep_output)
{
	hh_real_find();
	hh_backend_exit(0);
	return came_back(hh_real.daemon(keep_folder, keep_output));
}

static void
exec_begins(void)
{
	hh_real_find();
	hh_backend_exec();
}

HH_EXPORT int
execve(const char *path, char *const argv[], char *const envp[])
{
	exec_begins();
	return came_back(hh_real.execve(path, argv, envp));
}

HH_EXPORT int
execv(const char *path, char *const argv[])
{
	exec_begins();
	return came_back(hh_real.execv(path, argv));
}

HH_EXPORT int
execvp(const char *file, char *const argv[])
{
	exec_begins();
	return came_back(hh_real.execvp(file, argv));
}

HH_EXPORT int
execvpe(const char *file, char *const argv[], char *const envp[])
{
	exec_begins();
	return came_back(hh_real.execvpe(file, argv, envp));
}

HH_EXPORT int
fexecve(int fd, char *const argv[], char *const envp[])
{
	exec_begins();
	return came_back(hh_real.fexecve(fd, argv, envp));
}

HH_EXPORT int
execveat(int dir, const char *path, char *const argv[], char *const envp[],
    int flags)
{
	exec_begins();
	if (!hh_real.execveat) {	/* before glibc 2.34 */
		errno = ENOSYS;
		return came_back(-1);
	}
	return came_back(hh_real.execveat(dir, path, argv, envp, flags));
}

/* The arguments of an execl, counted with the NULL that ends them. */
static size_t
count_arguments(va_list list)
{
	size_t count = 1;

	while (va_arg(list, char *))
		count++;
	return count;
}

/* The vector must lie on the stack, however long: exec may run in a signal
 * handler or in a vfork child, where memory mapped here would stay with the
 * parent for good.  libc itself does the same. */
#pragma GCC diagnostic ignored "-Wvla"
#define EXECL(first, call) \
	va_list list; \
	size_t count; \
\
	va_start(list, first); \
	count = count_arguments(list) + 1; \
	va_end(list); \
	{ \
		char *argv[count]; \
\
		argv[0] = (char *)first; \
		va_start(list, first); \
		for (size_t i = 1; i < count; i++) \
			argv[i] = va_arg(list, char *); \
		call; \
	}

HH_EXPORT int
execl(const char *path, const char *first, ...)
{
	int result;

	EXECL(first, result = execv(path, argv))
	va_end(list);
	return result;
}

HH_EXPORT int
execlp(const char *file, const char *first, ...)
{
	int result;

	EXECL(first, result = execvp(file, argv))
	va_end(list);
	return result;
}

HH_EXPORT int
execle(const char *path, const char *first, ...)
{
	int result;

	EXECL(first, result = execve(path, argv, va_arg(list, char **)))
	va_end(list);
	return result;
}
