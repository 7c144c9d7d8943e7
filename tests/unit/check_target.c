/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that lie about themselves, and where logs may go. */
#include "tools/image.h"
#include "tools/logs.h"
#include "tools/target.h"

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
copy_self(struct image *copy)
{
	struct image self;
	unsigned char *bytes;

	ck_assert(image_open(&self, "/proc/self/exe"));
	bytes = malloc(self.size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, self.bytes, self.size);
	*copy = (struct image){ bytes, self.size };
	image_close(&self);
}

START_TEST(this_program_is_what_it_was_built_as)
{
	char what[IMAGE_WHAT];
	struct image self;
	enum image_kind kind;

	ck_assert(image_open(&self, "/proc/self/exe"));
	kind = image_kind(&self, what);
	ck_assert(kind == IMAGE_PLAIN || kind == IMAGE_SANITIZER);
	image_close(&self);
}
END_TEST

/* A copy on the heap, so that a sanitizer sees a step beyond its end. */
START_TEST(a_program_cut_anywhere_is_read_within_its_bytes)
{
	char what[IMAGE_WHAT];
	struct image whole;

	copy_self(&whole);
	for (size_t size = 0; size < whole.size;
	    size += size < 4096 ? 1 : whole.size / 200) {
		unsigned char *bytes = malloc(size ? size : 1);
		struct image cut = { bytes, size };

		memcpy(bytes, whole.bytes, size);
		image_kind(&cut, what);
		ck_assert_uint_lt(strnlen(what, sizeof what), sizeof what);
		free(bytes);
	}
	free((void *)whole.bytes);
}
END_TEST

START_TEST(a_program_with_any_bytes_changed_is_too)
{
	char what[IMAGE_WHAT];
	struct image lie;
	unsigned char *bytes;
	unsigned seed = 20;

	copy_self(&lie);
	bytes = (unsigned char *)lie.bytes;
	for (int round = 0; round < 2000; round++) {
		size_t at[4];
		unsigned char was[4];

		for (int i = 0; i < 4; i++) {
			/* Mostly the headers, at both ends of the file. */
			size_t span = lie.size < 3000 ? lie.size : 3000;
			size_t n = (size_t)rand_r(&seed) % span;

			at[i] = rand_r(&seed) & 1 ? n : lie.size - 1 - n;
			was[i] = bytes[at[i]];
			bytes[at[i]] = (unsigned char)(rand_r(&seed) & 1
			    ? 255 : rand_r(&seed));
		}
		image_kind(&lie, what);
		for (int i = 3; i >= 0; i--)
			bytes[at[i]] = was[i];
	}
	free(bytes);
}
END_TEST

START_TEST(path_is_searched_as_execvp_does)
{
	char folder[] = "/tmp/check_target.XXXXXX";
	char path[PATH_MAX], name[2 * PATH_MAX];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(name, sizeof name, "%s/plain", folder);
	ck_assert_int_eq(mknod(name, S_IFREG | 0644, 0), 0);
	snprintf(path, sizeof path, "/nowhere::%s:/bin", folder);
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	ck_assert_int_eq(target_find("sh", path), 0);
	ck_assert_str_eq(path, "/bin/sh");
	ck_assert_int_eq(target_find("plain", path), EACCES);
	ck_assert_int_eq(target_find("", path), ENOENT);
	ck_assert_int_eq(target_find("no-such-program", path), ENOENT);
	ck_assert_int_eq(target_find("/etc", path), EACCES);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	ck_assert_int_eq(target_find(name, path), ENAMETOOLONG);
	ck_assert_int_eq(unsetenv("PATH"), 0);
	ck_assert_int_eq(target_find("sh", path), 0);
	snprintf(name, sizeof name, "%s/plain", folder);
	unlink(name);
	rmdir(folder);
}
END_TEST

START_TEST(the_folder_at_fault_is_named)
{
	char folder[PATH_MAX];

	ck_assert_int_eq(logs_refused("/tmp/none/such/%e/x.log", folder), 0);
	ck_assert_int_eq(logs_refused("/x%p/y", folder),
	    access("/", W_OK) ? EACCES : 0);
	ck_assert_int_eq(logs_refused("/dev/null/x/y.log", folder), ENOTDIR);
	ck_assert_str_eq(folder, "/dev/null/x/");
}
END_TEST

START_TEST(a_name_is_settled_where_we_stand)
{
	char path[PATH_MAX], name[PATH_MAX + 1];

	ck_assert_int_eq(chdir("/tmp"), 0);
	ck_assert_pstr_eq(logs_settle("a/%p.log", path), NULL);
	ck_assert_str_eq(path, "/tmp/a/%p.log");
	ck_assert_pstr_eq(logs_settle("/a", path), NULL);
	ck_assert_str_eq(path, "/a");
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	ck_assert_ptr_nonnull(logs_settle(name, path));
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, this_program_is_what_it_was_built_as);
	tcase_add_test(t, a_program_cut_anywhere_is_read_within_its_bytes);
	tcase_add_test(t, a_program_with_any_bytes_changed_is_too);
	tcase_add_test(t, path_is_searched_as_execvp_does);
	tcase_add_test(t, the_folder_at_fault_is_named);
	tcase_add_test(t, a_name_is_settled_where_we_stand);
}

int
main(void)
{
	return unit_run("target", add);
}
