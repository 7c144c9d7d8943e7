/* SPDX-License-Identifier: Apache-2.0 */
/* sealed strict|filter|refused|first PAIRS: a sandbox in which any system call
 * but read, write and exit kills; or none, for it was asked for in vain; or one
 * that comes before all calls of the heap, and then also of a thread's. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "sandbox.h"

static void
seal(const char *how)
{
	if (!strcmp(how, "filter"))
		sandbox(0);
	else if (!strcmp(how, "strict"))
		MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
	else
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0) == -1
		    && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 0)
		    == -1 && errno == EFAULT);
}

static void
work(int pairs)
{
	for (int i = 0; i < pairs; i++)
		free(malloc(100));
}

static void *
thread(void *pairs)
{
	work(*(int *)pairs);
	return NULL;
}

static void
seal_first(int *pairs)
{
	pthread_t id;

	sandbox(1);
	sandbox(1);	/* another, as strict */
	work(*pairs);
	MUST(!pthread_create(&id, NULL, thread, pairs));
	MUST(!pthread_join(id, NULL));
	*pairs *= 2;
}

int
main(int argc, char **argv)
{
	int pairs = argc == 3 ? atoi(argv[2]) : 0;

	if (!strcmp(argv[1], "first")) {
		seal_first(&pairs);
	} else {
		work(1);
		seal(argv[1]);
		work(pairs - 1);
	}
	say("allocations=%d frees=%d\n", pairs, pairs);
	syscall(SYS_exit, 7);
	return 0;
}
