/* SPDX-License-Identifier: Apache-2.0 */
/* The pure heap, looked at as a whole after every step. */
#include "lib/tlsf/tlsf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

static struct tlsf t;

static void
sound(void)
{
	const char *wrong = tlsf_check(&t);

	ck_assert_msg(!wrong, "%s", wrong);
}

/* Memory that is there only where it is touched; NULL if it is refused. */
static char *
sparse(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static char *
pool_of(size_t bytes)
{
	char *memory = sparse(bytes);

	ck_assert_ptr_nonnull(memory);
	tlsf_init(&t);
	ck_assert(tlsf_add(&t, memory, bytes));
	sound();
	return memory;
}

START_TEST(freed_neighbours_become_one_block)
{
	size_t all;
	void *a, *b, *c;

	pool_of(64 * 1024);
	all = tlsf_largest(&t);
	ck_assert_uint_eq(all, 64 * 1024 - TLSF_AREA_OVERHEAD - TLSF_OVERHEAD);
	a = tlsf_malloc(&t, 1000);
	sound();
	b = tlsf_malloc(&t, 2000);
	sound();
	c = tlsf_malloc(&t, 3000);
	sound();
	ck_assert_int_eq(tlsf_free(&t, a), TLSF_FINE);
	sound();
	ck_assert_int_eq(tlsf_free(&t, c), TLSF_FINE);
	sound();
	ck_assert_int_eq(tlsf_free(&t, b), TLSF_FINE);
	sound();
	ck_assert_uint_eq(tlsf_largest(&t), all);
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, freed_neighbours_become_one_block);
}

int
main(void)
{
	return unit_run("tlsf", add);
}
