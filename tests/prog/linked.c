/* SPDX-License-Identifier: Apache-2.0 */
/* A program with the TLSF heap linked in: threads, a fork, and what the heap
 * says of itself. */
#include <heaphook.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static void *
work(void *unused)
{
	for (int i = 0; i < 10000; i++)
		free(malloc((size_t)i));
	return unused;
}

int
main(void)
{
	struct heaphook_stats stats = { .pool_bytes = 0 };
	pthread_t id;
	void *big = malloc(1 << 20);
	int status;
	pid_t pid;

	MUST(big && !pthread_create(&id, NULL, work, NULL));
	work(NULL);
	pthread_join(id, NULL);
	pid = fork();
	if (pid == 0) {
		work(NULL);
		free(big);
		_exit(7);
	}
	MUST(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
	MUST(heaphook_get_stats(&stats, sizeof(stats)) == 0);
	say("pool=%zu big=%d\n", (size_t)stats.pool_bytes,
	    stats.live_bytes >= 1 << 20 && stats.allocations >= 20001);
	return 0;
}
