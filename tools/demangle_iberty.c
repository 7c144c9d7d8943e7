/* SPDX-License-Identifier: Apache-2.0 */
/* By the GNU demangler: C++, and both ways of Rust. */
#include "demangle.h"

#include <libiberty/demangle.h>

char *
demangle(const char *name)
{
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}
