/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "room.h"

enum { NUMBER = 0, BYTES = 2 };		/* what follows a field's number */

static void
need(struct wire *w, size_t more)
{
	if (w->room - w->count >= more)
		return;
	w->room = 2 * w->room + more + 64;
	w->bytes = room_grow(w->bytes, w->room, 1);
}

void
wire_uint(struct wire *w, uint64_t value)
{
	need(w, 10);
	for (; value >= 0x80; value >>= 7)
		w->bytes[w->count++] = (unsigned char)(value | 0x80);
	w->bytes[w->count++] = (unsigned char)value;
}

void
wire_number(struct wire *w, unsigned field, uint64_t value)
{
	wire_uint(w, field << 3 | NUMBER);
	wire_uint(w, value);
}

void
wire_bytes(struct wire *w, unsigned field, const void *bytes, size_t count)
{
	wire_uint(w, field << 3 | BYTES);
	wire_uint(w, count);
	if (!count)
		return;
	need(w, count);
	memcpy(w->bytes + w->count, bytes, count);
	w->count += count;
}

void
wire_part(struct wire *w, unsigned field, struct wire *part)
{
	wire_bytes(w, field, part->bytes, part->count);
	part->count = 0;
}

void
wire_free(struct wire *w)
{
	free(w->bytes);
}
