/* SPDX-License-Identifier: Apache-2.0 */
/* In place of symbols.c where there is no libdw. */
#include "symbols.h"

#include <stdlib.h>

#include "room.h"

struct symbols {
	char nothing;
};

struct symbols *
symbols_open(const char *const *debug_paths)
{
	(void)debug_paths;
	return room_new(1, sizeof(struct symbols));
}

void
symbols_close(struct symbols *s)
{
	free(s);
}

unsigned
symbols_find(struct symbols *s, const struct symbols_object *object,
    uint64_t address, struct symbols_frame *frames, unsigned most)
{
	(void)s;
	(void)object;
	(void)address;
	(void)most;
	frames[0] = (struct symbols_frame){ 0 };
	return 1;
}

const char *
symbols_complaint(struct symbols *s, const struct symbols_object *object)
{
	(void)s;
	(void)object;
	return "this heaphook was built without libdw, which reads symbols";
}

void
symbols_files(struct symbols *s, const struct symbols_object *object,
    const char **file, const char **debug)
{
	(void)s;
	(void)object;
	*file = *debug = NULL;
}

const char *
symbols_shared(struct symbols *s, const struct symbols_object *object,
    const unsigned char **id, unsigned *bytes)
{
	(void)s;
	(void)object;
	(void)id;
	(void)bytes;
	return NULL;
}

const char *
symbols_missed(struct symbols *s, const struct symbols_object *object,
    unsigned *more)
{
	(void)s;
	(void)object;
	*more = 0;
	return NULL;
}
