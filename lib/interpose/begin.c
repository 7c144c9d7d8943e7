/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process image begins for us, and where exit() comes to us. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "backend.h"
#include "real.h"

/* exit and return from main tell their status to on_exit's functions only.
 * It is registered first, so called last. */
static void
at_exit(int status, void *unused)
{
	(void)unused;
	hh_backend_exit(status & 0xff);
}

__attribute__((constructor)) static void
begin(void)
{
	hh_real_find();
	hh_backend_start();
	on_exit(at_exit, NULL);
}
