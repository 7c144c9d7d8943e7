/* SPDX-License-Identifier: Apache-2.0 */
/* What every aligned call answers to odd alignments and sizes. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

/* No power of two is rounded up; aligned_alloc of glibc 2.38 refuses it. */
static void
odd(void *(*call)(size_t, size_t), size_t align, size_t size)
{
	void *block = (errno = 0, call(align, size));

	if (!block) {
		say("%zu %zu: errno %d\n", align, size, errno);
		return;
	}
	while (align & (align - 1))
		align += align & -align;
	MUST(!align || !((uintptr_t)block & (align - 1)));
	MUST(malloc_usable_size(block) >= size);
	memset(block, 1, size);
	free(block);
}

static void
posix(size_t align, size_t size)
{
	void *block = &block;
	int error = (errno = 5, posix_memalign(&block, align, size));

	say("posix %zu %zu: %d, errno %d, untouched %d\n", align, size, error,
	    errno, block == &block);
	if (error)
		return;
	MUST(!((uintptr_t)block & (align - 1)));
	free(block);
}

int
main(void)
{
	static const size_t aligns[] = { 0, 1, 2, 3, 4, 8, 12, 16, 24, 32, 48,
		64, 100, 4096, 65536, 1 << 20, SIZE_MAX / 2 + 1, SIZE_MAX };
	static const size_t sizes[] = { 0, 1, 7, 33, 100, 4096, 100000 };

	for (size_t a = 0; a < sizeof(aligns) / sizeof(*aligns); a++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			odd(memalign, aligns[a], sizes[s]);
			odd(aligned_alloc, aligns[a], sizes[s]);
			posix(aligns[a], sizes[s]);
		}
	for (size_t size = 0; size < 20000; size += 777) {
		void *v = valloc(size), *p = pvalloc(size);

		MUST(v && !((uintptr_t)v & 4095));
		MUST(p && !((uintptr_t)p & 4095));
		MUST(malloc_usable_size(p) >= ((size + 4095) & ~(size_t)4095));
		free(v);
		free(p);
	}
	return 0;
}
