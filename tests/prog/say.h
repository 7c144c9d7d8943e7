/* SPDX-License-Identifier: Apache-2.0 */
/* How a victim speaks: by write(2), since stdio would allocate. */
#ifndef SAY_H
#define SAY_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2)))
static inline void
say(const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(1, line, (size_t)n) != n)
		_exit(99);
}

/* A claim that must hold; the first that does not ends the program. */
#define MUST(claim) \
	do { \
		if (!(claim)) { \
			say("%s:%d: %s\n", __FILE__, __LINE__, #claim); \
			_exit(99); \
		} \
	} while (0)

#endif
