/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "head.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "clock.h"
#include "conf.h"
#include "real.h"
#include "sys.h"
#include "text.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0"
#endif

HH_NEAR struct log_head *hh_head;

/* What start found out, for the name of the log and for its header. */
static HH_NEAR struct {
	struct hh_name_facts name;
	struct utsname host;
} facts;

const struct hh_name_facts *
hh_head_facts(void)
{
	hh_sys_uname(&facts.host);
	facts.name = (struct hh_name_facts){
		.launcher = hh_launcher_find(),
		.host = facts.host.nodename,
		.exe = hh_conf_exe(),
		.pid = hh_sys_getpid(),
		.start_s = hh_sys_realtime_ns() / 1000000000,
	};
	return &facts.name;
}

static void
copy(char *to, size_t bytes, const char *from)
{
	struct hh_text t = hh_text_in(to, bytes);

	hh_text_add(&t, from);
}

/* Field 22 of /proc/self/stat; the name before it may hold anything, so
 * count from the last parenthesis. */
static uint64_t
process_start(void)
{
	char text[512];
	const char *at;
	uint64_t v = 0;

	hh_sys_slurp("/proc/self/stat", text, sizeof text);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (uint64_t)(*at - '0');
	return v;
}

static uint64_t
pid_namespace(void)
{
	char text[64];
	long got = hh_sys_readlink("/proc/self/ns/pid", text, sizeof text - 1);
	const char *at;
	uint64_t v = 0;

	text[got > 0 ? got : 0] = '\0';
	at = strchr(text, '[');
	for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		v = v * 10 + (uint64_t)(*at - '0');
	return v;
}

static void
set_boot_id(struct log_header *h)
{
	char *end;

	hh_sys_slurp("/proc/sys/kernel/random/boot_id", h->boot_id,
	    sizeof h->boot_id);
	end = strchr(h->boot_id, '\n');
	if (end)
		*end = '\0';
}

static void
set_process(struct log_header *h)
{
	h->pid = facts.name.pid;
	h->ppid = hh_sys_getppid();
	h->uid = hh_sys_getuid();
	h->page_size = (uint32_t)getauxval(AT_PAGESZ);
	h->process_start = process_start();
	h->pid_namespace = pid_namespace();
	set_boot_id(h);
	copy(h->host, sizeof h->host, facts.host.nodename);
	copy(h->library_version, sizeof h->library_version, PACKAGE_VERSION);
}

static void
set_rank(struct log_header *h)
{
	const struct hh_launcher *l = &facts.name.launcher;

	h->rank = l->rank;
	h->ranks = l->ranks;
	h->local_rank = l->local_rank;
	copy(h->launcher, sizeof h->launcher, l->name);
	copy(h->job, sizeof h->job, l->job ? l->job : "");
}

static void
set_clock(struct log_header *h)
{
	hh_clock_measure();
	h->start_realtime_ns = hh_sys_realtime_ns();
	h->start.monotonic_ns = hh_sys_monotonic_ns();
	h->start.ticks = hh_ticks();
	h->now[0] = h->start;
	h->clock = hh_clock.counter ? LOG_CLOCK_COUNTER : LOG_CLOCK_MONOTONIC;
	h->ticks_per_s = hh_clock.ticks_per_s;
}

static void
set_order(struct log_header *h)
{
	if (hh_real_order.program_first)
		h->flags |= LOG_FLAG_FOREIGN_MALLOC;
	if (hh_real_order.other_first)
		h->flags |= LOG_FLAG_BEHIND;
	if (!hh_real_order.next_is_libc)
		h->flags |= LOG_FLAG_NEXT_FOREIGN;
}

/* Texts lie one after the other; each keeps its NUL. */
static uint32_t
add_text(struct log_head *head, struct hh_text *t, const char *text)
{
	uint32_t from = (uint32_t)(t->at - head->text);

	hh_text_add(t, text);
	if (t->at < t->end - 1)
		t->at++;
	return from;
}

/* As the kernel has them: one after the other, each with its NUL. */
static void
set_argv(struct log_head *head, struct hh_text *t)
{
	size_t room = (size_t)(t->end - t->at), bytes;

	head->h.argv = (uint32_t)(t->at - head->text);
	bytes = hh_conf_argv(t->at, room);
	for (size_t i = 0; i < bytes; i += strlen(t->at + i) + 1)
		head->h.argc++;
	if (t->cut || bytes + 1 >= room)
		head->h.flags |= LOG_FLAG_TEXT_CUT;
}

/* To where it shall be, for a path is as long as a page. */
static uint32_t
add_cwd(struct log_head *head, struct hh_text *t)
{
	uint32_t from = (uint32_t)(t->at - head->text);
	long bytes = hh_sys_getcwd(t->at, (size_t)(t->end - t->at));

	if (bytes <= 0)
		return add_text(head, t, "");
	t->at += bytes;
	return from;
}

static void
set_texts(struct log_head *head, const char *origin)
{
	struct hh_text t = hh_text_in(head->text, sizeof head->text);

	head->h.exe = add_text(head, &t, hh_conf_exe());
	head->h.cwd = add_cwd(head, &t);
	head->h.origin_path = add_text(head, &t, origin);
	head->h.next_name = add_text(head, &t, hh_real_order.who);
	set_argv(head, &t);
}

void
hh_head_begin(struct log_head *head, enum log_mode mode, uint32_t rule,
    const struct hh_head_origin *origin)
{
	struct log_header *h = &head->h;

	h->version = LOG_VERSION;
	h->header_bytes = LOG_HEADER_BYTES;
	h->mode = mode;
	h->usable_rule = rule;
	set_clock(h);
	set_process(h);
	set_rank(h);
	set_order(h);
	set_texts(head, origin->path);
	if (origin->pid) {
		h->flags |= LOG_FLAG_FORKED;
		h->origin_pid = origin->pid;
		h->origin_process_start = origin->process_start;
	}
	h->state = LOG_RUNNING;
	hh_head = head;
	/* Last: it makes a file of zeros a log. */
	atomic_thread_fence(memory_order_release);
	h->magic = LOG_MAGIC;
}

static void
set_now(uint64_t ns, uint64_t ticks)
{
	struct log_header *h = &hh_head->h;
	uint32_t next = !h->now_index;

	h->now[next] = (struct log_instant){ticks, ns};
	atomic_thread_fence(memory_order_release);
	h->now_index = next;
}

void
hh_head_touch(void)
{
	uint64_t ns = hh_sys_monotonic_ns();

	set_now(ns, hh_ticks());
}

void
hh_head_touch_at(uint64_t ticks)
{
	const struct log_header *h = &hh_head->h;
	uint64_t since = ticks - h->start.ticks, each = h->ticks_per_s;

	set_now(h->start.monotonic_ns + since / each * 1000000000
	    + since % each * 1000000000 / each, ticks);
}

void
hh_head_mark(const char *label)
{
	struct log_header *h = &hh_head->h;
	uint32_t i = __atomic_fetch_add(&h->marks, 1, __ATOMIC_RELAXED);

	if (i >= LOG_MARKS)
		return;
	hh_head->marks[i].ticks = hh_ticks();
	copy(hh_head->marks[i].label, LOG_LABEL_BYTES, label);
}

void
hh_head_set_state(enum log_state state, int status)
{
	struct log_header *h = &hh_head->h;

	h->end_ticks = state == LOG_RUNNING ? 0 : hh_ticks();
	h->status = status;
	atomic_thread_fence(memory_order_release);
	h->state = state;
}
