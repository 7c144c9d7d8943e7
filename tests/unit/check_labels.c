/* SPDX-License-Identifier: Apache-2.0 */
/* What a block's label promises of its size and alignment. */
#include "lib/tlsf/cache.h"

#include "unit.h"

START_TEST(a_label_serves_what_it_is_for)
{
	for (size_t size = 0; size <= LABEL_MOST; size++) {
		unsigned label = tlsf_label(size);

		ck_assert_uint_lt(label, LABEL_PLAIN);
		ck_assert_uint_ge(tlsf_label_size(label), size);
		ck_assert_uint_le(tlsf_label_size(label),
		    size + size / 8 + TLSF_LEAST);
		ck_assert_uint_eq(tlsf_label_align(label), TLSF_ALIGN);
	}
	for (unsigned power = LABEL_ALIGN_LOG2; power < 48; power++)
		for (size_t size = 0; size < 20000; size++) {
			size_t align = (size_t)1 << power;
			unsigned label = tlsf_label_aligned(align, size);

			ck_assert_uint_lt(label, LABELS);
			ck_assert_uint_eq(tlsf_label_align(label), align);
			ck_assert(tlsf_label_size(label) >= size
			    || !tlsf_label_size(label));
		}
}
END_TEST

START_TEST(a_resized_label_promises_what_is_there)
{
	for (unsigned old = 0; old < LABELS; old++)
		for (size_t usable = 24; usable < 40000; usable += 16) {
			unsigned label = tlsf_label_resized(old,
			    (usable + TLSF_OVERHEAD) / TLSF_ALIGN);

			if (old == 1)
				continue;	/* there is none */
			ck_assert_uint_le(tlsf_label_size(label), usable);
			ck_assert_uint_eq(tlsf_label_align(label),
			    tlsf_label_align(old));
			ck_assert(!tlsf_label_size(label)
			    || tlsf_label_size(label) > usable / 2);
		}
}
END_TEST

START_TEST(what_grows_has_room_and_not_too_much)
{
	for (uint64_t had = 2; had < TLSF_MOST / 32; had += had / 99 + 1)
		for (uint64_t by = 1; by < 2 * had; by += by / 3 + 1) {
			uint64_t room = tlsf_roomy(had, had + by);

			ck_assert_uint_ge(room, had + by);
			ck_assert_uint_ge(room, had + had / 8);
			ck_assert_uint_le(room - by - had,
			    had / 8 + (had + by) / 7 + 1);
		}
}
END_TEST

static void
add(TCase *tests)
{
	tcase_add_test(tests, a_label_serves_what_it_is_for);
	tcase_add_test(tests, a_resized_label_promises_what_is_there);
	tcase_add_test(tests, what_grows_has_room_and_not_too_much);
}

int
main(void)
{
	return unit_run("labels", add);
}
