/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "code.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "../interpose/sys.h"
#include "file.h"

enum { PAGE = 4096 };

/* Wrong tables lead anywhere.  Who can be read is asked of the kernel, which
 * looks at a set of signals before it finds that we want nonsense. */
bool
hh_code_is_there(uintptr_t at)
{
	return hh_file_sealed() || hh_sys_call(SYS_rt_sigprocmask, ~0L,
	    (long)at, 0, 8, 0, 0) != -EFAULT;
}

bool
hh_code_ends_handler(uintptr_t pc)
{
#if defined __x86_64__
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0,
	    0x0f, 0x05 };
#elif defined __aarch64__
	static const unsigned char code[] = { 0x68, 0x11, 0x80, 0xd2,
	    0x01, 0x00, 0x00, 0xd4 };
#else
	static const unsigned char code[1];
#endif

	return hh_code_is_there(pc) && hh_code_is_there(pc + sizeof code - 8)
	    && memcmp((const void *)pc, code, sizeof code) == 0;
}

bool
hh_code_may_be(uintptr_t at)
{
	return at >= PAGE && at < -(uintptr_t)PAGE && !hh_file_sealed()
	    && hh_code_is_there(at);
}

#if defined __x86_64__

enum {
	CALL = 0xe8,		/* by 4 bytes behind it */
	GROUP = 0xff,		/* what is done says the next byte: */
	GROUP_CALL = 2,
	JUMP_NEAR = 0x25,	/* to where the word is, by 4 bytes behind */
	CALL_MOST = 7,		/* bytes */
};

static uintptr_t
relative(const unsigned char *end)
{
	int32_t by;

	memcpy(&by, end - sizeof by, sizeof by);
	return (uintptr_t)end + (uintptr_t)(intptr_t)by;
}

/* How long a call is whose place is told by the bytes at OPERAND; 0: it is
 * none.  Intel's manual, volume 2, 2.1.5. */
static unsigned
indirect_length(const unsigned char *operand)
{
	unsigned mode = operand[0] >> 6, where = operand[0] & 7;
	unsigned index = mode != 3 && where == 4;

	if ((operand[0] >> 3 & 7) != GROUP_CALL)
		return 0;
	if (mode == 0 && (where == 5 || (index && (operand[1] & 7) == 5)))
		mode = 2;
	return 2 + index + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

bool
hh_code_calls(uintptr_t pc, uintptr_t *called)
{
	const unsigned char *end = (const unsigned char *)pc;

	*called = 0;
	if (end[-5] == CALL) {
		*called = relative(end);
		return true;
	}
	for (unsigned n = 2; n <= CALL_MOST; n++)
		if (end[-(int)n] == GROUP
		    && indirect_length(end - n + 1) == n)
			return true;
	return false;
}

/* endbr64, maybe, and bnd, maybe, before jmp *by(%rip). */
uintptr_t
hh_code_jumps(uintptr_t pc)
{
	const unsigned char *at = (const unsigned char *)pc;

	if (memcmp(at, (const unsigned char[]){ 0xf3, 0x0f, 0x1e, 0xfa }, 4)
	    == 0)
		at += 4;
	if (*at == 0xf2)
		at++;
	if (at[0] != GROUP || at[1] != JUMP_NEAR)
		return pc;
	memcpy(&pc, (const void *)relative(at + 6), sizeof pc);
	return pc;
}

#elif defined __aarch64__

bool
hh_code_calls(uintptr_t pc, uintptr_t *called)
{
	uint32_t code;

	*called = 0;
	if (pc % sizeof code != 0)
		return false;
	memcpy(&code, (const void *)(pc - sizeof code), sizeof code);
	if (code >> 26 == 0x25) {	/* bl: 26 bits, with a sign */
		*called = pc - sizeof code
		    + (uintptr_t)(intptr_t)((int32_t)(code << 6) >> 4);
		return true;
	}
	return (code & 0xfffffc1f) == 0xd63f0000	/* blr */
	    || (code & 0xfefff800) == 0xd63f0800;	/* blraa and such */
}

#else

bool
hh_code_calls(uintptr_t pc, uintptr_t *called)
{
	(void)pc;
	*called = 0;
	return false;
}

#endif

#if !defined __x86_64__
uintptr_t
hh_code_jumps(uintptr_t pc)
{
	return pc;
}
#endif
