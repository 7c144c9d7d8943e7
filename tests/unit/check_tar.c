/* SPDX-License-Identifier: Apache-2.0 */
/* What one side puts into an archive the other finds there, also what is too
 * long or too big for a plain header; and nothing else is believed. */
#include "tools/tar.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/room.h"
#include "unit.h"

static FILE *file;

/* An archive of one file, with its end if WHOLE; its contents are a hole. */
static void
begin(const char *name, uint64_t bytes, bool whole)
{
	const struct tar_member m = {
		.name = (char *)name, .bytes = bytes, .changed = 1700000000,
	};
	static const char end[TAR_END * TAR_BLOCK];

	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	tar_put(file, &m);
	ck_assert_int_eq(fseeko(file,
	    (off_t)(bytes + -bytes % TAR_BLOCK), SEEK_CUR), 0);
	fflush(file);
	ck_assert_int_eq(ftruncate(fileno(file), ftello(file)), 0);
	if (whole)
		fwrite(end, 1, sizeof end, file);
	fflush(file);
}

static struct tar
opened(void)
{
	struct tar t = { .fd = fileno(file) };

	fseeko(file, 0, SEEK_END);
	t.bytes = (uint64_t)ftello(file);
	return t;
}

static void
expect_back(const char *name, uint64_t bytes)
{
	struct tar t;
	struct tar_member m;

	begin(name, bytes, true);
	t = opened();
	ck_assert(tar_next(&t, &m));
	ck_assert_str_eq(m.name, name);
	ck_assert_uint_eq(m.bytes, bytes);
	ck_assert_int_eq(m.changed, 1700000000);
	ck_assert_uint_eq(m.at % TAR_BLOCK, 0);
	free(m.name);
	ck_assert(!tar_next(&t, &m));
	ck_assert_pstr_eq(t.wrong, NULL);
	fclose(file);
}

START_TEST(what_was_put_is_found)
{
	char name[4000];

	memset(name, 'n', sizeof name);
	expect_back("a", 0);
	expect_back("logs/a.log", 1);
	expect_back("logs/a.log", TAR_BLOCK);
	expect_back("logs/a.log", UINT64_C(077777777777));
	expect_back("logs/a.log", UINT64_C(0100000000000));
	/* Around lengths where that of a record's own number changes. */
	for (size_t n = 85; n < 105; n++) {
		name[n] = '\0';
		expect_back(name, 700);
		name[n] = 'n';
	}
	name[sizeof name - 1] = '\0';
	expect_back(name, UINT64_C(1) << 34);
}
END_TEST

static const char *
wrong(void)
{
	struct tar t = opened();
	struct tar_member m;

	while (tar_next(&t, &m))
		free(m.name);
	return t.wrong;
}

START_TEST(what_has_no_end_is_cut)
{
	begin("a", 100, false);
	ck_assert_str_eq(wrong(), "cut: its end is missing");
	fseeko(file, 0, SEEK_END);
	ck_assert_int_eq(ftruncate(fileno(file), 600), 0);
	ck_assert_str_eq(wrong(), "cut: a file in it ends early");
	ck_assert_int_eq(ftruncate(fileno(file), 500), 0);
	ck_assert_str_eq(wrong(), "cut: its end is missing");
	ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
	ck_assert_str_eq(wrong(), "cut: its end is missing");
	fclose(file);
}
END_TEST

/* Each byte of each header counts, but the contents do not, nor the last
 * byte of the sum, behind its end. */
START_TEST(a_header_that_was_changed_is_damaged)
{
	char name[150];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (off_t at = 0; at < 3 * TAR_BLOCK; at++) {
		bool idle = (at >= TAR_BLOCK && at < 2 * TAR_BLOCK)
		    || at % TAR_BLOCK == 155;
		int byte;

		begin(name, 100, true);
		fseeko(file, at, SEEK_SET);
		byte = fgetc(file);
		fseeko(file, at, SEEK_SET);
		fputc(byte ^ 0x10, file);
		fflush(file);
		if (!idle)
			ck_assert_msg(wrong() != NULL, "at %ld", (long)at);
		else
			wrong();
		fclose(file);
	}
}
END_TEST

START_TEST(a_size_beyond_all_bounds_is_none)
{
	static const char *const records[] = {
		"27 size=18446744073709551615\n",
		"30 size=18446744073709551615\n",
		"29 size=18446744073709551600\n",
		"9999999999999999999999999 size=1\n",
		"1 s\n", "8 size 1\n", "=", "\n", "5 a=b",
	};

	for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
		char name[150];

		memset(name, 'n', sizeof name - 1);
		name[sizeof name - 1] = '\0';
		begin(name, 100, true);
		fseeko(file, TAR_BLOCK, SEEK_SET);
		fwrite(records[i], 1, strlen(records[i]), file);
		fflush(file);
		ck_assert_ptr_nonnull(wrong());
		fclose(file);
	}
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, what_was_put_is_found);
	tcase_add_test(t, what_has_no_end_is_cut);
	tcase_add_test(t, a_header_that_was_changed_is_damaged);
	tcase_add_test(t, a_size_beyond_all_bounds_is_none);
}

int
main(void)
{
	return unit_run("tar", add);
}
