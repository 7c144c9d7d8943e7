/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 1952, by zlib, or stored if that was not found. */
#ifndef TOOLS_GZIP_H
#define TOOLS_GZIP_H

#include <stddef.h>
#include <stdio.h>

/* A whole gzip file of these bytes. */
void gzip_write(FILE *to, const unsigned char *bytes, size_t count);

#endif
