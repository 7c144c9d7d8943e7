/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF program, looked at without trusting a byte of it. */
#ifndef TOOLS_IMAGE_H
#define TOOLS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

enum image_kind {
	IMAGE_NOT_ELF,
	IMAGE_PLAIN,		/* nothing speaks against a preload */
	IMAGE_BROKEN,		/* the kernel would not run it */
	IMAGE_FOREIGN,		/* machine, class, byte order, C library */
	IMAGE_STATIC,
	IMAGE_SANITIZER,
	IMAGE_OWN_MALLOC,
};

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* False and errno when PATH cannot be read. */
bool image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* WHAT names it in a few words: the machine, the sanitizer, the allocator,
 * the loader that is missing.  Empty when there is no more to say. */
enum { IMAGE_WHAT = 256 };
enum image_kind image_kind(const struct image *image, char what[IMAGE_WHAT]);

#endif
