/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as demanglers write them: which part of `int f<int>(int)`
 * is the name that people know it by. */
#ifndef TOOLS_SIGNATURE_H
#define TOOLS_SIGNATURE_H

#include <stdbool.h>

/* FUNCTION from its own name on: without the type that templates have before
 * it. */
const char *signature_own(const char *function);

/* Whether people mean FUNCTION by NAME: they may leave out its type, and from
 * the arguments on, of the template or the function, and the numbers of
 * lambdas, which are not known everywhere. */
bool signature_is(const char *function, const char *name);

/* What of FUNCTION is the same however it was found: without its type, the
 * arguments and the numbers of lambdas.  Of malloc. */
char *signature_loose(const char *function);

#endif
