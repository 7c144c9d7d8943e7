/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and numbers as people write and read them. */
#include "tools/cli.h"

#include "unit.h"

START_TEST(size_is_digits_and_one_unit)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 }, { "1", 1 }, { "007", 7 }, { "1k", 1024 },
		{ "1K", 1024 }, { "3m", 3 << 20 }, { "2G", UINT64_C(2) << 30 },
		{ "5t", UINT64_C(5) << 40 },
		{ "18446744073709551615", UINT64_MAX },
		{ "16777215T", UINT64_C(16777215) << 40 },
	};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		ck_assert_msg(cli_size(good[i].text, &bytes), "%s refused",
		    good[i].text);
		ck_assert_uint_eq(bytes, good[i].bytes);
	}
}
END_TEST

START_TEST(any_other_size_is_refused)
{
	static const char *const bad[] = {
		"", "k", "-1", "+1", " 1", "1 ", "1kk", "1kB", "1KiB", "1.5M",
		"0x10", "1e9", "18446744073709551616", "16777216T",
		"99999999999999999999999",
	};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(!cli_size(bad[i], &bytes), "%s taken", bad[i]);
}
END_TEST

START_TEST(time_is_seconds_or_has_a_unit)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 }, { "2", 2000000000 }, { "1.5", 1500000000 },
		{ "0.000000001", 1 }, { "0.0000000019", 1 },
		{ "3s", 3000000000 },
		{ "1.25ms", 1250000 }, { "7us", 7000 }, { "2m", 120000000000 },
		{ "1.5h", 5400000000000 }, { "0.999999999h", 3599999996400 },
		{ "18446744073.709551615", UINT64_MAX },
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		ck_assert_msg(cli_time(good[i].text, &ns), "%s refused",
		    good[i].text);
		ck_assert_uint_eq(ns, good[i].ns);
	}
}
END_TEST

START_TEST(any_other_time_is_refused)
{
	static const char *const bad[] = {
		"", "s", ".5", "1.", "1.s", "-1", "1 s", "1d", "1ss", "1.2.3",
		"18446744073.709551616", "5124096h",
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(!cli_time(bad[i], &ns), "%s taken", bad[i]);
}
END_TEST

START_TEST(bytes_have_three_digits_and_a_unit)
{
	ck_assert_str_eq(cli_bytes(0).text, "0 B");
	ck_assert_str_eq(cli_bytes(1023).text, "1023 B");
	ck_assert_str_eq(cli_bytes(1024).text, "1.00 KiB");
	ck_assert_str_eq(cli_bytes(100 << 10).text, "100 KiB");
	ck_assert_str_eq(cli_bytes(1536 << 10).text, "1.50 MiB");
	ck_assert_str_eq(cli_bytes((1 << 20) - 1).text, "1.00 MiB");
	ck_assert_str_eq(cli_bytes(UINT64_MAX).text, "16.0 EiB");
}
END_TEST

START_TEST(counts_have_commas)
{
	ck_assert_str_eq(cli_plural(1), "");
	ck_assert_str_eq(cli_plural(0), "s");
	ck_assert_str_eq(cli_count(0).text, "0");
	ck_assert_str_eq(cli_count(999).text, "999");
	ck_assert_str_eq(cli_count(1000003).text, "1,000,003");
	ck_assert_str_eq(cli_count(UINT64_MAX).text,
	    "18,446,744,073,709,551,615");
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, size_is_digits_and_one_unit);
	tcase_add_test(t, any_other_size_is_refused);
	tcase_add_test(t, time_is_seconds_or_has_a_unit);
	tcase_add_test(t, any_other_time_is_refused);
	tcase_add_test(t, bytes_have_three_digits_and_a_unit);
	tcase_add_test(t, counts_have_commas);
}

int
main(void)
{
	return unit_run("cli", add);
}
