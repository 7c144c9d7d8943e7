/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of at most 65535 bytes that are what they hold. */
#include "gzip.h"

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK_MOST = 65535 };

static uint32_t
checksum(const unsigned char *bytes, size_t count)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void
put_little(FILE *to, uint32_t value, unsigned bytes)
{
	for (; bytes; bytes--, value >>= 8)
		fputc((int)(value & 0xff), to);
}

void
gzip_write(FILE *to, const unsigned char *bytes, size_t count)
{
	/* Deflate; no name, time or system is told. */
	static const unsigned char head[10] = {
		0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255,
	};
	uint32_t crc = checksum(bytes, count), size = (uint32_t)count;
	bool last;

	fwrite(head, 1, sizeof head, to);
	do {
		uint32_t n = count < BLOCK_MOST ? (uint32_t)count : BLOCK_MOST;

		last = n == count;
		fputc(last, to);
		put_little(to, n, 2);
		put_little(to, ~n, 2);
		fwrite(bytes, 1, n, to);
		bytes += n;
		count -= n;
	} while (!last);
	put_little(to, crc, 4);
	put_little(to, size, 4);
}
