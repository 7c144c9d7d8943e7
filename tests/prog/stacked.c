/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations whose callers are known: before each, its size and the
 * addresses to which the functions that lead there return, innermost first
 * and as the compiler has them, are written, a line each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

/* A frame of its own, and no jump instead of its last call. */
#define FRAME __attribute__((noinline, noclone, \
    optimize("no-optimize-sibling-calls")))
#define HERE() here(__builtin_return_address(0))

enum { DEEP = 40 };

static _Thread_local void *trail[DEEP];
static _Thread_local int depth;

static void
here(void *address)
{
	trail[depth++] = address;
}

static void
tell(size_t size)
{
	char line[512];
	int n = snprintf(line, sizeof line, "%zu", size);

	for (int i = depth; i-- > 0;)
		n += snprintf(line + n, sizeof line - (size_t)n, " %p",
		    trail[i]);
	say("%s\n", line);
}

FRAME static void *
get(size_t size)
{
	void *block;

	HERE();
	tell(size);
	block = malloc(size);
	depth--;
	return block;
}

FRAME static void *
recurse(int times, size_t size)
{
	void *block;

	HERE();
	block = times ? recurse(times - 1, size) : get(size);
	depth--;
	return block;
}

/* Its frame is found by the frame pointer alone. */
FRAME static void *
with_room(size_t bytes, size_t size)
{
	char *room = __builtin_alloca(bytes);
	void *block;

	HERE();
	memset(room, 1, bytes);
	__asm__ volatile("" : : "r"(room) : "memory");
	block = get(size);
	depth--;
	return block;
}

/* And this one's begins where its stack is, rounded down. */
FRAME static void *
with_aligned(size_t size)
{
	_Alignas(128) char room[128];
	void *block;

	HERE();
	__asm__ volatile("" : : "r"(room) : "memory");
	block = get(size);
	depth--;
	return block;
}

static void *signalled;

FRAME static void
handle(int signal)
{
	HERE();
	signalled = get(1000 + (size_t)signal);
	depth--;
}

FRAME static void
interrupt(int signal)
{
	HERE();
	raise(signal);
	depth--;
}

/* As of a libc whose way back from handlers has no table. */
#if defined __x86_64__
__asm__(".pushsection .text\n"
    "way_back: mov $15, %rax\n"
    "syscall\n"
    ".popsection\n");
extern const char way_back[] __attribute__((visibility("hidden")));

static void
handle_without_table(int signal)
{
	const struct {
		void (*handler)(int);
		unsigned long flags;
		const char *restorer;
		unsigned long mask;
	} action = { handle, 0x04000000, way_back, 0 };

	syscall(SYS_rt_sigaction, signal, &action, NULL, 8L);
}
#else
static void
handle_without_table(int number)
{
	signal(number, handle);
}
#endif

FRAME static void
others(void)
{
	void *block;

	HERE();
	tell(2001);
	free(calloc(3, 667));
	tell(2002);
	block = realloc(malloc(20), 2002);
	tell(2003);
	block = realloc(block, 2003);
	free(block);
	tell(2004);
	block = aligned_alloc(64, 2004);
	free(block);
	depth--;
}

static pthread_key_t key;

FRAME static void
destroy(void *block)
{
	HERE();
	free(block);
	free(get(4001));
	depth--;
}

static void *
run(void *unused)
{
	(void)unused;
	pthread_setspecific(key, malloc(1));
	free(recurse(3, 4000));
	return NULL;
}

/* Two libraries, maybe at one address: the second is seen as itself. */
static void
plug(const char *path, size_t size)
{
	void *library = dlopen(path, RTLD_NOW);
	void *(*make)(size_t) = library
	    ? (void *(*)(size_t))(uintptr_t)dlsym(library, "make") : NULL;

	if (!make)
		_exit(3);
	make(size);
	dlclose(library);
}

int
main(int argc, char **argv)
{
	stack_t other = { .ss_size = 65536 };
	pthread_t thread;

	free(get(100));
	free(recurse(10, 101));
	free(with_room(300, 102));
	free(with_aligned(103));
	free(with_room(99999, 104));
	others();
	signal(SIGUSR1, handle);
	interrupt(SIGUSR1);
	handle_without_table(SIGTERM);
	interrupt(SIGTERM);
	other.ss_sp = mmap(NULL, other.ss_size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = handle,
	    .sa_flags = SA_ONSTACK }, NULL);
	interrupt(SIGUSR2);
	pthread_key_create(&key, destroy);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	for (int i = 1; i < argc; i++)
		plug(argv[i], 5000 + (size_t)i);
	if (fork() == 0) {
		free(recurse(2, 6000));
		_exit(0);
	}
	wait(NULL);
	return 0;
}
