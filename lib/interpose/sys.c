/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum {
	FD_HIGH = 1000,		/* above what programs count on, below the
				 * size at which the kernel's table doubles */
	KERNEL_SIGSET_BYTES = 8,
	ZEROS = 4096,
	TOUCH = 4096,			/* the smallest page */
	PROC_PAGE = 4096,		/* /proc answers in whole ones */
};

long
hh_sys_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(result)
	    : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	return result;
#elif defined __aarch64__
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0)
	    : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
	int kept = errno;
	long result = syscall(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = kept;
	return result;
#endif
}

#define CALL(name, a, b, c, d, e, f) \
	hh_sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), \
	    (long)(e), (long)(f))

int
hh_sys_open(const char *path, int flags, unsigned mode)
{
	return (int)CALL(openat, AT_FDCWD, path, flags | O_CLOEXEC, mode, 0, 0);
}

int
hh_sys_close(int fd)
{
	return (int)CALL(close, fd, 0, 0, 0, 0, 0);
}

long
hh_sys_read(int fd, void *buffer, size_t bytes)
{
	long got;

	do
		got = CALL(read, fd, buffer, bytes, 0, 0, 0);
	while (got == -EINTR);
	return got;
}

int
hh_sys_fstat(int fd, struct stat *st)
{
	return (int)CALL(fstat, fd, st, 0, 0, 0, 0);
}

int
hh_sys_lstat(const char *path, struct stat *st)
{
	return (int)CALL(newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW,
	    0, 0);
}

int
hh_sys_mkdir(const char *path, unsigned mode)
{
	return (int)CALL(mkdirat, AT_FDCWD, path, mode, 0, 0, 0);
}

int
hh_sys_unlink(const char *path)
{
	return (int)CALL(unlinkat, AT_FDCWD, path, 0, 0, 0, 0);
}

long
hh_sys_readlink(const char *path, char *buffer, size_t bytes)
{
	return CALL(readlinkat, AT_FDCWD, path, buffer, bytes, 0, 0);
}

long
hh_sys_getcwd(char *buffer, size_t bytes)
{
	return CALL(getcwd, buffer, bytes, 0, 0, 0, 0);
}

int
hh_sys_uname(struct utsname *name)
{
	return (int)CALL(uname, name, 0, 0, 0, 0, 0);
}

int
hh_sys_fstatfs(int fd, struct statfs *fs)
{
	return (int)CALL(fstatfs, fd, fs, 0, 0, 0, 0);
}

int
hh_sys_truncate(int fd, uint64_t bytes)
{
	return (int)CALL(ftruncate, fd, bytes, 0, 0, 0, 0);
}

uint64_t
hh_sys_limit(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	CALL(prlimit64, 0, resource, 0, &limit, 0, 0);
	return limit.rlim_cur;
}

int
hh_sys_dup_high(int fd)
{
	uint64_t limit = hh_sys_limit(RLIMIT_NOFILE);
	long from = FD_HIGH, copy;

	if (limit <= FD_HIGH)
		from = (long)limit - 8;
	copy = CALL(fcntl, fd, F_DUPFD_CLOEXEC, from > 3 ? from : 3, 0, 0, 0);
	if (copy < 0)
		copy = CALL(fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
	return (int)copy;
}

enum { WRITE_SIGNALS = 1 << (SIGPIPE - 1) | 1 << (SIGXFSZ - 1)
    | 1 << (SIGTTOU - 1) };

/* Those of WRITE_SIGNALS that wait for this thread. */
static uint64_t
pending(void)
{
	uint64_t set = 0;

	CALL(rt_sigpending, &set, KERNEL_SIGSET_BYTES, 0, 0, 0, 0);
	return set & WRITE_SIGNALS;
}

void
hh_sys_write(int fd, const void *data, size_t bytes)
{
	struct pollfd ready = {fd, POLLOUT, 0};
	struct timespec at_once = {0, 0};
	uint64_t ours = WRITE_SIGNALS, kept, before, came;

	/* What cannot be said at once is not said: the reader may be gone,
	 * stopped, or waiting for the program. */
	if (CALL(ppoll, &ready, 1, &at_once, 0, 0, 0) != 1)
		return;
	CALL(rt_sigprocmask, 0 /* SIG_BLOCK */, &ours, &kept,
	    KERNEL_SIGSET_BYTES, 0, 0);
	before = pending();
	CALL(write, fd, data, bytes, 0, 0, 0);
	came = pending() & ~before;
	if (came)
		CALL(rt_sigtimedwait, &came, 0, &at_once,
		    KERNEL_SIGSET_BYTES, 0, 0);
	CALL(rt_sigprocmask, 2 /* SIG_SETMASK */, &kept, 0,
	    KERNEL_SIGSET_BYTES, 0, 0);
}

long
hh_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		long n = CALL(pwrite64, fd, (const char *)data + done,
		    bytes - done, offset + done, 0, 0);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? n : -ENOSPC;
		done += (size_t)n;
	}
	return (long)done;
}

