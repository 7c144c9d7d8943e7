/* SPDX-License-Identifier: Apache-2.0 */
/* What the variables ask of the heap.  A real-time program must not run on
 * another heap than the one asked for: what is malformed or cannot be had
 * refuses it. */
#ifndef RT_SETTINGS_H
#define RT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum rt_exhaust { RT_GROW, RT_ENOMEM, RT_ABORT };
enum rt_huge { RT_HUGE_OFF, RT_HUGE_TRY, RT_HUGE_REQUIRE };

struct rt_settings {
	uint64_t initial, additional;	/* bytes; 0: no pool yet, never grow */
	uint64_t thread_cache;		/* bytes, when it was set */
	bool has_thread_cache;
	enum rt_exhaust on_exhaust;
	bool lock_memory;
	enum rt_huge huge;
	bool summary;
};

/* From the environment, the rest by default; or does not return. */
void rt_settings_read(struct rt_settings *s);

/* Ends the process with one line: the variable, the value, what was
 * expected. */
_Noreturn void rt_refuse(const char *name, const char *expected);

#endif
