/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "room.h"

enum { FIRST_BITS = 12 };

/* Large pages: nearly every look at a large table is at another page. */
static struct block *
need_places(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		room_none();
	madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

static void
make_places(struct blocks *b, unsigned bits)
{
	size_t places = (size_t)1 << bits;

	b->places = need_places(places * sizeof *b->places);
	b->mask = places - 1;
	b->limit = places / 2;
	b->shift = 64 - bits;
}

void
blocks_init(struct blocks *b)
{
	*b = (struct blocks){ .multiplier = UINT64_C(0x9e3779b97f4a7c15) };
	if (getrandom(&b->multiplier, sizeof b->multiplier, GRND_NONBLOCK) < 0)
		b->multiplier ^= (uint64_t)(uintptr_t)b;
	b->multiplier |= 1;
	make_places(b, FIRST_BITS);
}

void
blocks_free(struct blocks *b)
{
	munmap(b->places, (b->mask + 1) * sizeof *b->places);
}

struct blocks
blocks_copy(const struct blocks *b)
{
	size_t bytes = (b->mask + 1) * sizeof *b->places;
	struct blocks copy = *b;

	copy.places = need_places(bytes);
	memcpy(copy.places, b->places, bytes);
	return copy;
}

void
blocks_grow(struct blocks *b)
{
	struct block *old = b->places;
	size_t n = b->mask + 1;

	make_places(b, 64 - b->shift + 1);
	for (size_t i = 0; i < n; i++)
		if (old[i].address)
			*blocks_place(b, old[i].address) = old[i];
	munmap(old, n * sizeof *old);
}

static int
by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

struct block *
blocks_list(const struct blocks *b)
{
	struct block *list = room_new(b->count, sizeof *list);
	size_t n = 0;

	for (size_t i = 0; i <= b->mask; i++)
		if (b->places[i].address)
			list[n++] = b->places[i];
	qsort(list, n, sizeof *list, by_address);
	return list;
}

/* What stands behind the gap moves into it, if the gap lies on the way from
 * its home to where it is. */
void
blocks_close(struct blocks *b, struct block *block)
{
	size_t gap = (size_t)(block - b->places), i = gap;

	for (;;) {
		size_t home;

		i = (i + 1) & b->mask;
		if (!b->places[i].address)
			break;
		home = blocks_home(b, b->places[i].address);
		if (((i - home) & b->mask) < ((i - gap) & b->mask))
			continue;
		b->places[gap] = b->places[i];
		gap = i;
	}
	b->places[gap].address = 0;
}
