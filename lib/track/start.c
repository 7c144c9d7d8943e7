/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "start.h"

#include <string.h>

#include "../interpose/clock.h"
#include "../interpose/conf.h"
#include "../interpose/create.h"
#include "../interpose/real.h"
#include "../interpose/summary.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "file.h"
#include "latency.h"
#include "pool.h"
#include "sample.h"
#include "stack.h"
#include "stream.h"
#include "totals.h"
#include "usable.h"

enum { LEAST_LIMIT = 64 * 1024 };

HH_NEAR bool hh_off;

/* The variables, read once: children do as their parents were told. */
static struct {
	bool known;
	enum log_mode mode;
	enum log_usable_rule rule;
	uint64_t limit;
	unsigned depth;		/* of stacks */
	uint64_t sample;	/* 0: all is recorded */
	bool map;
	bool latency;
} wanted;

static enum log_mode
read_mode(void)
{
	const char *value = hh_conf_get("HEAPHOOK_RECORD");

	if (value && strcmp(value, "summary") == 0)
		return LOG_SUMMARY;
	if (value && strcmp(value, "events") != 0)
		hh_say_bad("HEAPHOOK_RECORD", value, "events or summary");
	return LOG_EVENTS;
}

static uint64_t
read_limit(void)
{
	const char *value = hh_conf_get("HEAPHOOK_LIMIT");
	uint64_t limit = INT64_MAX;

	if (!value)
		return limit;
	if (!hh_conf_size(value, &limit) || limit > INT64_MAX) {
		hh_say_bad("HEAPHOOK_LIMIT", value,
		    "a size, as 500M, or none");
		return INT64_MAX;
	}
	if (limit < LEAST_LIMIT) {
		hh_say_bad("HEAPHOOK_LIMIT", value, "at least 64K");
		return LEAST_LIMIT;
	}
	return limit;
}

static unsigned
read_depth(void)
{
	const char *value = hh_conf_get("HEAPHOOK_STACKS");
	uint64_t depth = 0;

	if (value && (!hh_conf_size(value, &depth) || depth > HH_UNWIND_MOST)) {
		hh_say_bad("HEAPHOOK_STACKS", value, "0 to 128 frames");
		return 0;
	}
	if (depth && wanted.mode == LOG_SUMMARY) {
		hh_say("heaphook: HEAPHOOK_STACKS: a summary has no stacks: "
		    "HEAPHOOK_RECORD=events has", (char *)NULL);
		return 0;
	}
	return (unsigned)depth;
}

static uint64_t
read_sample(void)
{
	const char *value = hh_conf_get("HEAPHOOK_SAMPLE");
	uint64_t bytes = 0;

	if (value && (!hh_conf_size(value, &bytes) || bytes > SAMPLE_MOST)) {
		hh_say_bad("HEAPHOOK_SAMPLE", value,
		    "a size, as 512K, 1T at most");
		return 0;
	}
	if (bytes && wanted.mode == LOG_SUMMARY) {
		hh_say("heaphook: HEAPHOOK_SAMPLE: a summary has no samples: "
		    "HEAPHOOK_RECORD=events has", (char *)NULL);
		return 0;
	}
	return bytes;
}

static bool
read_switch(const char *name)
{
	const char *value = hh_conf_get(name);

	if (value && strcmp(value, "1") != 0 && strcmp(value, "0") != 0)
		hh_say_bad(name, value, "0 or 1");
	return value && strcmp(value, "1") == 0;
}

static bool
read_latency(void)
{
	bool asked = read_switch("HEAPHOOK_LATENCY");

	if (asked && wanted.mode == LOG_SUMMARY) {
		hh_say("heaphook: HEAPHOOK_LATENCY: a summary has no "
		    "latencies: HEAPHOOK_RECORD=events has", (char *)NULL);
		return false;
	}
	return asked;
}

static void
read_variables(void)
{
	wanted.known = true;
	wanted.mode = read_mode();
	wanted.limit = read_limit();
	wanted.depth = read_depth();
	wanted.sample = read_sample();
	wanted.map = read_switch("HEAPHOOK_MMAP");
	wanted.latency = read_latency();
	if (read_switch("HEAPHOOK_SUMMARY"))
		hh_summary_keep();
}

