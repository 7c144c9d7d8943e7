/* SPDX-License-Identifier: Apache-2.0 */
/* What older and newer C libraries have is found by name alone. */
#include <dlfcn.h>
#include <stdlib.h>

#include "say.h"

int
main(void)
{
	void (*sized)(void *, size_t) =
	    (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
	void (*aligned)(void *, size_t, size_t) =
	    (void (*)(void *, size_t, size_t))
	    dlsym(RTLD_DEFAULT, "free_aligned_sized");
	void (*cfree)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");

	MUST(sized && aligned && cfree);
	sized(malloc(10), 10);
	sized(NULL, 0);
	aligned(aligned_alloc(64, 128), 64, 128);
	aligned(NULL, 64, 0);
	cfree(malloc(10));
	cfree(NULL);
	say("allocations=3 frees=3 live_bytes=0\n");
	return 0;
}
