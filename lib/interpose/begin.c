/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process image begins for us, and where exit() comes to us. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "backend.h"
#include "conf.h"
#include "real.h"

/* exit and return from main tell their status to on_exit's functions only.
 * It is registered first, so called last. */
static void
at_exit(int status, void *unused)
{
	(void)unused;
	hh_backend_exit(status & 0xff);
}

/* glibc hands every constructor what main gets; others do not. */
__attribute__((constructor)) static void
begin(int argc, char **argv)
{
	(void)argc;
#ifdef __GLIBC__
	hh_conf_begin(argv);
#else
	(void)argv;
#endif
	/* Who is left out may never need them. */
	if (hh_conf_wanted())
		hh_real_find();
	hh_backend_start();
	on_exit(at_exit, NULL);
}
