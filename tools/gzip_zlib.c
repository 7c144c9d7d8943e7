/* SPDX-License-Identifier: Apache-2.0 */
#include "gzip.h"

#include <zlib.h>

#include "room.h"

enum { WINDOW_AND_GZIP = 15 + 16, ROOM = 1 << 16, STEP = 1 << 30 };

static void
put_some(FILE *to, z_stream *z, int flush)
{
	static unsigned char room[ROOM];

	do {
		z->next_out = room;
		z->avail_out = ROOM;
		deflate(z, flush);
		fwrite(room, 1, ROOM - z->avail_out, to);
	} while (!z->avail_out);
}

void
gzip_write(FILE *to, const unsigned char *bytes, size_t count)
{
	z_stream z = { 0 };

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
	    WINDOW_AND_GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		room_none();
	do {
		z.next_in = (unsigned char *)bytes;
		z.avail_in = count < STEP ? (unsigned)count : STEP;
		bytes += z.avail_in;
		count -= z.avail_in;
		put_some(to, &z, count ? Z_NO_FLUSH : Z_FINISH);
	} while (count);
	deflateEnd(&z);
}
