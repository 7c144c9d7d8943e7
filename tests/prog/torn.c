/* SPDX-License-Identifier: Apache-2.0 */
/* torn FILE MICROSECONDS: four threads allocate, free and resize, and after
 * each call count it in FILE, which outlives them; then SIGKILL comes, in
 * the middle of whatever they do.  FILE ends with their numbers. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "say.h"

enum { THREADS = 4 };
static volatile struct count {
	uint64_t tid, allocations, frees;
	char apart[40];
} *counts;

static void *
work(void *arg)
{
	volatile struct count *mine = arg;

	mine->tid = (uint64_t)gettid();
	for (size_t i = 0;; i++) {
		void *block = malloc(i % 3000);

		mine->allocations++;
		if (i % 8 == 0) {
			block = realloc(block, i % 5000 + 1);
			mine->allocations++;
			mine->frees++;
		}
		free(block);
		mine->frees++;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	pthread_t id;

	MUST(argc == 3 && fd >= 0 && !ftruncate(fd, sizeof(*counts) * THREADS));
	counts = (volatile struct count *)mmap(NULL, sizeof(*counts) * THREADS,
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&id, NULL, work, (void *)(counts + i)));
	usleep((useconds_t)atoi(argv[2]));
	kill(getpid(), SIGKILL);
	return 0;
}
