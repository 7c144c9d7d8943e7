/* SPDX-License-Identifier: Apache-2.0 */
/* Each event is one line of seven words, and says all there is. */
#include "tools/dump.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "unit.h"

static struct maker m;

/* Without the line that names the log. */
static const char *
dumped(void)
{
	static const struct profile_part all = { .to_s = INFINITY };
	static char *text;
	char *path = maker_save(&m);
	struct reader log;
	size_t bytes;
	FILE *to;

	maker_end(&m);
	free(text);
	to = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(to);
	ck_assert_pstr_eq(reader_open(&log, path), NULL);
	dump_log(to, &log, &all, NULL);
	reader_close(&log);
	fclose(to);
	unlink(path);
	free(path);
	ck_assert_int_eq(text[0], '#');
	return strchr(text, '\n') + 1;
}

START_TEST(calls_say_what_came_and_went)
{
	maker_begin(&m);
	maker_slot(&m, 7, "main", 0);
	maker_malloc(&m, 0, 0x1000, 100, 1000000);
	maker_alloc(&m, 0, LOG_CALL_MEMALIGN, 0x2000, 5, 12, 19);
	maker_realloc(&m, 0, 0x1000, 0x3000, 8, 0);
	maker_free(&m, 0, 0x9000, 0);
	maker_failed(&m, 0, LOG_CALL_CALLOC, 77);
	maker_mark(&m, 0, "a b\\", 0);
	ck_assert_str_eq(dumped(),
	    "0.001000000 7 malloc 0x1000 100 104 -\n"
	    "0.001000000 7 memalign 0x2000 5 24 align=4096\n"
	    "0.001000000 7 realloc 0x3000 8 16 old=0x1000\n"
	    "0.001000000 7 free 0x9000 - - unknown\n"
	    "0.001000000 7 calloc - 77 - failed\n"
	    "0.001000000 7 mark - - - label=a\\x20b\\x5c\n");
}
END_TEST

START_TEST(stacks_are_numbers_and_lines_of_their_own)
{
	static char path[250] = "/lib/a b";

	memset(path + 8, 'p', sizeof path - 9);
	maker_begin(&m);
	maker_slot(&m, 7, "main", 0);
	maker_object(&m, 0, 0x11, 0x400000, 4096, "/bin/a b");
	maker_object(&m, 0, 0x700000, 0x700000, 8192, path);
	maker_frame(&m, 0, 1, 0, 0x400100);
	maker_frame(&m, 0, 2, 1, 0x400200);
	maker_malloc_at(&m, 0, 0x1000, 100, 0, 2);
	maker_realloc_at(&m, 0, 0x1000, 0x2000, 7, 0, 1);
	maker_unload(&m, 0, 0x400000);
	ck_assert_pstr_eq(strstr(dumped(), "0.000000000 7 path"),
	    "0.000000000 7 path - - - path=pppppppppppppp\n"
	    "0.000000000 7 frame 0x400100 - - stack=1,caller=0\n"
	    "0.000000000 7 frame 0x400200 - - stack=2,caller=1\n"
	    "0.000000000 7 malloc 0x1000 100 104 stack=2\n"
	    "0.000000000 7 realloc 0x2000 7 15 old=0x1000,stack=1\n"
	    "0.000000000 7 unload 0x400000 - - -\n");
	maker_begin(&m);
	maker_slot(&m, 7, "main", 0);
	maker_object(&m, 0, 0x11, 0x400000, 4096, "/bin/a b");
	ck_assert_str_eq(dumped(), "0.000000000 7 object 0x400000 4096 - "
	    "bias=0x11,build-id=1100000000000000,path=/bin/a\\x20b\n");
}
END_TEST

START_TEST(how_long_a_call_took_is_an_eighth_word)
{
	maker_begin(&m);
	m.head.h.took_units = 4;
	maker_slot(&m, 7, "main", 0);
	maker_malloc(&m, 0, 0x1000, 100, 1000000);
	maker_took(&m, 0, 43);
	maker_free(&m, 0, 0x1000, 0);
	maker_mark(&m, 0, "x", 0);
	ck_assert_str_eq(dumped(),
	    "0.001000000 7 malloc 0x1000 100 104 - 11\n"
	    "0.001000000 7 free 0x1000 100 104 - -\n"
	    "0.001000000 7 mark - - - label=x -\n");
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, how_long_a_call_took_is_an_eighth_word);
	tcase_add_test(t, calls_say_what_came_and_went);
	tcase_add_test(t, stacks_are_numbers_and_lines_of_their_own);
}

int
main(void)
{
	return unit_run("dump", add);
}
