/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that the program loads so that they do not see us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>

#include "entry.h"
#include "real.h"
#include "text.h"

static void
say_deepbind(const char *file)
{
	static bool said;

	if (!said)
		hh_say("heaphook: dlopen: ", file, ": RTLD_DEEPBIND is taken "
		    "off, for the library would allocate behind our back",
		    (char *)NULL);
	said = true;
}

/* libc resolves the name as the caller would have it (its RUNPATH), and
 * knows the caller by the return address: this must be a jump. */
__attribute__((optimize("O2", "optimize-sibling-calls"))) HH_EXPORT void *
dlopen(const char *file, int mode)
{
	hh_real_find();
	if (mode & RTLD_DEEPBIND) {
		say_deepbind(file ? file : "");
		mode &= ~RTLD_DEEPBIND;
	}
	return hh_real.dlopen(file, mode);
}
