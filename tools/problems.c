/* SPDX-License-Identifier: Apache-2.0 */
#include "problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "room.h"

static void
add(struct problems *p, const char *format, va_list args)
{
	char line[1024];

	if (p->kept == PROBLEMS_KEPT) {
		p->more++;
		return;
	}
	vsnprintf(line, sizeof line, format, args);
	p->lines[p->kept++] = room_text(line, sizeof line);
}

void
problems_note(struct problems *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(p, format, args);
	va_end(args);
}

void
problems_loss(struct problems *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(p, format, args);
	va_end(args);
	p->loss = true;
}

void
problems_free(struct problems *p)
{
	while (p->kept)
		free(p->lines[--p->kept]);
}
