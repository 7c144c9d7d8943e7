/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <string.h>

#include "sys.h"

/* Long enough for a path that goes into a line, small enough for a stack
 * of 16 KiB. */
enum { LINE_BYTES = 1024 };

struct hh_text
hh_text_in(char *buffer, size_t bytes)
{
	buffer[0] = '\0';
	return (struct hh_text){buffer, buffer + bytes, false};
}

void
hh_text_add_bytes(struct hh_text *t, const char *bytes, size_t count)
{
	size_t room = (size_t)(t->end - t->at) - 1;

	if (count > room) {
		count = room;
		t->cut = true;
	}
	memcpy(t->at, bytes, count);
	t->at += count;
	*t->at = '\0';
}

void
hh_text_add(struct hh_text *t, const char *string)
{
	hh_text_add_bytes(t, string, strlen(string));
}

void
hh_text_add_uint(struct hh_text *t, uint64_t v)
{
	char digits[20];
	size_t from = sizeof digits;

	do
		digits[--from] = (char)('0' + v % 10);
	while (v /= 10);
	hh_text_add_bytes(t, digits + from, sizeof digits - from);
}

void
hh_text_add_address(struct hh_text *t, const void *at)
{
	uintptr_t v = (uintptr_t)at;
	char digits[2 * sizeof v];
	size_t from = sizeof digits;

	do
		digits[--from] = "0123456789abcdef"[v % 16];
	while (v /= 16);
	hh_text_add(t, "0x");
	hh_text_add_bytes(t, digits + from, sizeof digits - from);
}

void
hh_say(const char *first, ...)
{
	char line[LINE_BYTES];
	struct hh_text t = hh_text_in(line, sizeof line - 1);
	va_list rest;

	va_start(rest, first);
	for (const char *s = first; s; s = va_arg(rest, const char *))
		hh_text_add(&t, s);
	va_end(rest);
	for (char *c = line; c < t.at; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';	/* one line, whatever the value */
	*t.at++ = '\n';
	hh_sys_say(line, (size_t)(t.at - line));
}

void
hh_say_bad(const char *name, const char *value, const char *expected)
{
	hh_say("heaphook: ", name, "=", value, ": expected ", expected,
	    (char *)NULL);
}
