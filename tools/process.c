/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double FRESH_S = 2;	/* a log that changed so lately lives */

static bool
read_line(const char *path, char *line, int bytes)
{
	FILE *f = fopen(path, "re");
	bool good = f && fgets(line, bytes, f);

	if (f)
		fclose(f);
	return good;
}

static bool
same_boot(const struct log_header *h)
{
	char id[sizeof h->boot_id] = "";

	if (!read_line("/proc/sys/kernel/random/boot_id", id, sizeof id))
		return false;
	id[strcspn(id, "\n")] = '\0';
	return !strncmp(id, h->boot_id, sizeof id);
}

static bool
same_host(const struct log_header *h)
{
	char name[sizeof h->host + 1] = "";

	return !gethostname(name, sizeof h->host)
	    && !strncmp(name, h->host, sizeof h->host);
}

static bool
same_namespace(const struct log_header *h)
{
	struct stat st;

	return !h->pid_namespace || stat("/proc/self/ns/pid", &st)
	    || st.st_ino == h->pid_namespace;
}

/* Fields 3, 20 and 22 of its stat: the name in field 2 may hold anything,
 * but no ')' comes after it. */
static bool
is_alive(const struct log_header *h)
{
	char path[32], line[1024], state;
	uint64_t start;
	long threads;
	const char *at;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)h->pid);
	if (!read_line(path, line, sizeof line))
		return false;
	at = strrchr(line, ')');
	if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
	    " %*u %*u %*d %*d %*d %*d %ld %*d %" SCNu64, &state, &threads,
	    &start) != 3)
		return false;
	/* A dead leader whose other threads go on is a zombie, too. */
	if (strchr("ZXx", state) && threads <= 1)
		return false;
	return start == h->process_start;
}

static bool
is_fresh(const struct log_header *h, double changed)
{
	struct timespec now;
	double said = (double)h->now[h->now_index & 1].monotonic_ns / 1e9;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return changed < FRESH_S
	    || (double)now.tv_sec + (double)now.tv_nsec / 1e9 - said < FRESH_S;
}

bool
process_runs(const struct log_header *h, double changed, struct problems *p)
{
	if (!same_boot(h)) {
		if (same_host(h))
			return false;
		problems_note(p, "recorded on another machine, %.*s: whether "
		    "the process still runs cannot be told here",
		    (int)sizeof h->host, h->host);
		return true;
	}
	if (same_namespace(h))
		return is_alive(h);
	if (is_fresh(h, changed)) {
		problems_note(p, "the process lives in another pid namespace; "
		    "taken for running, since its log has just changed");
		return true;
	}
	problems_note(p, "the process lived in another pid namespace; taken "
	    "for dead, since its log does not change");
	return false;
}
