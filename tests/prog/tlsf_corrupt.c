/* SPDX-License-Identifier: Apache-2.0 */
/* tlsf_corrupt HOW SIZE [BYTE [THEN]]: one mistake that programs make with a
 * block of SIZE bytes, and another free.  Says that nobody noticed if so.
 * THEN is exit: no other free, but the end; or fork: in a child; or moved: with
 * standard error in a file of that name. */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "say.h"

enum { MANY = 40, HEADER = 8 };

static char *blocks[MANY];
static size_t size;
static int byte;

/* A block with another right behind it, in use. */
static char *
followed(void)
{
	for (int i = 0; i < MANY; i++)
		for (int k = 0; k < MANY; k++)
			if (blocks[i] + malloc_usable_size(blocks[i]) + HEADER
			    == blocks[k])
				return blocks[i];
	MUST(!"two neighbours");
	return NULL;
}

static char *
behind(char *block)
{
	return block + malloc_usable_size(block) + HEADER;
}

static void
overflow(char *block, size_t count)
{
	memset(block + malloc_usable_size(block), byte, count);
}

static void *
free_it(void *block)
{
	free(block);
	return NULL;
}

static void
free_elsewhere(void *block)
{
	pthread_t other;

	MUST(!pthread_create(&other, NULL, free_it, block));
	pthread_join(other, NULL);
}

static void
free_all_but(const char *block)
{
	for (int i = 0; i < MANY; i++)
		if (blocks[i] != block)
			free(blocks[i]);
}

static void
overflow_1(char *b)
{
	char *next = behind(b);

	overflow(b, 1);
	free(next);
}

static void
overflow_8(char *b)
{
	char *next = behind(b);

	overflow(b, 8);
	free(next);
}

static void
overflow_16(char *b)
{
	char *next = behind(b);

	overflow(b, 16);
	free(next);
}

static void
overflow_own(char *b)
{
	overflow(b, 1);
	free(b);
}

static void
twice(char *b)
{
	free(b);
	free(b);
}

/* The second time it is handed out again before anybody looks at it. */
static void
twice_and_taken(char *b)
{
	free(b);
	free_all_but(b);
	free(b);
	for (int i = 0; i < MANY; i++)
		blocks[i] = malloc(size);
}

/* As a block that moves there. */
static void
twice_and_moved_to(char *b)
{
	void *other = malloc(10);

	free(b);
	free_all_but(b);
	free(b);
	for (int i = 0; i < MANY; i++)
		blocks[i] = realloc(malloc(10), size);
	free(other);
}

static void
twice_later(char *b)
{
	free(b);
	free_all_but(b);
	free(b);
}

static void
twice_elsewhere(char *b)
{
	free(b);
	free_elsewhere(b);
}

static void
twice_from_elsewhere(char *b)
{
	free_elsewhere(b);
	free(b);
}

static void
resize_freed(char *b)
{
	free(b);
	blocks[0] = realloc(b, size * 2 + 1);
}

static void
underflow(char *b)
{
	memset(b - HEADER, byte, HEADER);
	free(b);
}

/* One byte of the block's own header. */
static void
header(char *b)
{
	b[byte % HEADER - HEADER] ^= 0x41;
	free(b);
}

static void
middle(char *b)
{
	free(b + 16);
}

static void
odd(char *b)
{
	free(b + byte % 16);
}

static void
stack(char *b)
{
	_Alignas(16) char local[64] = "not on the heap";

	b = local + byte;
	free(b);
}

static void
resize_middle(char *b)
{
	blocks[0] = realloc(b + 16, size * 2 + 1);
}

static const struct {
	const char *name;
	void (*make)(char *);
} mistakes[] = {
	{ "overflow_1", overflow_1 },
	{ "overflow_8", overflow_8 },
	{ "overflow_16", overflow_16 },
	{ "overflow_own", overflow_own },
	{ "twice", twice },
	{ "twice_and_taken", twice_and_taken },
	{ "twice_and_moved_to", twice_and_moved_to },
	{ "twice_later", twice_later },
	{ "twice_elsewhere", twice_elsewhere },
	{ "twice_from_elsewhere", twice_from_elsewhere },
	{ "resize_freed", resize_freed },
	{ "underflow", underflow },
	{ "header", header },
	{ "middle", middle },
	{ "odd", odd },
	{ "stack", stack },
	{ "resize_middle", resize_middle },
};

/* What a child does, whose end is ours. */
static void
in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		return;
	MUST(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

int
main(int argc, char **argv)
{
	void *last;

	size = strtoul(argv[2], NULL, 0);
	free_elsewhere(NULL);	/* libc has what a thread takes */
	last = malloc(size);
	byte = argc > 3 ? (int)strtoul(argv[3], NULL, 0) : 0;
	for (int i = 0; i < MANY; i++) {
		MUST((blocks[i] = malloc(size)));
		memset(blocks[i], 0x33, size);
	}
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++)
		if (!strcmp(mistakes[i].name, argv[1])) {
			if (argc > 4 && !strcmp(argv[4], "fork"))
				in_child();
			if (argc > 4 && !strcmp(argv[4], "moved"))
				MUST(dup2(creat("moved", 0600), 2) == 2);
			mistakes[i].make(followed());
			if (argc <= 4) {
				free(last);
				say("unnoticed\n");
			}
			return 0;
		}
	return 99;
}
