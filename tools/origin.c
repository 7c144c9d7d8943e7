/* SPDX-License-Identifier: Apache-2.0 */
#include "origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"

/* Pids are used again, and so are names. */
static bool
is_origin(const struct reader *r, const struct log_header *child)
{
	const struct log_header *h = &r->head.h;

	return h->pid == child->origin_pid
	    && h->process_start == child->origin_process_start
	    && !memcmp(h->boot_id, child->boot_id, sizeof h->boot_id);
}

static bool
try(struct reader *origin, const char *path, const struct log_header *child)
{
	if (reader_open(origin, path))
		return false;
	if (is_origin(origin, child))
		return true;
	reader_close(origin);
	return false;
}

/* A path in the folder of OLD, with the last part of NAME. */
static char *
beside(const char *old, const char *name)
{
	const char *slash = strrchr(old, '/'), *last = strrchr(name, '/');
	int folder = slash ? (int)(slash - old) + 1 : 0;
	size_t bytes = (size_t)folder + strlen(name) + 1;
	char *path = room_new(bytes, 1);

	snprintf(path, bytes, "%.*s%s", folder, old, last ? last + 1 : name);
	return path;
}

bool
origin_open(struct reader *origin, struct reader *child)
{
	const struct log_header *h = &child->head.h;
	const char *told = reader_text(child, h->origin_path);
	char *near;
	bool found;

	if (told && try(origin, told, h))
		return true;
	near = told ? beside(child->path, told) : NULL;
	found = near && try(origin, near, h);
	free(near);
	if (!found)
		problems_note(&child->problems, "the log of process %d, which "
		    "it was forked from, is not at %s: inherited blocks are "
		    "unknown", (int)h->origin_pid, told ? told : "any place");
	return found;
}
