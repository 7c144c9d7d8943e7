/* SPDX-License-Identifier: Apache-2.0 */
/* Places in C: plain, recursive, inlined, and with names from Rust. */
#include "places.h"

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

NOINLINE void places(void);
void rust_old(void) __asm__(
    "_ZN5plant6basket4grow17h0123456789abcdefE");
void rust_new(void) __asm__("_RNvMNtC5plant6basketNtB2_6Basket4grow");

NOINLINE static void
plain(void)
{
	PLACE("plain places.c:%d", __LINE__);
}

NOINLINE static int
recursive(int n)
{
	int sum = n ? recursive(n - 1) + n : 0;

	PLACE("recursive places.c:%d", __LINE__);
	return sum;
}

INLINE void
inner(int middle_line, int outer_line)
{
	static const char chain[] = "inner places.c:%d"
	    " < middle places.c:%d < outer places.c:%d";

	PLACE(chain, __LINE__, middle_line, outer_line);
}

INLINE void
middle(int outer_line)
{
	inner(__LINE__, outer_line);
}

NOINLINE static void
outer(int n)
{
	if (n) {
		int lines = 0;

		lines += n;
		if (lines)
			middle(__LINE__);
	}
}

NOINLINE void
rust_old(void)
{
	PLACE("plant::basket::grow places.c:%d", __LINE__);
}

NOINLINE void
rust_new(void)
{
	PLACE("<plant::basket::Basket>::grow places.c:%d", __LINE__);
}

void
places(void)
{
	plain();
	recursive(2);
	outer(1);
	rust_old();
	rust_new();
	PLACE("places places.c:%d", __LINE__);
}

#ifndef NO_MAIN
int
main(void)
{
	places();
	PLACE("main places.c:%d", __LINE__);
	return 0;
}
#endif
