/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_script.h"

/* The build makes it of picture.js. */
const char picture_script[] =
#include "tools/picture_js.inc"
;
