/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions one by one: after each, while it is on, comes SIGTRAP. */
#ifndef STEP_H
#define STEP_H

#include <signal.h>
#include <stddef.h>

static inline void
step(size_t on)
{
#ifdef __x86_64__
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; pop %%rax;"
	    "and $~0x100, %%rax; or %0, %%rax; push %%rax; popfq;"
	    "lea 128(%%rsp), %%rsp" : : "r"(on << 8) : "rax", "cc", "memory");
#else
	if (on)
		raise(SIGTRAP);
#endif
}

#endif
