/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/symbols.h says, for each line "PATH BUILD-ID ADDRESS" of stdin;
 * "-" is no path or build id, "why" for an address asks for the complaint,
 * "files" for what was read, ADDRESS/MOST for at most so many functions.  The
 * arguments are folders of debug files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/symbols.h"

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void
answer(struct symbols *s, const struct symbols_object *object,
    const char *address)
{
	struct symbols_frame frames[16];
	const char *complaint = symbols_complaint(s, object);
	const char *most = strchr(address, '/');
	unsigned count;

	if (!strcmp(address, "why")) {
		puts(complaint ? complaint : "fine");
		return;
	}
	if (!strcmp(address, "files")) {
		const char *file, *debug;

		symbols_files(s, object, &file, &debug);
		printf("%s %s\n", file ? file : "-", debug ? debug : "-");
		return;
	}
	count = symbols_find(s, object, strtoull(address, NULL, 0), frames,
	    most ? (unsigned)strtoul(most + 1, NULL, 10) : 16);
	for (unsigned i = 0; i < count; i++)
		printf("%s%s %s:%u", i ? " < " : "",
		    frames[i].function ? frames[i].function : "?",
		    frames[i].file ? last_part(frames[i].file) : "?",
		    frames[i].line);
	puts("");
}

static unsigned
bytes_of(const char *hex, unsigned char *bytes, unsigned most)
{
	unsigned n = 0, byte;

	while (n < most && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		bytes[n++] = (unsigned char)byte;
	return n;
}

int
main(int argc, char **argv)
{
	struct symbols *s = symbols_open((const char *const *)argv + 1);
	char path[4096], id[129], address[32];
	unsigned char bytes[64];

	(void)argc;
	while (scanf("%4095s %128s %31s%*[^\n]", path, id, address) == 3) {
		const struct symbols_object object = {
			strcmp(path, "-") ? path : NULL,
			bytes, bytes_of(id, bytes, sizeof bytes), 0,
		};

		answer(s, &object, address);
	}
	symbols_close(s);
	return 0;
}
