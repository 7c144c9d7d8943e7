/* SPDX-License-Identifier: Apache-2.0 */
/* Known bytes at known sites; it says what there is to be found. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whatever the optimizer thinks of it. */
static void *
keep(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static __attribute__((noinline)) void
load(void)
{
	for (int i = 0; i < 7; i++)
		keep(malloc(1237));
}

static inline __attribute__((always_inline)) void *
inlined(size_t size)
{
	return keep(malloc(size));
}

static __attribute__((noinline)) void
three(void *blocks[3])
{
	for (int i = 0; i < 3; i++)
		blocks[i] = inlined(311);
}

static __attribute__((noinline)) void
churn(void)
{
	for (int i = 0; i < 300; i++)
		free(keep(malloc(24)));
}

static __attribute__((noinline)) void *
grow(void)
{
	void *block = keep(malloc(100));

	return keep(realloc(block, 4099));
}

static __attribute__((noinline)) void *
build(int more)
{
	return keep(more ? build(more - 1) : malloc(65537));
}

static __attribute__((noinline)) void
late(void)
{
	for (int i = 0; i < 2; i++)
		keep(malloc(53));
}

int
main(void)
{
	static const char truth[] = "allocations=315 allocated=86634 "
	    "peak=79228 live=8765 live_blocks=9 temporary=301 "
	    "peak_blocks=12\n";
	void *blocks[3], *grown;

	load();
	three(blocks);
	churn();
	grown = grow();
	free(build(5));
	free(grown);
	for (int i = 0; i < 3; i++)
		free(blocks[i]);
	late();
	return write(STDOUT_FILENO, truth, strlen(truth)) < 0;
}
