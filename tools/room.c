/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { STATUS_NO_MEMORY = 3 };

void
room_none(void)
{
	die(STATUS_NO_MEMORY, "out of memory");
}

static void *
need(void *block)
{
	if (!block)
		room_none();
	return block;
}

void *
room_new(size_t count, size_t bytes)
{
	return need(calloc(count ? count : 1, bytes));
}

void *
room_grow(void *old, size_t count, size_t bytes)
{
	return need(reallocarray(old, count, bytes));
}

char *
room_text(const char *text, size_t max)
{
	return need(strndup(text, max));
}
