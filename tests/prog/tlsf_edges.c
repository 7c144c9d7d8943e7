/* SPDX-License-Identifier: Apache-2.0 */
/* What glibc answers at the edges that family.c leaves: says it, to be
 * compared with and without us. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

void free_sized(void *, size_t) __attribute__((weak));
void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));

static volatile size_t one = 1, huge = SIZE_MAX, half = PTRDIFF_MAX;

static void
tell(const char *what, size_t align, void *block)
{
	int error = errno;
	int lies = block && ((uintptr_t)block & ((align & -align) - 1));

	say("%s %zx: %s, errno %d%s\n", what, align, block ? "a block"
	    : "none", error, lies ? ", not aligned" : "");
	free(block);
	errno = 0;
}

static void
alignments(void)
{
	static const size_t odd[] = { 0, 1, 2, 3, 5, 7, 8, 12, 24, 48, 100,
		4097, 65536, 1 << 20, (1 << 20) + 1 };

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		void *block = NULL;
		int error = posix_memalign(&block, odd[i], 10);

		say("posix_memalign %zx: %d\n", odd[i], error);
		free(block);
		tell("memalign", odd[i], memalign(odd[i], 10));
		tell("aligned_alloc", odd[i], aligned_alloc(odd[i], 10));
	}
}

/* From 2 GiB on there may be room or not; where there is never any, both say
 * so. */
static void
absurd_alignments(void)
{
	for (unsigned bit = 47; bit < 64; bit++) {
		size_t align = one << bit;
		void *block = &block;

		tell("memalign", align, memalign(align, 10));
		tell("aligned_alloc", align, aligned_alloc(align, 10));
		MUST(posix_memalign(&block, align, 10) == ENOMEM);
		MUST(block == &block);
	}
	tell("memalign", half + 2, memalign(half + 2, 10));
	tell("memalign", huge, memalign(huge, 10));
}

/* And the block that an absurd request came after is as it was. */
static void
absurd_sizes(void)
{
	static const size_t less[] = { 0, 1, 7, 8, 15, 16, 17, 24, 31, 32, 33,
		4095, 4096, 4097 };
	char *volatile kept = malloc(10);

	memcpy(kept, "012345678", 10);
	for (size_t i = 0; i < sizeof(less) / sizeof(*less); i++) {
		tell("malloc", huge - less[i], malloc(huge - less[i]));
		tell("malloc", half - less[i], malloc(half - less[i]));
		tell("calloc", 1, calloc(1, huge - less[i]));
		tell("realloc", 1, realloc(kept, huge - less[i]));
		tell("realloc", 1, realloc(kept, half - less[i]));
		tell("memalign", 64, memalign(64, huge - less[i]));
		tell("memalign", 4096, memalign(4096, half - less[i]));
		tell("valloc", 0, valloc(huge - less[i]));
		tell("pvalloc", 0, pvalloc(huge - less[i]));
		tell("pvalloc", 0, pvalloc(half - less[i]));
	}
	tell("calloc", 1, calloc(one << 32, one << 32));
	tell("calloc", 1, calloc((one << 32) + 1, one << 32));
	tell("reallocarray", 1, reallocarray(kept, one << 33, one << 33));
	MUST(!strcmp(kept, "012345678"));
	free(kept);
}

static void
nothing(void)
{
	char *block = reallocarray(NULL, 0, 8);

	MUST(block);
	MUST(!reallocarray(block, 8, 0));
	errno = 0;
	MUST((block = malloc(100)) && !realloc(block, 0));
	say("realloc to 0: errno %d\n", errno);
	MUST((block = memalign(4096, 0)) && !((uintptr_t)block & 4095));
	free(block);
	MUST((block = valloc(0)) && !((uintptr_t)block & 4095));
	free(block);
	MUST((block = pvalloc(1)) && malloc_usable_size(block) >= 4096);
	memset(block, 1, 4096);
	free(block);
	if (free_sized) {
		free_sized(malloc(10), 10);
		free_aligned_sized(aligned_alloc(64, 64), 64, 64);
		free_sized(NULL, 0);
	}
}

/* Grown and shrunk again and again, also in a direction of its own. */
static void
resized(size_t align)
{
	unsigned char *block = memalign(align, 1);
	size_t had = 1;

	block[0] = 1;
	for (unsigned i = 0; i < 400; i++) {
		size_t size = 1 + i * i * 31 % 70001;

		MUST((block = realloc(block, size)));
		MUST(malloc_usable_size(block) >= size);
		for (size_t k = 0; k < had && k < size; k++)
			MUST(block[k] == (unsigned char)(had + k));
		for (size_t k = 0; k < size; k++)
			block[k] = (unsigned char)(size + k);
		had = size;
	}
	free(block);
}

/* Up to 1 GiB, where a block of a byte takes two of them for a moment. */
static void
big_alignments(void)
{
	for (unsigned bit = 4; bit <= 30; bit++) {
		char *block = aligned_alloc(one << bit, 100);

		MUST(block && !((uintptr_t)block & ((one << bit) - 1)));
		memset(block, 1, 100);
		free(block);
	}
}

int
main(void)
{
	errno = 0;
	nothing();
	alignments();
	absurd_alignments();
	absurd_sizes();
	resized(16);
	resized(32);
	resized(4096);
	big_alignments();
	say("done\n");
	return 0;
}
