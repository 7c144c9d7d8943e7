/* SPDX-License-Identifier: Apache-2.0 */
/* What the variables of the TLSF heap may say; all else ends the process. */
#include "lib/rt/settings.h"

#include <stdlib.h>

#include "unit.h"

static const struct rt_settings *
settings_with(const char *name, const char *value)
{
	static struct rt_settings s;

	ck_assert_int_eq(setenv(name, value, 1), 0);
	rt_settings_read(&s);
	ck_assert_int_eq(unsetenv(name), 0);
	return &s;
}

START_TEST(what_is_empty_is_not_set)
{
	const struct rt_settings *s =
	    settings_with("INITIAL_MEMPOOL_SIZE", "");

	ck_assert_uint_eq(s->initial, 100000000);
	ck_assert_uint_eq(s->additional, 100000000);
	ck_assert(!s->has_thread_cache);
	ck_assert(s->on_exhaust == RT_GROW);
	ck_assert(s->huge == RT_HUGE_OFF);
	ck_assert(!s->lock_memory);
	ck_assert(!s->summary);
}
END_TEST

START_TEST(sizes_are_digits_and_one_unit)
{
	ck_assert_uint_eq(settings_with("INITIAL_MEMPOOL_SIZE", "0")->initial,
	    0);
	ck_assert_uint_eq(settings_with("INITIAL_MEMPOOL_SIZE", "3k")->initial,
	    3072);
	ck_assert_uint_eq(settings_with("ADDITIONAL_MEMPOOL_SIZE",
	    "3T")->additional, UINT64_C(3) << 40);
	ck_assert_uint_eq(settings_with("HEAPHOOK_THREAD_CACHE",
	    "0")->thread_cache, 0);
	ck_assert(settings_with("HEAPHOOK_THREAD_CACHE",
	    "0")->has_thread_cache);
}
END_TEST

START_TEST(words_are_those_of_the_manual)
{
	ck_assert(settings_with("HEAPHOOK_ON_EXHAUST", "enomem")->on_exhaust
	    == RT_ENOMEM);
	ck_assert(settings_with("HEAPHOOK_ON_EXHAUST", "abort")->on_exhaust
	    == RT_ABORT);
	ck_assert(settings_with("HEAPHOOK_HUGEPAGES", "try")->huge
	    == RT_HUGE_TRY);
	ck_assert(settings_with("HEAPHOOK_HUGEPAGES", "require")->huge
	    == RT_HUGE_REQUIRE);
	ck_assert(settings_with("HEAPHOOK_LOCK_MEMORY", "1")->lock_memory);
	ck_assert(!settings_with("HEAPHOOK_LOCK_MEMORY", "0")->lock_memory);
	ck_assert(settings_with("HEAPHOOK_SUMMARY", "1")->summary);
}
END_TEST

static const struct {
	const char *name, *value;
} wrong[] = {
	{ "INITIAL_MEMPOOL_SIZE", "-1" },
	{ "INITIAL_MEMPOOL_SIZE", " 1" },
	{ "INITIAL_MEMPOOL_SIZE", "1 " },
	{ "INITIAL_MEMPOOL_SIZE", "+1" },
	{ "INITIAL_MEMPOOL_SIZE", "0x10" },
	{ "INITIAL_MEMPOOL_SIZE", "1e6" },
	{ "INITIAL_MEMPOOL_SIZE", "1MB" },
	{ "INITIAL_MEMPOOL_SIZE", "1\nM" },
	{ "INITIAL_MEMPOOL_SIZE", "18446744073709551615" },
	{ "INITIAL_MEMPOOL_SIZE", "18446744073709551616" },
	{ "INITIAL_MEMPOOL_SIZE", "16777216T" },
	{ "ADDITIONAL_MEMPOOL_SIZE", "K" },
	{ "ADDITIONAL_MEMPOOL_SIZE", "18446744073709551615" },
	{ "HEAPHOOK_THREAD_CACHE", "none" },
	{ "HEAPHOOK_ON_EXHAUST", "GROW" },
	{ "HEAPHOOK_LOCK_MEMORY", "yes" },
	{ "HEAPHOOK_HUGEPAGES", "1" },
	{ "HEAPHOOK_SUMMARY", "2" },
};

START_TEST(any_other_value_ends_the_process)
{
	settings_with(wrong[_i].name, wrong[_i].value);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, what_is_empty_is_not_set);
	tcase_add_test(t, sizes_are_digits_and_one_unit);
	tcase_add_test(t, words_are_those_of_the_manual);
	tcase_add_loop_exit_test(t, any_other_value_ends_the_process, 125, 0,
	    sizeof wrong / sizeof wrong[0]);
}

int
main(void)
{
	return unit_run("settings", add);
}
