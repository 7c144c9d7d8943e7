/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program maps by itself; recorded when HEAPHOOK_MMAP says
 * so.  libc's own mappings do not come here. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend.h"
#include "entry.h"
#include "real.h"

static void *
mapped(void *at, size_t bytes)
{
	if (at != MAP_FAILED)
		hh_backend_mapped(HH_MMAP, at, bytes, NULL, 0);
	return at;
}

HH_EXPORT void *
mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	hh_real_find();
	return mapped(hh_real.mmap(at, bytes, prot, flags, fd, offset), bytes);
}

HH_EXPORT void *
mmap64(void *at, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	hh_real_find();
	return mapped(hh_real.mmap64(at, bytes, prot, flags, fd, offset),
	    bytes);
}

/* Before it is done: another thread may get the address at once. */
HH_EXPORT int
munmap(void *at, size_t bytes)
{
	hh_real_find();
	hh_backend_mapped(HH_MUNMAP, at, bytes, NULL, 0);
	return hh_real.munmap(at, bytes);
}

HH_EXPORT void *
mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	va_list list;
	void *at;

	va_start(list, flags);
	at = va_arg(list, void *);
	va_end(list);
	hh_real_find();
	at = hh_real.mremap(old, old_bytes, bytes, flags, at);
	if (at != MAP_FAILED)
		hh_backend_mapped(HH_MREMAP, at, bytes, old, old_bytes);
	return at;
}

HH_EXPORT int
brk(void *end)
{
	int result;

	hh_real_find();
	result = hh_real.brk(end);
	if (result == 0)
		hh_backend_mapped(HH_BRK, end, 0, NULL, 0);
	return result;
}

HH_EXPORT void *
sbrk(intptr_t change)
{
	void *before;

	hh_real_find();
	before = hh_real.sbrk(change);
	if (before != (void *)-1 && change > 0)
		hh_backend_mapped(HH_BRK, before, (size_t)change, NULL, 0);
	else if (before != (void *)-1 && change < 0)
		hh_backend_mapped(HH_BRK, (char *)before + change, 0,
		    (char *)before + change, (size_t)-change);
	return before;
}
