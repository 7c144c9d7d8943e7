/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

const char *const calls_names[LOG_CALLS] = {
	[LOG_CALL_MALLOC] = "malloc", [LOG_CALL_CALLOC] = "calloc",
	[LOG_CALL_REALLOC] = "realloc",
	[LOG_CALL_REALLOCARRAY] = "reallocarray",
	[LOG_CALL_POSIX_MEMALIGN] = "posix_memalign",
	[LOG_CALL_ALIGNED_ALLOC] = "aligned_alloc",
	[LOG_CALL_MEMALIGN] = "memalign", [LOG_CALL_VALLOC] = "valloc",
	[LOG_CALL_PVALLOC] = "pvalloc", [LOG_CALL_FREE] = "free",
	[LOG_CALL_MMAP] = "mmap", [LOG_CALL_MUNMAP] = "munmap",
	[LOG_CALL_MREMAP] = "mremap", [LOG_CALL_BRK] = "brk",
};
