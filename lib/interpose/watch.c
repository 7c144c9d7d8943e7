/* SPDX-License-Identifier: Apache-2.0 */
/* That there will be another thread or process, or this one will be another's,
 * what threads are called, and that code has gone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "backend.h"
#include "entry.h"
#include "real.h"

HH_EXPORT int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
    void *(*run)(void *), void *argument)
{
	hh_real_find();
	hh_backend_second_thread();
	return hh_real.pthread_create(thread, attr, run, argument);
}

#define FORK(name) \
	{ \
		bool within = hh_backend_is_within(); \
		pid_t pid; \
\
		hh_real_find(); \
		pid = hh_real.name(); \
		if (pid == 0) \
			hh_backend_forked(within); \
		return pid; \
	}

HH_EXPORT pid_t
fork(void)
FORK(fork)

pid_t _Fork(void);	/* since glibc 2.34 */

HH_EXPORT pid_t
_Fork(void)
FORK(_Fork)

#define LEAVES(result, name, parameters, arguments) \
	HH_EXPORT result \
	name parameters \
	{ \
		hh_real_find(); \
		hh_backend_leaving(); \
		return hh_real.name arguments; \
	}

HH_REAL_LEAVES(LEAVES)

HH_EXPORT int
pthread_setname_np(pthread_t thread, const char *name)
{
	int error;

	hh_real_find();
	error = hh_real.pthread_setname_np(thread, name);
	if (!error)
		hh_backend_thread_named(thread, name);
	return error;
}

HH_EXPORT int
dlclose(void *handle)
{
	int error;

	hh_real_find();
	hh_backend_unloading();
	error = hh_real.dlclose(handle);
	hh_backend_unloaded();
	return error;
}
