/* SPDX-License-Identifier: Apache-2.0 */
/* Calls after which reserved address space counts: what is left of it would
 * use up the program's own limit, or be taken for memory to lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../interpose/entry.h"
#include "../interpose/sys.h"
#include "hooks.h"

#ifdef __GLIBC__
typedef __rlimit_resource_t resource_kind;
#else
typedef int resource_kind;
#endif

/* The libc's, which may not have it; a pointer to a function cannot be
 * assigned from dlsym's result in ISO C. */
#define NEXT(pointer, name) \
	void *found_ = dlsym(RTLD_NEXT, name); \
\
	memcpy(&(pointer), &found_, sizeof found_); \
	if (!(pointer)) { \
		errno = ENOSYS; \
		return -1; \
	}

/* RESULT is of a call that may have set a limit.  What it is now is asked, as
 * what the call got need not be there to be read. */
static int
limited(int result, int resource)
{
	if (result == 0 && resource == RLIMIT_AS && rt_serves()
	    && hh_sys_limit(RLIMIT_AS) != RLIM_INFINITY)
		rt_unreserve();
	return result;
}

HH_EXPORT int
setrlimit(resource_kind resource, const struct rlimit *limit)
{
	int (*next)(int, const struct rlimit *);
	NEXT(next, "setrlimit")

	return limited(next((int)resource, limit), (int)resource);
}

HH_EXPORT int
setrlimit64(resource_kind resource, const struct rlimit64 *limit)
{
	int (*next)(int, const struct rlimit64 *);
	NEXT(next, "setrlimit64")

	return limited(next((int)resource, limit), (int)resource);
}

HH_EXPORT int
prlimit(pid_t pid, resource_kind resource, const struct rlimit *limit,
    struct rlimit *old)
{
	int (*next)(pid_t, int, const struct rlimit *, struct rlimit *);
	NEXT(next, "prlimit")

	return limited(next(pid, (int)resource, limit, old), (int)resource);
}

HH_EXPORT int
prlimit64(pid_t pid, resource_kind resource, const struct rlimit64 *limit,
    struct rlimit64 *old)
{
	int (*next)(pid_t, int, const struct rlimit64 *, struct rlimit64 *);
	NEXT(next, "prlimit64")

	return limited(next(pid, (int)resource, limit, old), (int)resource);
}

HH_EXPORT int
mlockall(int flags)
{
	int (*next)(int);
	NEXT(next, "mlockall")

	if (rt_serves())
		rt_unreserve();
	return next(flags);
}
