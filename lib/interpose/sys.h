/* SPDX-License-Identifier: Apache-2.0 */
/* The only system calls of the libraries.  They go to the kernel directly:
 * libc's own functions may be replaced by other preloads, which allocate,
 * and they set errno, which is the program's.
 *
 * All of these are async-signal-safe and safe in a child of any fork.  A
 * failure is returned as -errno. */
#ifndef HH_SYS_H
#define HH_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;
struct statfs;
struct utsname;

long hh_sys_call(long number, long a, long b, long c, long d, long e, long f);

int hh_sys_open(const char *path, int flags, unsigned mode);
int hh_sys_close(int fd);
long hh_sys_read(int fd, void *buffer, size_t bytes);
int hh_sys_fstat(int fd, struct stat *st);
int hh_sys_lstat(const char *path, struct stat *st);
int hh_sys_mkdir(const char *path, unsigned mode);
int hh_sys_unlink(const char *path);
long hh_sys_readlink(const char *path, char *buffer, size_t bytes);
long hh_sys_getcwd(char *buffer, size_t bytes);
int hh_sys_uname(struct utsname *name);
int hh_sys_fstatfs(int fd, struct statfs *fs);
int hh_sys_truncate(int fd, uint64_t bytes);

/* A line for a person, if it can be written at once; no signal comes of it
 * when it cannot. */
void hh_sys_write(int fd, const void *data, size_t bytes);

/* A copy of FD, close-on-exec, numbered as high as is sensible. */
int hh_sys_dup_high(int fd);

/* Space for [OFFSET, OFFSET + BYTES) of FD that a store cannot fail in. */
int hh_sys_reserve(int fd, uint64_t offset, size_t bytes);

/* All of it, whatever signals come; the bytes written, or what failed. */
long hh_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset);

/* BYTES of FD shared and present; of nowhere, private. NULL on failure. */
void *hh_sys_map_file(int fd, uint64_t offset, size_t bytes);
void *hh_sys_map_private(size_t bytes);
void hh_sys_unmap(void *at, size_t bytes);

/* The BYTES mapped at FROM in the place of what is mapped at TO. */
int hh_sys_move(void *from, size_t bytes, void *to);

/* Memory of no file.  PROT and FLAGS (besides MAP_PRIVATE, MAP_ANONYMOUS) as
 * mmap has them; the address, or -errno. */
long hh_sys_map(void *at, size_t bytes, int prot, int flags);
int hh_sys_protect(void *at, size_t bytes, int prot);
int hh_sys_lock(void *at, size_t bytes);
int hh_sys_want_huge(void *at, size_t bytes);

/* Every page of it is there and writable, and was touched.  0 or -errno. */
int hh_sys_populate(void *at, size_t bytes);

/* From now on a forked child finds zeros there.  False: kernel too old. */
bool hh_sys_wipe_on_fork(void *at, size_t bytes);

int hh_sys_getpid(void);
int hh_sys_getppid(void);
int hh_sys_gettid(void);
unsigned hh_sys_getuid(void);
bool hh_sys_thread_exists(int tid);
void hh_sys_thread_name(char name[16]);
uint64_t hh_sys_limit(int resource);	/* RLIM_INFINITY: none */
uint64_t hh_sys_file_size_limit(void);
uint64_t hh_sys_descriptor_limit(void);
uint64_t hh_sys_realtime_ns(void);
uint64_t hh_sys_monotonic_ns(void);

/* The same by libc, which asks the vDSO: no system call. */
uint64_t hh_sys_monotonic_quick_ns(void);
uint64_t hh_sys_realtime_quick_ns(void);

void hh_sys_block_signals(uint64_t *kept);
void hh_sys_restore_signals(const uint64_t *kept);
void hh_sys_yield(void);
_Noreturn void hh_sys_exit_group(int status);

/* TEXT to FD as one line, as far as it goes.  FD 2 is written to only while
 * it is what it was at FIRST, when the process began, or what the program put
 * there in its place: one of those that were remembered. */
void hh_sys_say(const char *text, size_t bytes);
void hh_sys_remember_stderr(bool first);

/* The whole of a small file, NUL-terminated; bytes, or -errno. */
long hh_sys_slurp(const char *path, char *buffer, size_t bytes);

#endif
