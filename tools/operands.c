/* SPDX-License-Identifier: Apache-2.0 */
#include "operands.h"

#include <stdint.h>
#include <stdlib.h>

#include "bundle.h"
#include "cli.h"
#include "room.h"

/* LOG is taken over. */
static void
add(struct operands *o, char *log)
{
	o->logs = room_grow(o->logs, o->count + 2, sizeof *o->logs);
	o->logs[o->count++] = log;
	o->logs[o->count] = NULL;
}

void
operands_add(struct operands *o, const char *name,
    void (*bundle)(const char *path))
{
	char **packed;
	const char *wrong = bundle_logs(name, &packed);

	if (wrong) {
		warn("%s: %s", name, wrong);
		o->unusable = true;
		return;
	}
	if (!packed) {
		add(o, room_text(name, SIZE_MAX));
		return;
	}
	bundle(name);
	for (char **log = packed; *log; log++)
		add(o, *log);
	free(packed);
}

void
operands_free(struct operands *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->logs[i]);
	free(o->logs);
}
