/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that fail, of all that is taken over beside the malloc family: says
 * what each answers, and errno. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "say.h"

#define TELL(call) \
	do { \
		errno = 0; \
		n = (long)(call); \
		say("%s: %ld %d\n", #call, n, errno); \
	} while (0)

/* Where the log's descriptor is, usually. */
enum { OURS = 1000 };

static void *volatile nowhere = (void *)8, *volatile absent;
static char *const none[] = { NULL };

static void
descriptors(void)
{
	long n;

	TELL(close(-1));
	TELL(close(OURS));
	TELL(close_range(5, 2, 0));
	TELL(close_range(OURS, OURS, 64));
	TELL(close_range(OURS, OURS, 0));
	TELL(syscall(SYS_close_range, 5, 2, 0));
	TELL(syscall(SYS_close, -1));
	TELL(dup2(OURS, OURS));
	TELL(dup2(OURS, 5));
	TELL(dup3(OURS, 5, 0));
	TELL(dup3(OURS, OURS, 0));
	TELL(dup2(-1, OURS));
	TELL(dup2(5000, OURS));
	TELL(dup3(0, OURS, 1));
	TELL(dup3(5000, OURS, 0));
	TELL(dup3(OURS, OURS, 0));
	TELL(syscall(SYS_dup3, -1, OURS, 0));
	TELL(fcntl(OURS, F_GETFD));
}

static void
rights(void)
{
	long n;

	TELL(chroot(nowhere));
	TELL(chroot(""));
	TELL(chroot("/dev/null"));
	TELL(prctl(-1, 0, 0, 0, 0));
	TELL(prctl(PR_SET_NAME, nowhere, 0, 0, 0));
	TELL(prctl(PR_SET_SECCOMP, 77, 0, 0, 0));
	TELL(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	TELL(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 5, 0, 0, 0));
	TELL(syscall(SYS_seccomp, 77, 0, 0));
	TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nowhere));
	TELL(syscall(-1));
	TELL(syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0));
	TELL(setrlimit(RLIMIT_AS, nowhere));
	TELL(setrlimit(RLIMIT_AS, absent));
	TELL(setrlimit(-1, nowhere));
	TELL(prlimit(0, RLIMIT_AS, nowhere, NULL));
	TELL(prlimit(getpid(), RLIMIT_AS, nowhere, nowhere));
	TELL(prlimit(-5, RLIMIT_AS, NULL, NULL));
	TELL(mlockall(-1));
}

static void
memory(void)
{
	long n;

	TELL(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	TELL(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0));
	TELL(munmap((void *)1, 1));
	TELL(mremap((void *)4096, 4096, 8192, 0));
	TELL(sbrk(INTPTR_MAX));
}

static void
images(void)
{
	long n;

	TELL(execv("/nowhere", none));
	TELL(execve("/", none, none));
	TELL(execve(nowhere, none, none));
	TELL(execvp("", none));
	TELL(execvpe("no such program", none, none));
	TELL(fexecve(-1, none, none));
	TELL(execveat(-1, "", none, none, 0));
	TELL(execl("/nowhere", "a", "b", (char *)NULL));
	TELL(execlp("no such program", "a", (char *)NULL));
	TELL(execle("/nowhere", "a", (char *)NULL, none));
	TELL(dlopen("/nowhere.so", RTLD_NOW));
	TELL(pthread_setname_np(pthread_self(), "longer than fifteen"));
}

int
main(void)
{
	descriptors();
	rights();
	memory();
	images();
	return 0;
}
