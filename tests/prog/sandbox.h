/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox in which a system call that was not named kills. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "say.h"

#ifndef SYS_clone3
#define SYS_clone3 SYS_read
#endif
#ifndef SYS_rseq
#define SYS_rseq SYS_read
#endif

#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Read, write, exit, and if it is WIDE what libc takes to make children,
 * threads, and a heap that grows. */
static inline void
sandbox(int wide)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit),
		BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0),
		ALLOW(SYS_clone), ALLOW(SYS_wait4), ALLOW(SYS_setuid),
		ALLOW(SYS_set_robust_list), ALLOW(SYS_rt_sigprocmask),
		ALLOW(SYS_clone3), ALLOW(SYS_mmap), ALLOW(SYS_mprotect),
		ALLOW(SYS_munmap), ALLOW(SYS_madvise), ALLOW(SYS_futex),
		ALLOW(SYS_rseq), ALLOW(SYS_brk), ALLOW(SYS_getrandom),
		ALLOW(SYS_rt_sigaction), ALLOW(SYS_exit_group),
		ALLOW(SYS_prctl), ALLOW(SYS_seccomp),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (!wide)
		code[7] = code[sizeof(code) / sizeof(*code) - 1];
#ifdef __x86_64__	/* else nobody can see it */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter))
		return;
#endif
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0));
}

#endif
