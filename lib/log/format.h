/* SPDX-License-Identifier: Apache-2.0 */
/* The log, byte by byte.  heaphook-log(5) says the same in words; the two
 * change in one commit.
 *
 *   header      LOG_HEADER_BYTES, live from the first moment
 *   chunk ...   each starts on a page of 4096 bytes and is a whole number
 *               of them long
 *
 * In summary mode what follows the header is a table of chunks of 256 bytes,
 * without events and trailer: those in use have the magic.
 *
 * In events mode a chunk is either a slot, mapped by the recorder and
 * written in place by one thread after another, or the copy of a slot that
 * was full, appended; a full slot can also stay where it is and the next
 * chunk of that number begin elsewhere.  The number of a chunk is (slot,
 * seq).  A copy and its slot can both hold the same number when the process
 * died in between: they are equal, take one.  A chunk is whole when its
 * trailer holds its seq; otherwise it is the open slot, or a copy that was
 * cut, and its events end at the first zero byte.  All integers are in the
 * byte order of the machine that wrote them; LOG_MAGIC tells which. */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LOG_VERSION = 2,
	LOG_VERSION_UNSPARED = 1,	/* still read: its short forms have
					 * sizes of 16 bits, nothing spare */
	LOG_PAGE = 4096,
	LOG_HEADER_BYTES = 7 * LOG_PAGE,
	LOG_TEXT_BYTES = 4 * LOG_PAGE,
	LOG_FIRST_SLOT_BYTES = 9 * LOG_PAGE,	/* the small log: 64 KiB */

	/* A thread that does little keeps its first, small slot; who fills
	 * one goes on in the next larger.  The largest is appended: rarely,
	 * for a system call costs the program what its caches held. */
	LOG_SMALL_SLOT_BYTES = 2 * LOG_PAGE,
	LOG_MIDDLE_SLOT_BYTES = 16 * LOG_PAGE,
	LOG_SLOT_BYTES = 64 * LOG_PAGE,
	LOG_MAX_CHUNK_BYTES = 256 * LOG_PAGE,
	LOG_NAME_BYTES = 16,			/* of a thread, with the NUL */
	LOG_TIMELINE_POINTS = 256,
	LOG_MARKS = 64,
	LOG_LABEL_BYTES = 56,
	LOG_EVENT_ROOM = 16,	/* an event is stored by two 8-byte stores */
};

/* "heaphook" as eight bytes; read as one integer on the other byte order
 * it is LOG_MAGIC_SWAPPED, and the log is not for this machine. */
#define LOG_MAGIC		UINT64_C(0x6b6f6f6870616568)
#define LOG_MAGIC_SWAPPED	UINT64_C(0x68656170686f6f6b)
#define LOG_CHUNK_MAGIC		UINT32_C(0x6b684848)	/* "HHhk" */

enum log_mode { LOG_EVENTS = 1, LOG_SUMMARY = 2 };

enum log_state {
	LOG_RUNNING = 1,	/* or dead: nothing could be written any more */
	LOG_EXITED = 2,		/* status: what exit, _exit, quick_exit got */
	LOG_EXECED = 3,		/* another image took over the process */
};

/* Why the events end before the process does; 0 while they do not. */
enum log_stop {
	LOG_STOP_NONE = 0,
	LOG_STOP_LIMIT = 1,	/* HEAPHOOK_LIMIT */
	LOG_STOP_FULL = 2,	/* the disk, or nearly; a quota */
	LOG_STOP_FILE_SIZE = 3,	/* RLIMIT_FSIZE */
	LOG_STOP_CLOSED = 4,	/* the program took the descriptor away */
	LOG_STOP_SEALED = 5,	/* seccomp: the reserve is used up */
	LOG_STOP_ERROR = 6,	/* stop_errno says which */
};

/* How usable size follows from requested size, so that only exceptions
 * are stored: LOG_USABLE_GLIBC is max(24, round16(size + 8) - 8) rounded
 * up; LOG_USABLE_TLSF as our heap's caches hold blocks, the same in bigger
 * steps; LOG_USABLE_NONE makes every allocation carry it. */
enum log_usable_rule {
	LOG_USABLE_NONE = 0, LOG_USABLE_GLIBC = 1, LOG_USABLE_TLSF = 2,
};

enum log_clock { LOG_CLOCK_MONOTONIC = 0, LOG_CLOCK_COUNTER = 1 };

