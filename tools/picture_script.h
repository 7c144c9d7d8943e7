/* SPDX-License-Identifier: Apache-2.0 */
/* picture.js, as the build puts it into the program. */
#ifndef TOOLS_PICTURE_SCRIPT_H
#define TOOLS_PICTURE_SCRIPT_H

extern const char picture_script[];

#endif
