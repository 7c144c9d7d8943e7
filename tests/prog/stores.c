/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input as gzip, in the way that needs no zlib. */
#include "tools/gzip.h"

int
main(void)
{
	static unsigned char bytes[1 << 20];

	gzip_write(stdout, bytes, fread(bytes, 1, sizeof bytes, stdin));
	return ferror(stdout);
}
