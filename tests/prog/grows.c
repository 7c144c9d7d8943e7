/* SPDX-License-Identifier: Apache-2.0 */
/* grows THREADS BLOCKS SIZE: each thread fills its blocks with its own bytes
 * and then finds them as they were. */
#include <pthread.h>
#include <stdlib.h>

#include <heaphook.h>

#include "say.h"

static size_t blocks, size;

static void *
grow(void *number)
{
	unsigned char **mine = malloc(blocks * sizeof *mine);
	int byte = *(int *)number;

	MUST(mine);
	for (size_t i = 0; i < blocks; i++) {
		mine[i] = malloc(size);
		MUST(mine[i]);
		memset(mine[i], byte, size);
	}
	for (size_t i = 0; i < blocks; i++) {
		for (size_t k = 0; k < size; k += 97)
			MUST(mine[i][k] == byte);
		free(mine[i]);
	}
	free(mine);
	return NULL;
}

int
main(int argc, char **argv)
{
	struct heaphook_stats s;
	pthread_t id[64];
	int number[64], threads = atoi(argv[1]);

	MUST(argc == 4 && threads <= 64);
	blocks = strtoul(argv[2], NULL, 10);
	size = strtoul(argv[3], NULL, 10);
	for (int i = 0; i < threads; i++) {
		number[i] = i + 1;
		MUST(!pthread_create(&id[i], NULL, grow, &number[i]));
	}
	for (int i = 0; i < threads; i++)
		MUST(!pthread_join(id[i], NULL));
	MUST(heaphook_get_stats(&s, sizeof s) == 0);
	say("%llu %llu\n", (unsigned long long)s.pool_bytes,
	    (unsigned long long)s.pool_growths);
	return 0;
}
