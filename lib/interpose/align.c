/* SPDX-License-Identifier: Apache-2.0 */
/* glibc's rules for aligned requests. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "backend.h"

enum { ALIGN_LEAST = 16 };

static bool
is_power(size_t v)
{
	return v && !(v & (v - 1));
}

static bool
is_wrong(enum hh_call call, size_t align)
{
	if (call == HH_POSIX_MEMALIGN)
		return !is_power(align) || align % sizeof(void *);
	return align > SIZE_MAX / 2 + 1;
}

int
hh_settle_alignment(enum hh_call call, size_t *align, size_t *size)
{
	size_t page = (size_t)getpagesize(), power = ALIGN_LEAST;

	if (call == HH_VALLOC || call == HH_PVALLOC)
		*align = page;
	if (is_wrong(call, *align))
		return EINVAL;
	if (call == HH_PVALLOC) {
		if (*size > SIZE_MAX - page)
			return ENOMEM;
		*size = (*size + page - 1) & ~(page - 1);
	}
	while (power < *align)
		power <<= 1;
	*align = power;
	return 0;
}
