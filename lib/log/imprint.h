/* SPDX-License-Identifier: Apache-2.0 */
/* What tells builds of an object from each other that have no build id: a sum
 * of where its segments are, of the table of its functions, and of the data
 * it begins with.  Nothing writes to these when they are mapped, neither the
 * loader nor a debugger, and nothing in the file that strip and its like
 * change is among them. */
#ifndef LOG_IMPRINT_H
#define LOG_IMPRINT_H

#include <stdbool.h>
#include <string.h>

#include "format.h"

enum { LOG_IMPRINT_MOST = 8 * LOG_PAGE };	/* bytes of a part */

/* Bytes of the object's file, and their address there. */
struct log_part {
	const unsigned char *bytes;
	uint64_t address, count;
};

/* Zeroed at first. */
struct log_imprint {
	uint64_t sum;
	struct log_part head;	/* the first segment, behind the headers */
	struct log_part table;	/* .eh_frame_hdr */
	bool code;		/* the first segment has code in it, too */
};

/* FNV-1a. */
static inline uint64_t
log_imprint_add(uint64_t sum, const unsigned char *bytes, uint64_t count)
{
	if (!sum)
		sum = UINT64_C(0xcbf29ce484222325);
	for (uint64_t i = 0; i < count && i < LOG_IMPRINT_MOST; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* One after the other, as the program headers have them. */
static inline void
log_imprint_segment(struct log_imprint *i, uint64_t address, uint64_t bytes)
{
	unsigned char numbers[16];

	for (unsigned at = 0; at < 8; at++) {
		numbers[at] = (unsigned char)(address >> 8 * at);
		numbers[8 + at] = (unsigned char)(bytes >> 8 * at);
	}
	i->sum = log_imprint_add(i->sum, numbers, sizeof numbers);
}

/* Of a table as all linkers make it, the address of the first function; of
 * another 0. */
static inline uint64_t
log_first_function(const struct log_part *table)
{
	static const unsigned char usual[] = { 1, 0x1b, 3, 0x3b };
	int32_t from;

	if (table->count < 16 || memcmp(table->bytes, usual, sizeof usual))
		return 0;
	memcpy(&from, table->bytes + 12, sizeof from);
	return table->address + (uint64_t)(int64_t)from;
}

/* When all of it is known.  Code is not summed: debuggers patch it. */
static inline uint64_t
log_imprint_sum(const struct log_imprint *i)
{
	uint64_t first = i->code ? log_first_function(&i->table) : UINT64_MAX;
	uint64_t sum = log_imprint_add(i->sum, i->table.bytes, i->table.count);
	uint64_t count = 0;

	if (first > i->head.address)
		count = first - i->head.address;
	return log_imprint_add(sum, i->head.bytes,
	    count < i->head.count ? count : i->head.count);
}

#endif
