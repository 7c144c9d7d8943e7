/* SPDX-License-Identifier: Apache-2.0 */
/* glibc's questions about the heap, answered for ours. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../interpose/entry.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "heap.h"
#include "hooks.h"

/* As in malloc.h, which not every libc has, nor all of it. */
#define FIELDS(type) \
	type arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, \
	    uordblks, fordblks, keepcost;
struct mallinfo { FIELDS(int) };
struct mallinfo2 { FIELDS(size_t) };

struct mallinfo mallinfo(void);
struct mallinfo2 mallinfo2(void);
int mallopt(int parameter, int value);
int malloc_trim(size_t pad);
int malloc_info(int options, FILE *to);
void malloc_stats(void);

/* Where we stand aside, the next one's answer. */
#define FORWARD(result, name, parameters, arguments) \
	if (!rt_serves()) { \
		void *found_ = dlsym(RTLD_NEXT, #name); \
		result (*next_) parameters; \
\
		memcpy(&next_, &found_, sizeof found_); \
		return next_ arguments; \
	}

/* What threads keep is no longer the program's. */
static uint64_t
used_of(const struct rt_totals *sum)
{
	return sum->used > sum->kept ? sum->used - sum->kept : 0;
}

HH_EXPORT struct mallinfo2
mallinfo2(void)
{
	struct mallinfo2 info = { .arena = 0 };
	struct rt_totals sum;

	FORWARD(struct mallinfo2, mallinfo2, (void), ())
	sum = rt_heap_totals();
	info.arena = sum.total;
	info.uordblks = used_of(&sum);
	info.fordblks = sum.total - info.uordblks;
	return info;
}

static int
narrow(size_t v)
{
	return v < INT_MAX ? (int)v : INT_MAX;
}

HH_EXPORT struct mallinfo
mallinfo(void)
{
	struct mallinfo info = { .arena = 0 };
	struct mallinfo2 wide;

	FORWARD(struct mallinfo, mallinfo, (void), ())
	wide = mallinfo2();
	info.arena = narrow(wide.arena);
	info.uordblks = narrow(wide.uordblks);
	info.fordblks = narrow(wide.fordblks);
	return info;
}

/* There is nothing to tune, and no reason for the program to fail. */
HH_EXPORT int
mallopt(int parameter, int value)
{
	FORWARD(int, mallopt, (int, int), (parameter, value))
	return 1;
}

/* The pool is never given back, but what threads keep comes back to it. */
HH_EXPORT int
malloc_trim(size_t pad)
{
	FORWARD(int, malloc_trim, (size_t), (pad))
	rt_heap_trim();
	return 0;
}

static void
add_element(struct hh_text *t, const char *element, uint64_t size)
{
	hh_text_add(t, "<");
	hh_text_add(t, element);
	hh_text_add(t, " size=\"");
	hh_text_add_uint(t, size);
	hh_text_add(t, "\"/>\n");
}

static void
add_totals(struct hh_text *t, const struct rt_totals *sum)
{
	add_element(t, "total type=\"rest\" count=\"0\"",
	    sum->total - used_of(sum));
	add_element(t, "system type=\"current\"", sum->total);
	add_element(t, "system type=\"max\"", sum->total);
	add_element(t, "aspace type=\"total\"", sum->total);
	add_element(t, "aspace type=\"mprotect\"", sum->total);
}

HH_EXPORT int
malloc_info(int options, FILE *to)
{
	struct rt_totals sum;
	char text[1024];
	struct hh_text t = hh_text_in(text, sizeof text);

	FORWARD(int, malloc_info, (int, FILE *), (options, to))
	if (options)
		return EINVAL;
	sum = rt_heap_totals();
	hh_text_add(&t, "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n"
	    "</sizes>\n");
	add_totals(&t, &sum);
	hh_text_add(&t, "</heap>\n");
	add_totals(&t, &sum);
	hh_text_add(&t, "</malloc>\n");
	fputs(text, to);
	return 0;
}

/* Asked for by the program: to its stderr, whatever that now is. */
HH_EXPORT void
malloc_stats(void)
{
	struct rt_totals sum;
	char text[256];
	struct hh_text t = hh_text_in(text, sizeof text);

	FORWARD(void, malloc_stats, (void), ())
	sum = rt_heap_totals();
	hh_text_add(&t, "heaphook-tlsf: pool ");
	hh_text_add_uint(&t, sum.total);
	hh_text_add(&t, " bytes, used ");
	hh_text_add_uint(&t, used_of(&sum));
	hh_text_add(&t, ", largest free block ");
	hh_text_add_uint(&t, sum.largest);
	hh_text_add(&t, ", growths ");
	hh_text_add_uint(&t, sum.growths);
	hh_text_add(&t, "\n");
	hh_sys_write(2, text, (size_t)(t.at - text));
}
