/* SPDX-License-Identifier: Apache-2.0 */
/* Known bytes at known places: the test looks for the words behind "site". */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whatever the optimizer thinks of it. */
static void *
keep(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static inline __attribute__((always_inline)) void *
inlined(size_t size)
{
	return keep(malloc(size));			/* site inlined */
}

static __attribute__((noinline)) void *
outer(void)
{
	return keep(inlined(5000));			/* site outer */
}

static __attribute__((noinline)) void *
deep(int more)
{
	return keep(more ? deep(more - 1) : malloc(700));	/* site deep */
}

static __attribute__((noinline)) void
churn(void)
{
	for (int i = 0; i < 1000; i++)
		free(keep(malloc(16)));			/* site churn */
}

static __attribute__((noinline)) void *
named(void)
{
	return keep(strdup("of eleven."));		/* site named */
}

static __attribute__((noinline)) void
at_peak(void)
{
	void *big = keep(malloc(1 << 20));		/* site peak */
	void *grown = keep(malloc(1 << 10));		/* site grown-from */

	grown = keep(realloc(grown, 1 << 12));		/* site grown */
	free(big);
	free(grown);
}

/* What it was born with goes, and comes anew. */
static void
be_born(void *block)
{
	free(block);
	keep(malloc(333));				/* site child */
}

int
main(void)
{
	void *block = outer();
	int status;

	keep(deep(3));
	churn();
	keep(named());
	at_peak();
	if (!fork()) {
		be_born(block);
		return 0;
	}
	return wait(&status) < 0 || status;
}
