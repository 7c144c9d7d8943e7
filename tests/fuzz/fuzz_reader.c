/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a log: whatever they are, the tools come to an end, and
 * within their memory.
 *
 * LLVMFuzzerTestOneInput is for libFuzzer and its like (build with
 * -DFUZZ_ENGINE).  Without one, main tries the files it is given or, given
 * none, logs cut and changed in many places; then a crash is the failure. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/logmaker.h"
#include "tools/cli.h"
#include "tools/diff.h"
#include "tools/dump.h"
#include "tools/leaks.h"
#include "tools/names.h"
#include "tools/profile.h"
#include "tools/reader.h"
#include "tools/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* With itself: nothing changed. */
static void
compare(FILE *to, const struct profile *p)
{
	static const char *const forms[] = { "text", "json", "csv" };
	struct diff d;
	const struct render_look look = { .columns = 80, .diff = &d };

	diff_make(&d, p, p, orders);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		render_find(forms[i])->run(to, p, 1, &look);
	diff_free(&d);
}

static void
use(const char *path)
{
	static const struct profile_part parts[] = {
		{ 0, INFINITY, NULL }, { 0.001, 0.5, "*" },
	};
	static const struct render_look looks[] = {
		{ .columns = 80, .utf8 = true },
		{ .columns = 40, .leaks = true, .top = 1000 },
	};
	static const struct leaks rules;
	FILE *nowhere = fopen("/dev/null", "w");

	for (size_t i = 0; nowhere && i < 2; i++) {
		struct profile p;
		struct reader r;

		if (reader_open(&r, path))
			break;
		profile_make(&p, &r, parts + i, NULL);
		order_sites(&p, orders);
		names_give(&p, NULL, p.site_count);
		leaks_mark(&rules, &p, false);
		for (const struct renderer *f = renderers; f->name; f++)
			if (!f->lacks)	/* a thousand png take long */
				f->run(nowhere, &p, 1, looks + i);
		compare(nowhere, &p);
		render_heaptrack_events(nowhere, &p, &r, parts + i, NULL);
		dump_log(nowhere, &r, parts + i, NULL);
		profile_free(&p);
		reader_close(&r);
	}
	if (nowhere)
		fclose(nowhere);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	use(path);
	close(fd);
	return 0;
}

#ifndef FUZZ_ENGINE

enum { FLIPS = 1500, CUTS = 300 };

static uint32_t
random_number(void)
{
	static uint64_t x = 20260101;

	x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(x >> 33);
}

/* A little of everything: three slots, one of handlers, full chunks. */
static unsigned char *
make_log(size_t *bytes)
{
	struct maker m;
	unsigned char *all;

	maker_begin(&m);
	m.chunk_bytes = LOG_PAGE;
	maker_slot(&m, 1, "main", 0);
	maker_slot(&m, 2, "other", 0);
	maker_slot(&m, 3, "signal", LOG_CHUNK_NESTED);
	m.head.h.flags = LOG_FLAG_FORKED | LOG_FLAG_MMAP;
	m.head.h.state = LOG_RUNNING;
	m.head.h.marks = 1;
	m.head.h.stack_depth = 32;
	m.head.h.took_units = 4;
	maker_object(&m, 0, 0x400000, 0x400000, 0x10000, "");
	for (uint64_t i = 1; i <= 600; i++) {
		maker_malloc(&m, i % 2, i << 12, i, i % 300);
		if (i % 5)
			maker_took(&m, i % 2, i * i * i);
		if (i % 3 == 0)
			maker_free(&m, (i + 1) % 2, (i - 2) << 12, 5);
		if (i % 50 == 0)
			maker_realloc(&m, 0, i << 12, (i << 12) + 8, 9 * i, 3);
		if (i % 7 == 0) {
			maker_frame(&m, 1, (uint32_t)i, (uint32_t)i / 14 * 7,
			    0x400000 + i);
			maker_malloc_at(&m, 1, i << 25, i, 1, (uint32_t)i);
		}
		if (i % 70)
			continue;
		maker_object(&m, 0, i << 16, i << 16, 0x10000, "/lib/a.so");
		maker_unload(&m, 0, (i / 2) << 16);
		maker_place(&m, 2, LOG_X_NESTED, 1, m.slots[1].seq,
		    maker_offset(&m, 1));
		maker_alloc(&m, 2, LOG_CALL_MEMALIGN, i << 30, 77, 6, 3);
		maker_resize(&m, 1, (i - 1) << 12, 1);
		maker_resized(&m, 1, (i - 1) << 13, 55, 1);
		maker_thread(&m, 1, (int)i, "next");
		maker_name(&m, 1, 1000, "renamed");
		maker_mark(&m, 0, "phase", 10);
		maker_failed(&m, 0, LOG_CALL_MALLOC, UINT64_MAX);
		maker_map(&m, 0, LOG_CALL_MMAP, i << 20, 4096);
		maker_place(&m, 0, LOG_X_INHERIT, 0, 1, 300);
	}
	all = maker_bytes(&m, bytes);
	maker_end(&m);
	return all;
}

static void
try_cuts(const unsigned char *all, size_t n)
{
	for (size_t cut = 0; cut <= 4096; cut++)
		LLVMFuzzerTestOneInput(all, cut);
	for (unsigned i = 0; i < CUTS; i++)
		LLVMFuzzerTestOneInput(all, random_number() % n);
}

/* One to eight bytes at a time; every other time in what is structure. */
static void
try_flips(const unsigned char *all, size_t n)
{
	unsigned char *bad = malloc(n);

	for (unsigned i = 0; bad && i < FLIPS; i++) {
		memcpy(bad, all, n);
		for (unsigned k = i % 8 + 1; k; k--) {
			size_t at = random_number() % n;

			if (i % 2)
				at -= at % LOG_PAGE - random_number() % 512;
			bad[at % n] = (unsigned char)random_number();
		}
		LLVMFuzzerTestOneInput(bad, n);
	}
	free(bad);
}

int
main(int argc, char **argv)
{
	static const struct cli_tool tool = { .name = "fuzz_reader" };
	unsigned char *all;
	size_t n;

	cli_start(&tool);
	for (int i = 1; i < argc; i++)
		use(argv[i]);
	if (argc > 1)
		return 0;
	all = make_log(&n);
	printf("1..2\n");
	try_cuts(all, n);
	printf("ok 1 - cut logs are no harm\n");
	try_flips(all, n);
	printf("ok 2 - changed logs are no harm\n");
	free(all);
	return 0;
}

#endif
