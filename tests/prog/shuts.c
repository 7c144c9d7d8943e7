/* SPDX-License-Identifier: Apache-2.0 */
/* shuts OUT ERR: gives its standard output and error away, as coreutils do
 * at their end, to files of its own that must stay empty. */
#include <fcntl.h>
#include <stdlib.h>

#include "say.h"

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	free(malloc(1));
	close(1);
	close(2);
	if (open(argv[1], O_WRONLY | O_CREAT, 0600) != 1
	    || open(argv[2], O_WRONLY | O_CREAT, 0600) != 2)
		return 3;
	for (size_t i = 1; i < 5000; i++)
		free(malloc(i));
	return malloc(99) ? 0 : 4;
}
