/* SPDX-License-Identifier: Apache-2.0 */
/* errno is as malloc and its kin leave it without us, whatever else is done:
 * a new log page, a chunk to append, the first call of a thread. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

static void *
work(void *unused)
{
	for (size_t size = 1; size < (80 << 20); size *= 2) {
		void *p;

		errno = 77;
		p = malloc(size);
		MUST(errno == 77);
		p = realloc(p, size + size / 2);
		MUST(errno == 77);
		free(p);
		MUST(errno == 77);
		MUST(!posix_memalign(&p, 4096, size) && errno == 77);
		free(p);
		MUST(errno == 77);
		free(calloc(1, size));
		MUST(errno == 77);
	}
	for (int i = 0; i < 100000; i++) {
		errno = 5;
		free(malloc(40));
		MUST(errno == 5);
	}
	return unused;
}

int
main(void)
{
	pthread_t id;

	MUST(errno == 0);
	work(NULL);
	MUST(!pthread_create(&id, NULL, work, NULL));
	pthread_join(id, NULL);
	return 0;
}
