/* SPDX-License-Identifier: Apache-2.0 */
/* By the C++ run-time library, if there is one when it is needed: C++, and
 * Rust's older way, which looks like C++. */
#include "demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef char *translator(const char *, char *, size_t *, int *);

static translator *
look_up(void)
{
	static const char *const libraries[] = {
		"libstdc++.so.6", "libc++abi.so.1",
	};

	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW);

		if (library)
			return (translator *)dlsym(library, "__cxa_demangle");
	}
	return NULL;
}

/* Rust ends each name with the hash of what it was made from. */
static void
cut_hash(char *name)
{
	const size_t bytes = strlen("::h0123456789abcdef");
	size_t length = strlen(name);
	char *hash = name + length - bytes;

	if (length > bytes && !memcmp(hash, "::h", 3)
	    && strspn(hash + 3, "0123456789abcdef") == bytes - 3)
		*hash = '\0';
}

char *
demangle(const char *name)
{
	static translator *translate;
	static int looked;
	char *plain;
	int status;

	if (strncmp(name, "_Z", 2))
		return NULL;
	if (!looked++)
		translate = look_up();
	plain = translate ? translate(name, NULL, NULL, &status) : NULL;
	if (plain)
		cut_hash(plain);
	return plain;
}