enum log_flag {
	LOG_FLAG_FOREIGN_MALLOC = 1,	/* the program brings its own malloc */
	LOG_FLAG_NEXT_FOREIGN = 2,	/* the next allocator is not libc's */
	LOG_FLAG_BEHIND = 4,		/* another preload answers before us */
	LOG_FLAG_TEXT_CUT = 8,		/* argv did not fit */
	LOG_FLAG_PAUSED = 16,		/* heaphook_pause was called */
	LOG_FLAG_FORKED = 32,		/* origin_* tell whose child it is */
	LOG_FLAG_MMAP = 64,		/* HEAPHOOK_MMAP was set */
};

/* One reading of both clocks at the same moment. */
struct log_instant {
	uint64_t ticks;
	uint64_t monotonic_ns;
};

struct log_timeline_point {
	int64_t live;			/* usable bytes when it was last hit */
	int64_t peak;			/* most of them within it */
};

struct log_mark {
	uint64_t ticks;
	char label[LOG_LABEL_BYTES];
};

/* A heap's own figures; all 0 without a pool. */
struct log_pool {
	uint64_t bytes;			/* of all areas */
	uint64_t used;			/* with overhead, and what is kept */
	uint64_t peak;			/* the most of that */
	uint64_t largest_free;
	uint64_t growths;
};

/* What one slot counted since it was made, in usable bytes. */
struct log_counters {
	uint64_t allocations;
	uint64_t frees;
	uint64_t failed;
	int64_t live;		/* negative: it frees what others allocate */
	int64_t told;		/* the part of live that header.live knows */
	uint64_t allocated;	/* summary mode only */
	uint64_t reserved[2];
};

/* Fixed part of the header.  Set once at start, except what says "live". */
struct log_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint32_t mode;			/* enum log_mode */
	uint32_t flags;			/* live; enum log_flag */

	uint64_t start_realtime_ns;	/* since 1970 */
	struct log_instant start;
	struct log_instant now[2];	/* live; now_index: the whole one */
	uint32_t now_index;		/* live */
	uint32_t clock;			/* enum log_clock */
	uint64_t ticks_per_s;		/* measured at start, rough; the two
					 * instants, far apart, know better */

	int32_t pid;			/* as its own namespace calls it */
	int32_t ppid;
	uint32_t uid;
	uint32_t page_size;
	int32_t rank;			/* -1: unknown; so the next two */
	int32_t ranks;
	int32_t local_rank;
	uint32_t usable_rule;		/* enum log_usable_rule */
	uint64_t pid_namespace;		/* its inode number; 0: unknown */
	uint64_t process_start;		/* field 22 of /proc/PID/stat */
	char boot_id[40];		/* /proc/sys/kernel/random/boot_id */
	char library_version[24];
	char host[72];
	char launcher[24];		/* whose variables told the rank */
	char job[40];

	/* Forked: the nearest ancestor with a log. */
	int32_t origin_pid;
	uint32_t stop_errno;		/* live */
	uint64_t origin_process_start;

	uint32_t state;			/* live; enum log_state */
	int32_t status;			/* live */
	uint64_t end_ticks;		/* live; 0 while running */
	uint32_t stop;			/* live; enum log_stop */
	uint32_t marks;			/* live; may exceed LOG_MARKS */
	uint64_t stop_ticks;		/* live */

	/* Where the NUL-terminated texts start in the text area; argv is
	 * argc texts one after the other. */
	uint32_t exe, cwd, origin_path, next_name, argv, argc;

	/* Live counters, in usable bytes.  Those of threads are in their
	 * slots; their sum is the process. */
	int64_t live;			/* as far as threads told */
	int64_t peak;
	uint64_t peak_ticks;
	uint64_t peak_error;		/* the peak may be off by so much */

	struct log_pool pool;		/* live */

	uint64_t timeline_ticks;	/* live; width of a point */
	uint32_t timeline_used;		/* live */
	uint32_t slots;			/* live; how many were made */
	struct log_counters others;	/* live; of threads without a slot */

	uint32_t stack_depth;		/* most frames of a stack; 0: none */
	uint32_t frames;		/* live; numbers given to frames */
	uint64_t sample_bytes;		/* 0, or the mean from one recorded
					 * allocation to the next */
	uint64_t samples_lost;		/* live; there was no place for them */

	/* How long the allocator takes is in units, so many to a tick; 0: it
	 * is not recorded. */
	uint32_t took_units;
	uint32_t took_least;		/* that a look at the clock takes */
};

