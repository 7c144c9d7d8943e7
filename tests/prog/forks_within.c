/* SPDX-License-Identifier: Apache-2.0 */
/* forks_within MOST [INSIDE [HOW]]: a signal handler that comes between two
 * instructions of malloc or free makes a child, which goes on from there:
 * after the first instruction, then the second, and so on.  With INSIDE only
 * those of the preloaded library count, as libc's malloc must not be entered
 * twice, and the child makes so many calls of each in the handler.  HOW is
 * _Fork, fork, or clone: a child that libc knows nothing of.  Says how many
 * children there were, how many calls each made after its fork at least, and
 * the parent in all. */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "say.h"
#include "step.h"

enum { CALLS = 300 };

static volatile int steps, at;
static volatile pid_t child = -1;
static int inside;
static pid_t (*go)(void);
static int calls;

static pid_t
bare_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static uintptr_t ours, ours_end;	/* the library's code */

static int
look(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (strstr(info->dlpi_name, "libheaphook")
		    && p->p_type == PT_LOAD && p->p_flags & PF_X) {
			ours = info->dlpi_addr + p->p_vaddr;
			ours_end = ours + p->p_memsz;
		}
	}
	return 0;
}

static bool
counts(const ucontext_t *context)
{
	uintptr_t ip = 0;

#ifdef __x86_64__
	ip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#endif
	return !inside || (ip >= ours && ip < ours_end);
}

static void
call(int times)
{
	for (int i = 0; i < times; i++) {
		void *volatile block = malloc(40);

		free(block);
	}
	calls += times;
}

/* After that no more of them: it would end a process that blocks signals. */
static void
handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (counts(context) && steps++ == at) {
		child = go();
		if (child == 0)
			call(inside);
#ifdef __x86_64__
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#endif
	}
}

int
main(int argc, char **argv)
{
	const struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO,
	};
	int most = argc > 1 ? atoi(argv[1]) : 10, children = 0, status;
	const char *how = argc > 3 ? argv[3] : "_Fork";

	inside = argc > 2 ? atoi(argv[2]) : 0;
	go = strcmp(how, "fork") == 0 ? fork
	    : strcmp(how, "clone") == 0 ? bare_clone : _Fork;
	dl_iterate_phdr(look, NULL);
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < most; i++) {
		void *volatile block;

		steps = 0;
		at = i;
		child = -1;
		call(CALLS);
		step(1);
		block = malloc(40);
		free(block);
		step(0);
		calls++;
		if (child < 0)
			break;
		call(CALLS);
		if (child == 0)
			_exit(0);
		children++;
		MUST(waitpid(child, &status, 0) == child && !status);
	}
	say("%d %d %d\n", children, CALLS + inside, calls);
	return 0;
}
