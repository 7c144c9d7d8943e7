/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: that there will be another, and what they are called. */
#define _GNU_SOURCE
#include <pthread.h>

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