/* Page 0 the fixed part, page 1 the timeline, page 2 the marks, then texts. */
struct log_head {
	union {
		struct log_header h;
		unsigned char page0[LOG_PAGE];
	};
	struct log_timeline_point timeline[LOG_TIMELINE_POINTS];
	struct log_mark marks[LOG_MARKS];
	char text[LOG_TEXT_BYTES];
};

static_assert(sizeof(struct log_header) <= LOG_PAGE, "page 0 holds it");
static_assert(offsetof(struct log_head, timeline) == LOG_PAGE, "page 1");
static_assert(offsetof(struct log_head, marks) == 2 * LOG_PAGE, "page 2");
static_assert(sizeof(struct log_head) == LOG_HEADER_BYTES, "7 pages");

enum log_chunk_flag {
	LOG_CHUNK_NESTED = 1,	/* of a signal handler; see LOG_X_NESTED */
};

struct log_chunk {
	uint32_t magic;
	uint32_t bytes;		/* of the chunk, with this and the trailer */
	uint32_t slot;		/* from 0 */
	uint32_t flags;		/* enum log_chunk_flag */
	uint64_t seq;		/* of this slot, from 1 */
	uint64_t base_ticks;	/* events store steps from this time */
	int32_t tid;		/* whose events come first */
	uint32_t reserved0;
	uint64_t self;		/* its pthread_t */
	char name[LOG_NAME_BYTES];
	struct log_counters counters;
	unsigned char reserved1[128];
	unsigned char events[];
};

struct log_trailer {
	uint64_t sum;		/* log_sum() of all before it */
	uint64_t seq;		/* last: it says that the chunk is whole */
};

static_assert(sizeof(struct log_chunk) == 256, "events start at 256");
static_assert(sizeof(struct log_counters) == 64, "one cache line");
static_assert(offsetof(struct log_chunk, counters) == 64, "aligned to it");
static_assert(sizeof(struct log_trailer) == 16, "no padding");

static inline uint32_t
log_events_room(uint32_t chunk_bytes)
{
	return chunk_bytes - (uint32_t)sizeof(struct log_chunk)
	    - (uint32_t)sizeof(struct log_trailer);
}

/* Two running sums over the 8-byte words, so that a swap shows too; four
 * lanes of them, so that a processor can do them at once. */
static inline uint64_t
log_sum(const void *chunk, uint32_t bytes)
{
	const uint64_t *word = chunk;
	uint64_t a[4] = {1, 2, 3, 4}, b[4] = {0}, sum = 0;
	uint32_t words = (bytes - (uint32_t)sizeof(struct log_trailer)) / 8;
	uint32_t i = 0;

	for (; i + 4 <= words; i += 4)
		for (unsigned lane = 0; lane < 4; lane++) {
			a[lane] += word[i + lane];
			b[lane] += a[lane];
		}
	for (; i < words; i++) {
		a[i % 4] += word[i];
		b[i % 4] += a[i % 4];
	}
	for (unsigned lane = 0; lane < 4; lane++)
		sum = (sum << 13 | sum >> 51) ^ a[lane]
		    ^ (b[lane] << 32 | b[lane] >> 32);
	return sum;
}

/* Between powers of two eight steps, from 128 on; beyond 32 KiB none. */
static inline uint64_t
log_usable_step(uint64_t chunk)
{
	if (chunk <= 128 || chunk > 32768)
		return 16;
	return UINT64_C(1) << (60 - __builtin_clzll(chunk - 1));
}

/* What the rule expects; the recorder stores only what differs.  Without a
 * rule, what no block has, nor nearly. */
static inline uint64_t
log_usable_expected(uint32_t rule, uint64_t size)
{
	uint64_t chunk = (size + 8 + 15) & ~UINT64_C(15);

	if (rule == LOG_USABLE_TLSF) {
		uint64_t step = log_usable_step(chunk);

		chunk = (chunk + step - 1) & ~(step - 1);
	} else if (rule != LOG_USABLE_GLIBC) {
		return INT64_MAX;
	}
	return (chunk < 32 ? 32 : chunk) - 8;
}

#endif
