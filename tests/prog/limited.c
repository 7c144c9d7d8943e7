/* SPDX-License-Identifier: Apache-2.0 */
/* limited HOW: a program that limits itself and then goes on as it may:
 * setrlimit and prlimit bound its addresses, mlockall needs them to fit into
 * RLIMIT_MEMLOCK. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "say.h"

enum { MIB = 1 << 20 };

static void *
run(void *unused)
{
	return unused;
}

static void
limit(const char *how)
{
	struct rlimit to = { 1024ul * MIB, RLIM_INFINITY };

	if (!strcmp(how, "setrlimit"))
		MUST(!setrlimit(RLIMIT_AS, &to));
	else if (!strcmp(how, "prlimit"))
		MUST(!prlimit(0, RLIMIT_AS, &to, NULL));
	else if (mlockall(MCL_CURRENT | MCL_FUTURE))
		say("mlockall: %s\n", errno == EPERM ? "EPERM" : "refused");
}

int
main(int argc, char **argv)
{
	pthread_t id;
	void *block;

	MUST(argc == 2);
	limit(argv[1]);
	MUST(mmap(NULL, 100 * MIB, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	MUST(!pthread_create(&id, NULL, run, NULL));
	MUST(!pthread_join(id, NULL));
	block = malloc(50 * MIB);
	MUST(block);
	if (strcmp(argv[1], "mlockall")) {
		errno = 0;
		MUST(!malloc(4096ul * MIB) && errno == ENOMEM);
		MUST(malloc(50));
	}
	say("went on\n");
	return 0;
}
