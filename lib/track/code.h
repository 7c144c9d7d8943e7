/* SPDX-License-Identifier: Apache-2.0 */
/* What can be told of code by its bytes.  No lock, no memory; any thread may
 * call these at any moment. */
#ifndef HH_CODE_H
#define HH_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether AT can be read; in a process that may not ask, true. */
bool hh_code_is_there(uintptr_t at);

/* Whether PC is what a signal handler returns to: it often has no table, and
 * kernels say that it is to be known by its instructions, rt_sigreturn and
 * nothing else. */
bool hh_code_ends_handler(uintptr_t pc);

/* Whether there may be code at AT: 8 bytes can be read, and for sure. */
bool hh_code_may_be(uintptr_t at);

/* Whether the instruction that ends at PC, before which 8 bytes can be read,
 * is a call, and of what; 0: not to be seen. */
bool hh_code_calls(uintptr_t pc, uintptr_t *called);

/* Where the function at PC, whose code can be read, jumps to at once, as those
 * of a linkage table do; else PC. */
uintptr_t hh_code_jumps(uintptr_t pc);

#endif
