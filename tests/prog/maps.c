/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of the program's own. */
#include <sys/mman.h>

#include "say.h"

int
main(void)
{
	char *p = mmap(NULL, 5 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	p = mremap(p, 5 << 20, 7 << 20, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED);
	MUST(!munmap(p, 7 << 20));
	MUST(sbrk(8192) != (void *)-1);
	return 0;
}
