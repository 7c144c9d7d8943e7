/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../interpose/conf.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"

enum {
	FILE_BYTES = 16 * 1024,
	KIB = 1024,
};

/* Version 1 has a number for none, near the greatest. */
#define NO_LIMIT (UINT64_C(1) << 62)

/* Where the memory controller is, and how it names things. */
struct tree {
	const char *mount;
	const char *limit, *usage;
	const char *caches[2];		/* in memory.stat */
};

static const struct tree trees[] = {
	{ "/sys/fs/cgroup", "/memory.max", "/memory.current",
	    { "\nactive_file ", "\ninactive_file " } },
	{ "/sys/fs/cgroup/unified", "/memory.max", "/memory.current",
	    { "\nactive_file ", "\ninactive_file " } },
	{ "/sys/fs/cgroup/memory", "/memory.limit_in_bytes",
	    "/memory.usage_in_bytes",
	    { "\ntotal_active_file ", "\ntotal_inactive_file " } },
};

/* Two at a time: the list of groups, and what is read of one. */
static char groups[FILE_BYTES], text[FILE_BYTES];

/* The digits at AT; false when there are none, as in "max". */
static bool
number_at(const char *at, uint64_t *v)
{
	*v = 0;
	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++)
		*v = *v * 10 + (uint64_t)(*at - '0');
	return true;
}

static uint64_t
number_after(const char *word)
{
	const char *at = strstr(text, word);
	uint64_t v;

	if (!at)
		return 0;
	at += strlen(word);
	return number_at(at + strspn(at, " "), &v) ? v : 0;
}

static void
lower_to(struct rt_room *room, uint64_t bytes, const char *what)
{
	if (bytes < room->bytes)
		*room = (struct rt_room){bytes, what};
}

static bool
slurp_of(const struct tree *tree, const char *group, size_t length,
    const char *file)
{
	char path[PATH_MAX];
	struct hh_text t = hh_text_in(path, sizeof path);

	hh_text_add(&t, tree->mount);
	hh_text_add_bytes(&t, group, length);
	hh_text_add(&t, file);
	return !t.cut && hh_sys_slurp(path, text, sizeof text) > 0;
}

/* Of one group; most have no limit, and are not looked at further. */
static void
look_at_group(struct rt_room *room, const struct tree *tree,
    const char *group, size_t length)
{
	uint64_t limit, used, cached = 0;

	if (!slurp_of(tree, group, length, tree->limit)
	    || !number_at(text, &limit) || limit >= NO_LIMIT
	    || !slurp_of(tree, group, length, tree->usage)
	    || !number_at(text, &used))
		return;
	if (slurp_of(tree, group, length, "/memory.stat"))
		cached = number_after(tree->caches[0])
		    + number_after(tree->caches[1]);
	used -= cached < used ? cached : used;
	lower_to(room, limit > used ? limit - used : 0,
	    "what the control group's memory limit leaves");
}

/* It and all above it.  In a container those outside are not seen, and the
 * names may count from a root that is not ours: what is not there is passed
 * by. */
static void
look_at_groups(struct rt_room *room, const struct tree *tree,
    const char *group)
{
	size_t length = strcspn(group, "\n");

	for (;;) {
		while (length && group[length - 1] == '/')
			length--;
		look_at_group(room, tree, group, length);
		if (!length)
			return;
		while (length && group[length - 1] != '/')
			length--;
	}
}

/* The list has "0::/group" for version 2, and for version 1 "N:names:/group"
 * with "memory" among the names. */
static void
look_at_line(struct rt_room *room, const char *line)
{
	const char *names = strchr(line, ':');
	const char *group = names ? strchr(names + 1, ':') : NULL;
	const char *memory = names ? strstr(names, "memory") : NULL;

	if (!group)
		return;
	if (group == names + 1) {
		look_at_groups(room, &trees[0], group + 1);
		look_at_groups(room, &trees[1], group + 1);
	} else if (memory && memory < group) {
		look_at_groups(room, &trees[2], group + 1);
	}
}

struct rt_room
rt_room_find(void)
{
	struct rt_room room = {UINT64_MAX, ""};

	if (hh_sys_slurp("/proc/self/cgroup", groups, sizeof groups) > 0)
		for (const char *line = groups; line;
		    line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			look_at_line(&room, line);
	if (hh_sys_slurp("/proc/meminfo", text, sizeof text) > 0
	    && strstr(text, "MemAvailable:"))
		lower_to(&room, number_after("MemAvailable:") * KIB,
		    "the memory that is available");
	return room;
}
