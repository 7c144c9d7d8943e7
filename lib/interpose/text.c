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

/* The longest of the strings, and how many bytes all are. */
static const char *
longest_of(const char *first, va_list rest, size_t *all)
{
	const char *longest = first;

	*all = 0;
	for (const char *s = first; s; s = va_arg(rest, const char *)) {
		*all += strlen(s);
		if (strlen(s) > strlen(longest))
			longest = s;
	}
	return longest;
}

/* A string in KEPT bytes, with its beginning and its end. */
static void
add_shortened(struct hh_text *t, const char *string, size_t kept)
{
	static const char gap[] = "...";
	size_t begin = (kept - strlen(gap)) / 2;
	size_t end = kept - strlen(gap) - begin;

	hh_text_add_bytes(t, string, begin);
	hh_text_add(t, gap);
	hh_text_add(t, string + strlen(string) - end);
}

void
hh_say(const char *first, ...)
{
	char line[LINE_BYTES];
	struct hh_text t = hh_text_in(line, sizeof line - 1);
	const size_t room = sizeof line - 2;
	const char *longest;
	va_list rest;
	size_t all;

	va_start(rest, first);
	longest = longest_of(first, rest, &all);
	va_end(rest);
	va_start(rest, first);
	for (const char *s = first; s; s = va_arg(rest, const char *))
		if (s == longest && all > room
		    && strlen(s) > all - room + sizeof "...")
			add_shortened(&t, s, strlen(s) - (all - room));
		else
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
