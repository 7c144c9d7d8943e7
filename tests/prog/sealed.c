/* SPDX-License-Identifier: Apache-2.0 */
/* sealed strict|filter PAIRS: a sandbox in which any system call but read,
 * write and exit kills. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "say.h"

#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void
seal(const char *how)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (!strcmp(how, "strict"))
		MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
	MUST(!strcmp(how, "strict")
	    || (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	    && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0)));
}

int
main(int argc, char **argv)
{
	int pairs = argc == 3 ? atoi(argv[2]) : 0;

	free(malloc(100));
	seal(argv[1]);
	for (int i = 1; i < pairs; i++)
		free(malloc(100));
	say("allocations=%d frees=%d\n", pairs, pairs);
	syscall(SYS_exit, 7);
	return 0;
}
