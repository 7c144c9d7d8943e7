/* SPDX-License-Identifier: Apache-2.0 */
/* Text put together without stdio and without memory of its own.  What does
 * not fit is left out, and "cut" says so. */
#ifndef HH_TEXT_H
#define HH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hh_text {
	char *at;	/* where the NUL stands */
	char *end;	/* one past the buffer */
	bool cut;
};

struct hh_text hh_text_in(char *buffer, size_t bytes);
void hh_text_add(struct hh_text *t, const char *string);
void hh_text_add_bytes(struct hh_text *t, const char *bytes, size_t count);
void hh_text_add_uint(struct hh_text *t, uint64_t v);
void hh_text_add_address(struct hh_text *t, const void *at);

/* One line on stderr: the strings up to NULL, one after the other.  Where
 * that is too long, the longest loses its middle. */
void hh_say(const char *first, ...) __attribute__((sentinel));

/* "NAME=VALUE: expected WHAT", for a setting that is not understood. */
void hh_say_bad(const char *name, const char *value, const char *expected);

#endif