/* Not every file system can allocate ahead; zeros written do as well. */
static int
write_zeros(int fd, uint64_t offset, size_t bytes)
{
	static const char zeros[ZEROS];

	for (size_t done = 0; done < bytes; done += ZEROS) {
		long n = hh_sys_write_at(fd, zeros, ZEROS, offset + done);

		if (n < 0)
			return (int)n;
	}
	return 0;
}

int
hh_sys_reserve(int fd, uint64_t offset, size_t bytes)
{
	long r;

	do
		r = CALL(fallocate, fd, 0, offset, bytes, 0, 0);
	while (r == -EINTR);
	if (r == -EOPNOTSUPP || r == -ENOSYS)
		return write_zeros(fd, offset, bytes);
	return (int)r;
}

static void *
map(int fd, uint64_t offset, size_t bytes, int flags)
{
	long at = CALL(mmap, 0, bytes, PROT_READ | PROT_WRITE, flags, fd,
	    offset);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

void *
hh_sys_map_file(int fd, uint64_t offset, size_t bytes)
{
	void *at = map(fd, offset, bytes, MAP_SHARED);

	/* Before Linux 5.14 the pages come as they are touched: they are
	 * allocated, so that is only slower. */
	if (at)
		CALL(madvise, at, bytes, MADV_POPULATE_WRITE, 0, 0, 0);
	return at;
}

void *
hh_sys_map_private(size_t bytes)
{
	return map(-1, 0, bytes, MAP_PRIVATE | MAP_ANONYMOUS);
}

long
hh_sys_map(void *at, size_t bytes, int prot, int flags)
{
	return CALL(mmap, at, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags,
	    -1, 0);
}

int
hh_sys_protect(void *at, size_t bytes, int prot)
{
	return (int)CALL(mprotect, at, bytes, prot, 0, 0, 0);
}

int
hh_sys_lock(void *at, size_t bytes)
{
	return (int)CALL(mlock, at, bytes, 0, 0, 0, 0);
}

int
hh_sys_want_huge(void *at, size_t bytes)
{
	return (int)CALL(madvise, at, bytes, MADV_HUGEPAGE, 0, 0, 0);
}

/* Atomic and of no effect: others may be writing there. */
static void
touch(uintptr_t at, uintptr_t end)
{
	for (; at < end; at += TOUCH)
		atomic_fetch_or_explicit((_Atomic unsigned char *)at, 0,
		    memory_order_relaxed);
}

int
hh_sys_populate(void *at, size_t bytes)
{
	long r;

	do
		r = CALL(madvise, at, bytes, MADV_POPULATE_WRITE, 0, 0, 0);
	while (r == -EINTR);
	if (r && r != -EINVAL)
		return (int)r;
	/* Touched as well: a hypervisor with page tables of its own makes its
	 * entry then, at 10 us a page, and what is there costs little. */
	touch((uintptr_t)at, (uintptr_t)at + bytes);
	return 0;
}

void
hh_sys_unmap(void *at, size_t bytes)
{
	CALL(munmap, at, bytes, 0, 0, 0, 0);
}

int
hh_sys_move(void *from, size_t bytes, void *to)
{
	long r = CALL(mremap, from, bytes, bytes,
	    MREMAP_MAYMOVE | MREMAP_FIXED, to, 0);

	return r < 0 && r > -4096 ? (int)r : 0;
}

bool
hh_sys_wipe_on_fork(void *at, size_t bytes)
{
	return CALL(madvise, at, bytes, MADV_WIPEONFORK, 0, 0, 0) == 0;
}

int
hh_sys_getpid(void)
{
	return (int)CALL(getpid, 0, 0, 0, 0, 0, 0);
}

int
hh_sys_getppid(void)
{
	return (int)CALL(getppid, 0, 0, 0, 0, 0, 0);
}

int
hh_sys_gettid(void)
{
	return (int)CALL(gettid, 0, 0, 0, 0, 0, 0);
}

unsigned
hh_sys_getuid(void)
{
	return (unsigned)CALL(getuid, 0, 0, 0, 0, 0, 0);
}

/* tkill, not tgkill: a task made by clone without CLONE_THREAD counts. */
bool
hh_sys_thread_exists(int tid)
{
	return CALL(tkill, tid, 0, 0, 0, 0, 0) != -ESRCH;
}

void
hh_sys_thread_name(char name[16])
{
	if (CALL(prctl, PR_GET_NAME, name, 0, 0, 0, 0) < 0)
		name[0] = '\0';
	name[15] = '\0';
}

uint64_t
hh_sys_file_size_limit(void)
{
	return hh_sys_limit(RLIMIT_FSIZE);
}

uint64_t
hh_sys_descriptor_limit(void)
{
	return hh_sys_limit(RLIMIT_NOFILE);
}

/* By the kernel: libc's may be one that tells another time (libfaketime). */
static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	CALL(clock_gettime, clock, &now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
hh_sys_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t
hh_sys_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t
quick_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
hh_sys_monotonic_quick_ns(void)
{
	return quick_ns(CLOCK_MONOTONIC);
}

uint64_t
hh_sys_realtime_quick_ns(void)
{
	return quick_ns(CLOCK_REALTIME);
}

void
hh_sys_block_signals(uint64_t *kept)
{
	uint64_t all = ~UINT64_C(0);

	CALL(rt_sigprocmask, 0 /* SIG_BLOCK */, &all, kept,
	    KERNEL_SIGSET_BYTES, 0, 0);
}

void
hh_sys_restore_signals(const uint64_t *kept)
{
	CALL(rt_sigprocmask, 2 /* SIG_SETMASK */, kept, 0,
	    KERNEL_SIGSET_BYTES, 0, 0);
}

void
hh_sys_yield(void)
{
	CALL(sched_yield, 0, 0, 0, 0, 0, 0);
}

_Noreturn void
hh_sys_exit_group(int status)
{
	for (;;)
		CALL(exit_group, status, 0, 0, 0, 0, 0);
}

/* As it was first, and since the program moved it.  A vfork child that does so
 * for itself spoils only the second. */
static struct {
	bool known;
	dev_t dev;
	ino_t ino;
} errs[2];

void
hh_sys_remember_stderr(bool first)
{
	struct stat st = { .st_ino = 0 };

	errs[!first].known = hh_sys_fstat(2, &st) == 0;
	errs[!first].dev = st.st_dev;
	errs[!first].ino = st.st_ino;
}

void
hh_sys_say(const char *text, size_t bytes)
{
	struct stat now;
	bool known = false;

	if (hh_sys_fstat(2, &now) != 0)
		return;
	for (int i = 0; i < 2; i++)
		known |= errs[i].known && now.st_dev == errs[i].dev
		    && now.st_ino == errs[i].ino;
	if (known)
		hh_sys_write(2, text, bytes);
}

long
hh_sys_slurp(const char *path, char *buffer, size_t bytes)
{
	int fd = hh_sys_open(path, O_RDONLY, 0);
	size_t done = 0;
	long n = 0;

	buffer[0] = '\0';
	if (fd < 0)
		return fd;
	/* A short answer is the last: these are files of /proc, and every
	 * call counts at start. */
	do {
		n = hh_sys_read(fd, buffer + done, bytes - 1 - done);
		done += n > 0 ? (size_t)n : 0;
	} while (n > 0 && done + 1 < bytes && n % PROC_PAGE == 0);
	buffer[done] = '\0';
	hh_sys_close(fd);
	return n < 0 ? n : (long)done;
}
