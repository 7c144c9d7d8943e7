/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that libc's own allocator made, so none of the heap's: each call
 * that takes a block takes them too, and they stay what they are. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

enum { BLOCKS = 100 };

static void *(*libc_malloc)(size_t);
static void *(*libc_memalign)(size_t, size_t);

static void *
work(void *unused)
{
	for (size_t i = 1; i <= BLOCKS; i++) {
		char *block = i % 3 ? libc_malloc(i * 100)
		    : libc_memalign(64, i * 100);

		MUST(block);
		memset(block, (int)i, i * 100);
		MUST(malloc_usable_size(block) >= i * 100);
		if (i % 2)
			block = realloc(block, i * 5000);
		for (size_t k = 0; k < i * 100; k++)
			MUST(block[k] == (char)i);
		if (i % 5 == 0)
			MUST(!realloc(block, 0));
		else
			free(block);
	}
	return unused;
}

int
main(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *found;
	pthread_t other;

	MUST(libc);
	found = dlsym(libc, "__libc_malloc");
	memcpy(&libc_malloc, &found, sizeof(found));
	found = dlsym(libc, "__libc_memalign");
	memcpy(&libc_memalign, &found, sizeof(found));
	MUST(libc_malloc && libc_memalign);
	MUST(!pthread_create(&other, NULL, work, NULL));
	work(NULL);
	pthread_join(other, NULL);
	say("done\n");
	return 0;
}
