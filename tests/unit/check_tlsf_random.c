/* SPDX-License-Identifier: Apache-2.0 */
/* The pure heap against a model of it, at random: what blocks hold, where
 * they may lie, and what the heap says of itself. */
#include <stdio.h>

#include "heap.h"

enum {
	BLOCKS = 1500,
#ifdef __SANITIZE_ADDRESS__
	OPERATIONS = 200000,
#else
	OPERATIONS = 1000000,
#endif
	WATCHED = 20000,	/* looked at as a whole after each */
	SELDOM = 1000,		/* and from then on after so many */
	ARENA = 64 << 20,
};

struct block {
	unsigned char *at;
	size_t size;		/* as asked for */
	size_t align;
	unsigned char fill;
};

static struct block blocks[BLOCKS];
static uint64_t seed, used, peak, live;

static uint32_t
number(void)
{
	return random_number(&seed);
}

/* Small ones most of the time; any order of magnitude. */
static size_t
some_size(void)
{
	return number() & (((size_t)1 << number() % 17) - 1);
}

static size_t
some_align(void)
{
	return number() % 4 ? TLSF_ALIGN : (size_t)1 << number() % 14;
}

static bool
holds(const struct block *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (b->at[i] != b->fill)
			return false;
	return true;
}

/* The block is where it may be, and from now on full of what is its own. */
static void
own(struct block *b, void *at, size_t size, size_t align)
{
	size_t usable = tlsf_usable(at);

	ck_assert_uint_ge(usable, size);
	ck_assert_uint_eq((uintptr_t)at % align, 0);
	ck_assert_uint_eq((uintptr_t)at % TLSF_ALIGN, 0);
	ck_assert(tlsf_is(at, TLSF_USED));
	*b = (struct block){ at, size, align, (unsigned char)number() };
	memset(at, b->fill, usable);
	used += usable + TLSF_OVERHEAD;
	peak = used > peak ? used : peak;
	live++;
}

static void
disown(struct block *b)
{
	used -= tlsf_usable(b->at) + TLSF_OVERHEAD;
	live--;
}

/* No block is free that is bigger by a list's step. */
static void
refused(size_t size, size_t align)
{
	if (align <= TLSF_ALIGN)
		ck_assert_uint_lt(see().largest, size + size / 16 + 48);
}

static void
try_take(struct block *b)
{
	size_t size = some_size(), align = some_align();
	void *at = align > TLSF_ALIGN || number() % 8 == 0
	    ? tlsf_memalign(&t, align, size) : tlsf_malloc(&t, size);

	if (at)
		own(b, at, size, align);
	else
		refused(size, align);
}

static void
try_give(struct block *b)
{
	ck_assert(holds(b, tlsf_usable(b->at)));
	if (number() % 4 == 0)
		tlsf_set(b->at, TLSF_KEPT);
	disown(b);
	ck_assert_int_eq(tlsf_free(&t, b->at), TLSF_FINE);
	b->at = NULL;
}

static void
try_resize(struct block *b)
{
	size_t size = some_size(), had = tlsf_usable(b->at);
	unsigned char *at = b->at;

	disown(b);
	ck_assert(tlsf_resize(&t, at, size) || size > had);
	if (tlsf_usable(at) < size)
		size = b->size < had ? b->size : had;
	ck_assert(holds(b, tlsf_usable(at) < had ? tlsf_usable(at) : had));
	own(b, at, size, b->align);
}

static void
try_realloc(struct block *b)
{
	size_t size = some_size(), had = tlsf_usable(b->at);
	size_t align = number() % 4 ? b->align : some_align();
	uint8_t label = (uint8_t)number();
	void *at;

	ck_assert(holds(b, had));
	disown(b);
	tlsf_header(b->at)->label = label;
	at = tlsf_realloc(&t, b->at, align, size);
	if (!at) {
		refused(size, align);
		own(b, b->at, b->size, b->align);
		return;
	}
	b->at = at;
	ck_assert(holds(b, had < size ? had : size));
	ck_assert_int_eq(tlsf_header(at)->label, label);
	/* For a moment both the old and the new one were there. */
	peak = t.peak > peak && t.peak <= used + had + TLSF_OVERHEAD
	    + tlsf_usable(at) + TLSF_OVERHEAD ? t.peak : peak;
	own(b, at, size, align);
}

static void
compare(void)
{
	struct seen s = see();

	sound();
	ck_assert_uint_eq(t.used, used);
	ck_assert_uint_eq(t.peak, peak);
	ck_assert_uint_eq(t.blocks, live);
	ck_assert_uint_eq(s.used_blocks, live);
	ck_assert_uint_le(tlsf_largest(&t), s.largest);
	ck_assert_uint_ge(tlsf_largest(&t), s.largest - s.largest / 32);
}

/* The next piece of the arena, touching the last or not. */
static void
grow(char *arena, size_t *at)
{
	size_t bytes = 1 + some_size() * 4;

	if (number() % 3 == 0)
		*at += 1 + number() % 100;
	if (*at + bytes > ARENA)
		return;
	tlsf_add(&t, arena + *at, bytes);
	*at += bytes;
}

static void
step(char *arena, size_t *at, unsigned i)
{
	struct block *b = &blocks[number() % BLOCKS];
	unsigned what = number() % 8;

	/* Fuller and emptier by turns. */
	if (!b->at && what >= (i / 5000 % 2 ? 6 : 2))
		try_take(b);
	else if (b->at && what < 2)
		try_resize(b);
	else if (b->at && what < 4)
		try_realloc(b);
	else if (b->at)
		try_give(b);
	if (number() % 200 == 0)
		grow(arena, at);
}

START_TEST(random_operations_agree_with_a_model)
{
	const char *given = getenv("TLSF_SEED");
	char *arena = sparse(ARENA);
	size_t at = 13;

	seed = given ? strtoull(given, NULL, 10) : 20260101;
	printf("# TLSF_SEED=%llu\n", (unsigned long long)seed);
	ck_assert_ptr_nonnull(arena);
	memset(&t, 0xa5, sizeof(t));
	tlsf_init(&t);
	for (unsigned i = 0; i < OPERATIONS; i++) {
		step(arena, &at, i);
		if (i < WATCHED || i % SELDOM == 0)
			compare();
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		if (blocks[i].at)
			try_give(&blocks[i]);
	compare();
	ck_assert_uint_eq(t.used, 0);
	ck_assert_uint_gt(areas(), 1);
	ck_assert_uint_eq(see().free_blocks, areas());
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, random_operations_agree_with_a_model);
}

int
main(void)
{
	return unit_run("tlsf_random", add);
}