/* Most of valgrind's tools put an allocator of their own into libc, in
 * place: there are no words of glibc's before its blocks. */
static bool
under_valgrind(void)
{
	static const char word[] = "/vgpreload_";
	const char *at = hh_conf_get("LD_PRELOAD");

	for (; at && (at = strchr(at, '/')); at++)
		if (strncmp(at, word, sizeof word - 1) == 0
		    && strncmp(at + sizeof word - 1, "core", 4) != 0)
			return true;
	return false;
}

static void
say_order(void)
{
	if (hh_real_order.program_first)
		hh_say("heaphook-track: ", hh_conf_exe(), ": brings its own "
		    "malloc; what it allocates by that is not recorded",
		    (char *)NULL);
	else if (hh_real_order.other_first)
		hh_say("heaphook-track: ", hh_real_order.who, ": is loaded "
		    "before us and answers to malloc; what it serves is not "
		    "recorded: name libheaphook-track.so first in LD_PRELOAD",
		    (char *)NULL);
}

bool
hh_start_wanted(void)
{
	if (hh_conf_secure() || !hh_conf_wanted())
		hh_off = true;
	return !hh_off;
}

/* Now that the clock is known.  Children are as their parents. */
static void
measure(struct log_header *h)
{
	if (!(hh_mode & HH_MEASURED))
		hh_latency_begin();
	h->took_units = UINT32_C(1) << hh_clock.shift;
	h->took_least = hh_latency_least();
}

/* First in the image; false when it is none of our business. */
static bool
look_at_image(void)
{
	if (!hh_start_wanted())
		return false;
	hh_real_find();
	hh_sys_remember_stderr(true);
	read_variables();
	hh_clock_choose();
	hh_away_find();
	hh_usable_ruled = hh_real_order.next_is_libc && !under_valgrind();
	hh_pool_find();
	if (hh_usable_ruled)
		hh_mode &= (uint8_t)~HH_OPAQUE;
	wanted.rule = hh_usable_ruled ? LOG_USABLE_GLIBC
	    : hh_pool_is_next() ? LOG_USABLE_TLSF : LOG_USABLE_NONE;
	if (wanted.depth && !hh_stack_begin(wanted.depth)) {
		wanted.depth = 0;
		hh_say("heaphook: HEAPHOOK_STACKS: there are no call stacks "
		    "on this machine", (char *)NULL);
	}
	if (wanted.sample)
		hh_sample_begin(wanted.sample);
	say_order();
	return true;
}

bool
hh_start(const struct hh_head_origin *origin)
{
	struct log_head *head;

	if (!wanted.known && !look_at_image())
		return false;
	if (origin->pid)
		hh_summary_drop();
	head = hh_file_create(origin, wanted.limit,
	    sizeof *head + LOG_FIRST_SLOT_BYTES);
	if (!head)
		return false;
	hh_head_begin(head, wanted.mode, wanted.rule, origin);
	head->h.stack_depth = wanted.depth;
	head->h.sample_bytes = wanted.sample;
	if (wanted.latency)
		measure(&head->h);
	hh_pool_record(&head->h.pool);
	if (wanted.map)
		head->h.flags |= LOG_FLAG_MMAP;
	return true;
}

void
hh_start_summary(void)
{
	struct heaphook_stats total;
	struct hh_text t;
	char line[512];

	if (!hh_summary_wanted())
		return;
	hh_totals(&total);
	t = hh_text_in(line, sizeof line - 1);
	hh_text_add(&t, "heaphook-track: ");
	hh_text_add_uint(&t, (uint64_t)hh_head->h.pid);
	hh_text_add(&t, ": peak ");
	hh_text_add_uint(&t, total.peak_bytes);
	hh_text_add(&t, " bytes, live ");
	hh_text_add_uint(&t, total.live_bytes);
	hh_text_add(&t, " bytes, ");
	hh_text_add_uint(&t, total.allocations);
	hh_text_add(&t, " allocations, ");
	hh_text_add_uint(&t, total.frees);
	hh_text_add(&t, " frees; ");
	hh_text_add(&t, hh_create_path());
	*t.at++ = '\n';
	hh_summary_write(line, (size_t)(t.at - line));
}
