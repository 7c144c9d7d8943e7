/* SPDX-License-Identifier: Apache-2.0 */
/* A preload library below ours: what libunwind says led to each malloc, a
 * line each, into the file of the variable UNWOUND. */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEP = 64 };

void *__libc_malloc(size_t size);

static _Thread_local int busy;
static int file = -1;
static struct { uintptr_t start, end; } hidden[2];

/* The two libraries that stand in between. */
static int
hide(struct dl_phdr_info *info, size_t bytes, void *data)
{
	int *count = data;

	(void)bytes;
	if (!strstr(info->dlpi_name, "unwinds.so")
	    && !strstr(info->dlpi_name, "libheaphook-track"))
		return 0;
	hidden[*count].start = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD)
			hidden[*count].end = info->dlpi_addr + p->p_vaddr
			    + p->p_memsz;
	}
	return ++*count == 2;
}

static int
is_hidden(uintptr_t pc)
{
	for (int i = 0; i < 2; i++)
		if (pc >= hidden[i].start && pc < hidden[i].end)
			return 1;
	return 0;
}

static void
begin(const char *path)
{
	int count = 0, low = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	dl_iterate_phdr(hide, &count);
	file = fcntl(low, F_DUPFD_CLOEXEC, 200);
	close(low);
}

static void
tell(size_t size)
{
	void *pcs[DEEP + 8];
	char line[DEEP * 20];
	int n = unw_backtrace(pcs, DEEP + 8), i = 0, told = 0, at;

	while (i < n && is_hidden((uintptr_t)pcs[i]))
		i++;
	at = snprintf(line, sizeof line, "%zu", size);
	for (; i < n && told < DEEP; i++, told++) {
		if (is_hidden((uintptr_t)pcs[i]))
			return;		/* the recorder's own, as it starts */
		at += snprintf(line + at, sizeof line - (size_t)at, " %p",
		    pcs[i]);
	}
	line[at++] = '\n';
	if (write(file, line, (size_t)at) != at)
		abort();
}

void *
malloc(size_t size)
{
	const char *path = getenv("UNWOUND");

	if (!busy && path) {
		busy = 1;
		if (file < 0)
			begin(path);
		tell(size);
		busy = 0;
	}
	return __libc_malloc(size);
}
