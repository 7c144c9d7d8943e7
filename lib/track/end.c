/* SPDX-License-Identifier: Apache-2.0 */
/* What the process does besides allocating, and what the program asks. */
#include <stdbool.h>
#include <string.h>

#define HEAPHOOK_IMPLEMENTATION
#include "../heaphook.h"
#include "../interpose/backend.h"
#include "../interpose/entry.h"
#include "../interpose/head.h"
#include "../interpose/summary.h"
#include "../interpose/sys.h"
#include "chunk.h"
#include "count.h"
#include "file.h"
#include "inherit.h"
#include "note.h"
#include "stack.h"
#include "start.h"
#include "totals.h"

void
hh_backend_start(void)
{
	if (hh_start_wanted())
		hh_stream_come();
}

/* A vfork child is in our memory but not in our process: its end and its
 * exec are not ours.  A forked child without a log has none to close. */
static bool
is_own_log(void)
{
	return !hh_off && hh_head && hh_stream_alive()
	    && (hh_file_sealed() || hh_head->h.pid == hh_sys_getpid());
}

static void
set_state(enum log_state state, int status)
{
	if (!hh_file_sealed())
		hh_head_touch();
	hh_head_set_state(state, status);
}

/* The last of what this thread counted; and what no event will take, but
 * not among threads: another could be about to write there. */
static void
settle(void)
{
	struct hh_stream *s = hh_stream_take(0);

	if (!s)
		return;
	if (s->chunk)
		hh_count_tell(s);
	if (!hh_among_threads())
		hh_chunk_trim(s);
	hh_stream_give(s);
}

void
hh_backend_exit(int status)
{
	if (!is_own_log())
		return;
	set_state(LOG_EXITED, status);
	settle();
	if (hh_file_sealed())
		return;
	hh_start_summary();
	hh_file_leave();
}

void
hh_backend_exec(void)
{
	if (!is_own_log())
		return;
	set_state(LOG_EXECED, 0);
	if (!hh_file_sealed())
		hh_file_leave();
}

void
hh_backend_exec_failed(void)
{
	if (is_own_log())
		set_state(LOG_RUNNING, 0);
}

bool
hh_backend_is_within(void)
{
	return hh_stream_within();
}

/* A child of a child that has no log yet finds it done.  One behind a filter
 * has none, and makes no system call. */
void
hh_backend_forked(bool within)
{
	if (hh_off || !hh_head || hh_stream_alive())
		return;
	hh_off = hh_file_filtered();
	if (!hh_off)
		hh_stream_forked();
	if (within && !hh_off)
		hh_inherit_part();
	else
		hh_inherit_aside();
}

/* A child that has no log yet could not make it any more. */
void
hh_backend_leaving(void)
{
	if (!hh_off && hh_head && !hh_stream_alive())
		hh_stream_come();
}

void
hh_backend_second_thread(void)
{
	struct hh_stream *s;

	if (hh_among_threads() || hh_off)
		return;
	s = hh_stream_take(0);
	__atomic_fetch_or(&hh_mode, HH_AMONG, __ATOMIC_RELAXED);
	if (!s)
		return;
	if (s->chunk)
		hh_count_tell(s);
	hh_stream_give(s);
}

/* The first filter can still be asked for: a vfork child's is not ours. */
bool
hh_backend_seal(bool filter)
{
	if (filter)
		hh_backend_leaving();
	if (!is_own_log() || (filter && !hh_file_filtered()
	    && hh_head->h.pid != hh_sys_getpid()))
		return false;
	hh_file_seal(filter);
	return true;
}

void
hh_backend_seal_failed(bool filter)
{
	hh_file_seal_failed(filter);
}

void
hh_backend_thread_named(unsigned long thread, const char *name)
{
	hh_note_thread_name(thread, name);
}

void
hh_backend_unloading(void)
{
	if (hh_stack_depth)
		hh_stack_unloading();
}

void
hh_backend_unloaded(void)
{
	if (hh_stack_depth)
		hh_stack_unloaded();
}

void
hh_backend_mapped(enum hh_call call, const void *at, size_t bytes,
    const void *old, size_t old_bytes)
{
	if (!hh_off && hh_head && (hh_head->h.flags & LOG_FLAG_MMAP))
		hh_note_mapped((enum log_call)call, at, bytes, old, old_bytes);
}

int
hh_backend_hidden(int fds[HH_HIDDEN])
{
	int log = hh_file_descriptor(), summary = hh_summary_fd();
	int count = 0;

	if (summary >= 0 && summary < log)
		fds[count++] = summary;
	if (log >= 0)
		fds[count++] = log;
	if (summary >= 0 && summary > log)
		fds[count++] = summary;
	return count;
}

bool
hh_backend_move_descriptor(int fd)
{
	return fd == hh_file_descriptor() ? hh_file_move_descriptor()
	    : hh_summary_move();
}

/* The public functions; heaphook.h names them for programs. */
int heaphook_get_stats(struct heaphook_stats *, size_t);
void heaphook_mark(const char *);
void heaphook_pause(void);
void heaphook_resume(void);

HH_EXPORT int
heaphook_get_stats(struct heaphook_stats *out, size_t size)
{
	struct heaphook_stats total;

	hh_backend_start();
	if (hh_off || !hh_head)
		return -1;
	hh_totals(&total);
	memcpy(out, &total, size < sizeof total ? size : sizeof total);
	return 0;
}

HH_EXPORT void
heaphook_mark(const char *label)
{
	hh_note_mark(label ? label : "");
}

HH_EXPORT void
heaphook_pause(void)
{
	/* First: the note sets the limit by it. */
	__atomic_fetch_or(&hh_mode, HH_PAUSED, __ATOMIC_RELAXED);
	hh_note_pause(true);
}

HH_EXPORT void
heaphook_resume(void)
{
	__atomic_fetch_and(&hh_mode, (uint8_t)~HH_PAUSED, __ATOMIC_RELAXED);
	hh_note_pause(false);
}
