/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader, the C and the C++ library keep to the end for themselves:
 * no caller can free it. */
#ifndef TOOLS_KEPT_H
#define TOOLS_KEPT_H

#include <stdbool.h>

#include "profile.h"

/* NO_FILES: no stream but the standard ones is open. */
bool kept_is(const struct profile_site *site, bool no_files);

/* Whether that is known of P, which has the blocks of all threads. */
bool kept_has_no_files(const struct profile *p);

#endif
