/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers, as far as a profile needs them: fields that are numbers,
 * bytes, or other messages. */
#ifndef TOOLS_WIRE_H
#define TOOLS_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire {
	unsigned char *bytes;
	size_t count, room;
};

void wire_uint(struct wire *w, uint64_t value);	/* without a field */
void wire_number(struct wire *w, unsigned field, uint64_t value);
void wire_bytes(struct wire *w, unsigned field, const void *bytes,
    size_t count);

/* PART becomes a field of W, and is empty. */
void wire_part(struct wire *w, unsigned field, struct wire *part);

void wire_free(struct wire *w);

#endif
