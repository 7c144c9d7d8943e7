/* SPDX-License-Identifier: Apache-2.0 */
/* A heap to try things on, and the words for it. */
#ifndef HEAP_H
#define HEAP_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/tlsf/tlsf.h"
#include "unit.h"

static struct tlsf t;

static inline void
sound(void)
{
	const char *wrong = tlsf_check(&t);

	ck_assert_msg(!wrong, "%s", wrong);
}

/* Memory that is there only where it is touched; NULL if it is refused. */
static inline char *
sparse(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static inline char *
pool_of(size_t bytes)
{
	char *memory = sparse(bytes);

	ck_assert_ptr_nonnull(memory);
	tlsf_init(&t);
	ck_assert(tlsf_add(&t, memory, bytes));
	sound();
	return memory;
}

static inline void *
take(size_t size)
{
	void *block = tlsf_malloc(&t, size);

	sound();
	return block;
}

static inline void
give(void *block)
{
	ck_assert_int_eq(tlsf_free(&t, block), TLSF_FINE);
	sound();
}

/* What the walk finds: all areas, by their blocks. */
struct seen {
	size_t free_blocks;
	size_t used_blocks;
	size_t largest;		/* that is free */
};

static inline bool
see_block(const struct tlsf_block *block, void *with)
{
	struct seen *s = with;

	s->free_blocks += block->is_free;
	s->used_blocks += !block->is_free;
	if (block->is_free && block->bytes > s->largest)
		s->largest = block->bytes;
	return true;
}

static inline struct seen
see(void)
{
	struct seen s = { 0, 0, 0 };

	tlsf_walk(&t, see_block, &s);
	return s;
}

static inline size_t
areas(void)
{
	const struct tlsf_area *area = t.areas;
	size_t n = 0;

	/* A record begins with the next one. */
	for (; area; area = *(const struct tlsf_area *const *)area)
		n++;
	return n;
}

/* Numbers that look random, the same each time. */
static inline uint32_t
random_number(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*seed >> 33);
}

#endif
