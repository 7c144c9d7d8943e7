/* SPDX-License-Identifier: Apache-2.0 */
/* A preload library whose heap only grows: the example of
 * heaphook-backend(3).  A block's size stands before it; nothing is freed. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <heaphook/backend.h>

enum { HEAP_BYTES = 256 << 20, WORD = 16 };

static _Alignas(4096) unsigned char heap[HEAP_BYTES];
static _Atomic size_t used;

static void *
take(size_t align, size_t size)
{
	size_t room = size + align + WORD, from;
	uintptr_t block;

	if (size > HEAP_BYTES || align > HEAP_BYTES
	    || (from = atomic_fetch_add(&used, room)) > HEAP_BYTES - room) {
		errno = ENOMEM;
		return NULL;
	}
	block = ((uintptr_t)heap + from + WORD + align - 1) & -align;
	((size_t *)block)[-1] = size;
	return (void *)block;
}

void *
hh_backend_malloc(size_t size)
{
	return take(WORD, size);
}

void *
hh_backend_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	return take(WORD, bytes);	/* zeros, since nothing is reused */
}

void *
hh_backend_realloc(enum hh_call call, void *block, size_t size)
{
	size_t old = block ? hh_backend_usable(block) : 0;
	void *moved;

	(void)call;
	if (block && !size)
		return NULL;
	moved = take(WORD, size);
	if (moved && block)
		memcpy(moved, block, old < size ? old : size);
	return moved;
}

void *
hh_backend_memalign(enum hh_call call, size_t align, size_t size, int *error)
{
	int kept = errno, wrong = hh_settle_alignment(call, &align, &size);
	void *block = wrong ? NULL : take(align, size);

	if (block)
		return block;
	errno = wrong ? wrong : ENOMEM;
	if (error) {
		*error = errno;
		errno = kept;
	}
	return NULL;
}

void
hh_backend_free(void *block)
{
	(void)block;
}

size_t
hh_backend_usable(void *block)
{
	return ((size_t *)block)[-1];
}
