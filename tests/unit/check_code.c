/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of code by its bytes: every form of a call, as assemblers write
 * it, and nothing else. */
#include "lib/track/code.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/interpose/sys.h"
#include "lib/track/file.h"
#include "unit.h"

/* What code.c takes from a recorder that is not here. */
static bool sealed;

bool
hh_file_sealed(void)
{
	return sealed;
}

#if defined __x86_64__

static const struct {
	const char *text;
	unsigned length;
	unsigned char bytes[8];
} calls[] = {
	{ "call *%rax", 2, { 0xff, 0xd0 } },
	{ "call *%r11", 3, { 0x41, 0xff, 0xd3 } },
	{ "call *(%rax)", 2, { 0xff, 0x10 } },
	{ "call *(%rsp)", 3, { 0xff, 0x14, 0x24 } },
	{ "call *8(%rbp)", 3, { 0xff, 0x55, 0x08 } },
	{ "call *16(%rsp)", 4, { 0xff, 0x54, 0x24, 0x10 } },
	{ "call *0x1000(%rdx)", 6, { 0xff, 0x92, 0x00, 0x10, 0x00, 0x00 } },
	{ "call *0x1000(%rsp)", 7,
	    { 0xff, 0x94, 0x24, 0x00, 0x10, 0x00, 0x00 } },
	{ "call *0x40(%rip)", 6, { 0xff, 0x15, 0x40, 0x00, 0x00, 0x00 } },
	{ "call *table(,%rax,8)", 7,
	    { 0xff, 0x14, 0xc5, 0x00, 0x10, 0x40, 0x00 } },
}, others[] = {
	{ "jmp *%rax", 2, { 0xff, 0xe0 } },
	{ "push (%rax)", 2, { 0xff, 0x30 } },
	{ "inc %eax", 2, { 0xff, 0xc0 } },
	{ "jmp *0x40(%rip)", 6, { 0xff, 0x25, 0x40, 0x00, 0x00, 0x00 } },
	{ "call *8(%rbp), less its last byte", 2, { 0xff, 0x55 } },
	{ "ret", 1, { 0xc3 } },
};

enum { ROOM = 16 };

/* Where code ends that is N of BYTES, behind what means nothing. */
static uintptr_t
put(unsigned char *room, const unsigned char *bytes, unsigned n)
{
	memset(room, 0x90, ROOM);
	memcpy(room + ROOM - n, bytes, n);
	return (uintptr_t)room + ROOM;
}

START_TEST(calls_are_known)
{
	unsigned char room[ROOM];
	uintptr_t called;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		ck_assert_msg(hh_code_calls(put(room, calls[i].bytes,
		    calls[i].length), &called), "%s", calls[i].text);
		ck_assert_msg(called == 0, "%s", calls[i].text);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ck_assert_msg(!hh_code_calls(put(room, others[i].bytes,
		    others[i].length), &called), "%s", others[i].text);
}
END_TEST

START_TEST(a_direct_call_says_of_what)
{
	static const unsigned char back[] = { 0xe8, 0xf0, 0xff, 0xff, 0xff };
	unsigned char room[ROOM];
	uintptr_t called, pc = put(room, back, sizeof back);

	ck_assert(hh_code_calls(pc, &called));
	ck_assert_uint_eq(called, pc - 16);
}
END_TEST

/* endbr64 and bnd may be before it. */
START_TEST(a_jump_through_a_table_is_followed)
{
	static const unsigned char mark[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2 };
	static const unsigned char jump[] = { 0xff, 0x25, 0x02, 0, 0, 0 };
	unsigned char room[32];
	uintptr_t to = 0x123456;

	memcpy(room + 5, jump, sizeof jump);
	memcpy(room + 5 + sizeof jump + 2, &to, sizeof to);
	ck_assert_uint_eq(hh_code_jumps((uintptr_t)room + 5), to);
	memcpy(room, mark, sizeof mark);
	ck_assert_uint_eq(hh_code_jumps((uintptr_t)room), to);
	room[5] = 0x90;
	ck_assert_uint_eq(hh_code_jumps((uintptr_t)room), (uintptr_t)room);
}
END_TEST

#endif

START_TEST(what_cannot_be_read_is_no_code)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 4096, 4096);
	ck_assert(hh_code_may_be((uintptr_t)page));
	ck_assert(hh_code_may_be((uintptr_t)page + 4088));
	ck_assert(!hh_code_may_be((uintptr_t)page + 4092));
	ck_assert(!hh_code_may_be((uintptr_t)page + 4096));
	ck_assert(!hh_code_may_be(0));
	ck_assert(!hh_code_may_be(16));
	ck_assert(!hh_code_may_be(UINTPTR_MAX - 4));
	sealed = true;
	ck_assert(!hh_code_may_be((uintptr_t)page));
}
END_TEST

static void
add(TCase *tests)
{
#if defined __x86_64__
	tcase_add_test(tests, calls_are_known);
	tcase_add_test(tests, a_direct_call_says_of_what);
	tcase_add_test(tests, a_jump_through_a_table_is_followed);
#endif
	tcase_add_test(tests, what_cannot_be_read_is_no_code);
}

int
main(void)
{
	return unit_run("code", add);
}
