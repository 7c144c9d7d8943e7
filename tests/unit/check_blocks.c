/* SPDX-License-Identifier: Apache-2.0 */
/* The table of live blocks against a plain array. */
#include "tools/blocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "unit.h"

enum { ADDRESSES = 5000, STEPS = 300000 };

static uint64_t
address_of(unsigned i, unsigned spread)
{
	return (uint64_t)(i + 1) << spread;
}

static void
try_at_random(unsigned spread, unsigned seed)
{
	static bool live[ADDRESSES];
	struct blocks b;
	size_t count = 0;

	blocks_init(&b);
	for (unsigned i = 0; i < ADDRESSES; i++)
		live[i] = false;
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i;
		uint64_t address;
		struct block *block;

		seed = seed * 1664525 + 1013904223;
		i = (seed >> 8) % ADDRESSES;
		address = address_of(i, spread);
		block = blocks_place(&b, address);
		ck_assert_int_eq(block->address == address, live[i]);
		if (live[i])
			blocks_remove(&b, block);
		else
			blocks_take(&b, block, address)->requested = i;
		live[i] = !live[i];
		count = live[i] ? count + 1 : count - 1;
		ck_assert_uint_eq(b.count, count);
	}
	for (unsigned i = 0; i < ADDRESSES; i++) {
		struct block *block = blocks_find(&b, address_of(i, spread));

		ck_assert_int_eq(block != NULL, live[i]);
		if (block)
			ck_assert_uint_eq(block->requested, i);
	}
	blocks_free(&b);
}

START_TEST(blocks_are_found_where_they_are_live)
{
	for (unsigned spread = 0; spread <= 48; spread += 4)
		try_at_random(spread, 12345 + spread);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, blocks_are_found_where_they_are_live);
}

int
main(void)
{
	return unit_run("blocks", add);
}
