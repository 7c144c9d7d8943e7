/* SPDX-License-Identifier: Apache-2.0 */
/* A preload library as others write them: it hooks what a recorder may call
 * and allocates in each, and looks its symbols up in a constructor. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOOK(type, name, parameters, arguments) \
	type \
	name parameters \
	{ \
		static type (*next) parameters; \
	\
		if (!next) \
			next = (type (*) parameters)dlsym(RTLD_NEXT, #name); \
		free(strdup("of the interposer")); \
		return next arguments; \
	}

HOOK(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))
HOOK(int, close, (int fd), (fd))
HOOK(int, munmap, (void *p, size_t n), (p, n))
HOOK(int, madvise, (void *p, size_t n, int what), (p, n, what))
HOOK(int, ftruncate, (int fd, off_t n), (fd, n))
HOOK(int, fallocate, (int fd, int how, off_t at, off_t n), (fd, how, at, n))
HOOK(pid_t, getpid, (void), ())
HOOK(char *, getenv, (const char *name), (name))
HOOK(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at),
    (p, n, prot, flags, fd, at))

int
open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (!next)
		next = (int (*)(const char *, int, ...))
		    dlsym(RTLD_NEXT, "open");
	free(malloc(20));
	return next(path, flags, mode);
}

__attribute__((constructor))
static void
look_up(void)
{
	free(dlsym(RTLD_NEXT, "nothing of this name") ? NULL : malloc(30));
}
