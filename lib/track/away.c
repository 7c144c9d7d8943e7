/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "away.h"

#include "../interpose/real.h"

enum { WORD_IN_AREA = 8 };	/* struct rseq: cpu_id_start, cpu_id, then */

struct hh_away_sequence hh_away_sequence;
ptrdiff_t hh_away_offset;

static _Thread_local uint64_t own_word;

#if defined __x86_64__
/* The kernel wants the place to abort to signed, by the four bytes before
 * it, whether it is ever used or not.  The bytes are part of an instruction
 * that traps. */
__asm__(
	".pushsection .text\n"
	".byte 0x0f, 0xb9, 0x3d\n"
	".long 0x53053053\n"
	"hh_away_abort:\n"
	"ud2\n"
	".popsection\n");
extern const char hh_away_abort[] __attribute__((visibility("hidden")));

static const char *
place_to_abort(void)
{
	return hh_away_abort;
}
#else
static const char *
place_to_abort(void)
{
	return NULL;
}
#endif

/* glibc since 2.35 registers an area for each thread and says where. */
static ptrdiff_t
area_offset(void)
{
	const ptrdiff_t *offset = hh_real_symbol(HH_ANY, "__rseq_offset");
	const unsigned *bytes = hh_real_symbol(HH_ANY, "__rseq_size");

	return offset && bytes && *bytes ? *offset : 0;
}

void
hh_away_find(void)
{
	ptrdiff_t area = place_to_abort() ? area_offset() : 0;

	hh_away_offset = (char *)&own_word - (char *)__builtin_thread_pointer();
	if (!area)
		return;
	/* One byte, in the middle of the instruction that is aborted to: no
	 * thread is ever there. */
	hh_away_sequence.abort = (uint64_t)(uintptr_t)place_to_abort();
	hh_away_sequence.start = hh_away_sequence.abort + 1;
	hh_away_sequence.bytes = 1;
	hh_away_offset = area + WORD_IN_AREA;
}
