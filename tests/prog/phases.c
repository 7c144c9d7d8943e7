/* SPDX-License-Identifier: Apache-2.0 */
/* Two phases, with a mark before each and time between them; in the second
 * a thread of another name allocates, too. */
#include <heaphook.h>
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

static void *
helper(void *unused)
{
	pthread_setname_np(pthread_self(), "helper");
	for (int i = 0; i < 3; i++)
		MUST(malloc(500));
	return unused;
}

int
main(void)
{
	void *block[10];
	pthread_t id;

	heaphook_mark("one");
	for (int i = 0; i < 10; i++)
		block[i] = malloc(1000);
	usleep(20000);
	heaphook_mark("two");
	for (int i = 0; i < 10; i++)
		free(block[i]);
	for (int i = 0; i < 5; i++)
		MUST(malloc(2000));
	MUST(!pthread_create(&id, NULL, helper, NULL));
	pthread_join(id, NULL);
	return 0;
}
