/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a program that uses the pure heap: what it does is allowed, so
 * the heap is sound after each step and blocks keep what they hold.
 *
 * LLVMFuzzerTestOneInput is for libFuzzer and its like (build with
 * -DFUZZ_ENGINE).  Without one, main tries the files it is given or, given
 * none, programs made at random; then a failed claim is the failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/tlsf/tlsf.h"

enum { ARENA = 1 << 16, BLOCKS = 16, MOST = 300, PROGRAMS = 4000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define MUST(claim) \
	do { \
		if (!(claim)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
			    #claim); \
			abort(); \
		} \
	} while (0)

struct block {
	unsigned char *at;
	size_t size;
};

static _Alignas(4096) unsigned char arena[ARENA];
static struct block blocks[BLOCKS];
static struct tlsf t;
static size_t arena_used;

static void
own(struct block *b, unsigned char *at, size_t size)
{
	MUST(tlsf_usable(at) >= size && at >= arena);
	MUST(at + tlsf_usable(at) <= arena + arena_used);
	memset(at, (int)(b - blocks) + 'a', tlsf_usable(at));
	*b = (struct block){ at, size };
}

static void
holds(const struct block *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		MUST(b->at[i] == b - blocks + 'a');
}

/* BYTES more, which touch the last or leave a gap. */
static void
grow(size_t bytes)
{
	arena_used += bytes % 3 ? 0 : bytes % 23 + 1;
	if (arena_used + bytes > ARENA)
		return;
	tlsf_add(&t, arena + arena_used, bytes);
	arena_used += bytes;
}

static void
use(unsigned what, struct block *b, size_t size, size_t align)
{
	size_t had = b->at ? tlsf_usable(b->at) : 0;
	unsigned char *at;

	if (what == 0)
		grow(size);
	else if (!b->at) {
		at = tlsf_memalign(&t, align, size);
		MUST(!((uintptr_t)at & (align - 1)));
		if (at)
			own(b, at, size);
	} else if (what == 1) {
		if (tlsf_resize(&t, b->at, size))
			own(b, b->at, size);
	} else if (what == 2) {
		at = tlsf_realloc(&t, b->at, align, size);
		if (!at)
			return;
		b->at = at;
		holds(b, had < size ? had : size);
		own(b, at, size);
	} else {
		holds(b, had);
		MUST(!tlsf_free(&t, b->at));
		b->at = NULL;
	}
}

/* Three bytes a step: what with which block; how aligned, how much. */
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	memset(blocks, 0, sizeof(blocks));
	memset(&t, 0x5a, sizeof(t));
	tlsf_init(&t);
	arena_used = n % 16;
	for (size_t i = 0; i + 3 <= n; i += 3) {
		size_t size = (size_t)bytes[i + 2] << (bytes[i + 1] % 8);

		use(bytes[i] % 4, &blocks[bytes[i] / 4 % BLOCKS],
		    size + bytes[i] % 13, (size_t)1 << bytes[i + 1] / 8 % 12);
		MUST(!tlsf_check(&t));
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		MUST(!blocks[i].at || !tlsf_free(&t, blocks[i].at));
		MUST(!tlsf_check(&t));
	}
	MUST(!t.used && !t.blocks && !t.fault);
	return 0;
}

#ifndef FUZZ_ENGINE

static uint8_t
random_byte(void)
{
	static uint64_t x = 20260101;

	x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint8_t)(x >> 56);
}

static void
try_file(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *file = fopen(path, "rb");

	MUST(file);
	LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, sizeof(bytes), file));
	fclose(file);
}

int
main(int argc, char **argv)
{
	uint8_t bytes[3 * MOST];

	for (int i = 1; i < argc; i++)
		try_file(argv[i]);
	if (argc > 1)
		return 0;
	printf("1..1\n");
	for (unsigned i = 0; i < PROGRAMS; i++) {
		size_t n = i % sizeof(bytes);

		for (size_t k = 0; k < n; k++)
			bytes[k] = random_byte();
		/* Without memory at first there would be little to see. */
		if (n > 3 && i % 8)
			bytes[0] = 0, bytes[1] = 5, bytes[2] = 200;
		LLVMFuzzerTestOneInput(bytes, n);
	}
	printf("ok 1 - no use of the heap makes it unsound\n");
	return 0;
}

#endif
