/* SPDX-License-Identifier: Apache-2.0 */
/* A child begins with 100 blocks of its parent's, takes 10 of its own and
 * frees 40; its child begins with the 70 that are left, resizes one and
 * frees all.  The parents meanwhile do what no child may see. */
#include <stdlib.h>
#include <sys/wait.h>

#include "say.h"

static void *block[110];

static void
tell(int inherited, int inherited_bytes, int live, int live_bytes, int peak)
{
	say("pid=%d inherited_blocks=%d inherited_bytes=%d live_blocks=%d "
	    "live_bytes=%d peak_bytes=%d\n", getpid(), inherited,
	    inherited_bytes, live, live_bytes, peak);
}

static void
unseen_until(pid_t child)
{
	int status;

	for (int i = 0; i < 1000; i++)
		free(malloc(100000));
	MUST(waitpid(child, &status, 0) == child && !status);
}

static void
grandchild(void)
{
	block[50] = realloc(block[50], 3000);
	for (int i = 40; i < 110; i++)
		free(block[i]);
	tell(70, 65000, 0, 0, 67000);
	exit(0);
}

static void
child(void)
{
	pid_t pid;

	for (int i = 100; i < 110; i++)
		block[i] = malloc(500);
	for (int i = 0; i < 40; i++)
		free(block[i]);
	pid = fork();
	if (!pid)
		grandchild();
	unseen_until(pid);
	tell(100, 100000, 70, 65000, 165000);
	exit(0);
}

int
main(void)
{
	pid_t pid;

	for (int i = 0; i < 100; i++)
		block[i] = malloc(1000);
	pid = fork();
	if (!pid)
		child();
	unseen_until(pid);
	for (int i = 0; i < 100; i++)
		free(block[i]);
	tell(0, 0, 0, 0, 200000);
	return 0;
}
