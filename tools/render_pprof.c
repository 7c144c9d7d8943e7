/* SPDX-License-Identifier: Apache-2.0 */
/* For pprof: its profile.proto, compressed.
 *
 * A log has addresses within objects, and a profile those of a process: so
 * objects are laid one behind the other, the program first, at 0. */
#include "render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "render_util.h"
#include "room.h"
#include "texts.h"
#include "wire.h"

/* Fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING,
	PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRINGS,
	PROFILE_TIME_NANOS = 9, PROFILE_DURATION_NANOS, PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum {
	MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET,
	MAPPING_FILE, MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES, MAPPING_HAS_LINES, MAPPING_HAS_INLINED,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

static const uint64_t MAPPING_GRAIN = 1 << 20;

#define SITE(field) offsetof(struct profile_site, field)

static const struct render_value values[] = {
	{ "alloc_objects", "count", SITE(allocations) },
	{ "alloc_space", "bytes", SITE(allocated_bytes) },
	{ "inuse_objects", "count", SITE(live_blocks) },
	{ "inuse_space", "bytes", SITE(live_bytes) },
	{ "peak_objects", "count", SITE(peak_blocks) },
	{ "peak_space", "bytes", SITE(peak_bytes) },
};
enum { VALUES = sizeof values / sizeof *values };

struct pprof {
	const struct profile *p;
	struct wire out, part, inner;
	struct texts texts, functions;
	uint64_t *bases;	/* where objects are */
};

static uint64_t
text(struct pprof *pp, const char *t)
{
	return texts_number(&pp->texts, t) - 1;
}

static void
put_type(struct pprof *pp, unsigned field, const char *name, const char *unit)
{
	wire_number(&pp->part, VALUE_TYPE, text(pp, name));
	wire_number(&pp->part, VALUE_UNIT, text(pp, unit));
	wire_part(&pp->out, field, &pp->part);
}

static void
put_mapping(struct pprof *pp, size_t i, uint64_t start, uint64_t limit)
{
	static const char digits[] = "0123456789abcdef";
	const struct profile_object *o = pp->p->objects + i;
	char id[2 * sizeof o->build_id + 1] = "";

	for (unsigned k = 0; k < o->build_id_bytes; k++) {
		id[2 * k] = digits[o->build_id[k] >> 4];
		id[2 * k + 1] = digits[o->build_id[k] & 15];
	}
	wire_number(&pp->part, MAPPING_ID, i);
	wire_number(&pp->part, MAPPING_START, start);
	wire_number(&pp->part, MAPPING_LIMIT, limit);
	wire_number(&pp->part, MAPPING_FILE, text(pp, o->path ? o->path : ""));
	wire_number(&pp->part, MAPPING_BUILD_ID, text(pp, id));
	for (unsigned has = MAPPING_HAS_FUNCTIONS; !o->complaint
	    && has <= MAPPING_HAS_INLINED; has++)
		wire_number(&pp->part, has, 1);
	wire_part(&pp->out, PROFILE_MAPPING, &pp->part);
}

static bool
is_program(const struct profile *p, const struct profile_object *o)
{
	return o->path && p->exe && !strcmp(o->path, p->exe);
}

/* The highest address of each object is where it ends. */
static void
put_mappings(struct pprof *pp)
{
	const struct profile *p = pp->p;
	uint64_t *ends = room_new(p->object_count, sizeof *ends), at = 0;

	pp->bases = room_new(p->object_count, sizeof *pp->bases);
	for (size_t i = 0; i < p->call_count; i++) {
		const struct profile_call *c = p->calls + i;

		if (c->frame_count && c->object
		    && ends[c->object - p->objects] <= c->address)
			ends[c->object - p->objects] = c->address + 1;
	}
	for (unsigned others = 0; others < 2; others++)
		for (size_t i = 0; i < p->object_count; i++) {
			uint64_t bytes = (ends[i] + MAPPING_GRAIN - 1)
			    / MAPPING_GRAIN * MAPPING_GRAIN;

			if (!ends[i]
			    || is_program(p, p->objects + i) == others)
				continue;
			pp->bases[i] = at;
			put_mapping(pp, i, at, at + bytes);
			at += bytes;
		}
	free(ends);
}

static uint64_t
function(struct pprof *pp, const char *name, const char *file)
{
	size_t bytes = strlen(name) + strlen(file) + 2, had;
	char *key = room_new(bytes, 1);
	uint32_t id;

	snprintf(key, bytes, "%s\n%s", name, file);
	had = pp->functions.count;
	id = texts_number(&pp->functions, key);
	free(key);
	if (pp->functions.count == had)
		return id;
	wire_number(&pp->part, FUNCTION_ID, id);
	wire_number(&pp->part, FUNCTION_NAME, text(pp, name));
	wire_number(&pp->part, FUNCTION_SYSTEM_NAME, text(pp, name));
	wire_number(&pp->part, FUNCTION_FILE, text(pp, file));
	wire_part(&pp->out, PROFILE_FUNCTION, &pp->part);
	return id;
}

static void
put_location(struct pprof *pp, size_t i)
{
	const struct profile_call *c = pp->p->calls + i;
	size_t object = c->object ? (size_t)(c->object - pp->p->objects) : 0;
	struct wire location = { 0 };
	char room[RENDER_NAME];

	wire_number(&location, LOCATION_ID, i);
	if (object)
		wire_number(&location, LOCATION_MAPPING, object);
	wire_number(&location, LOCATION_ADDRESS, pp->bases[object]
	    + c->address);
	for (unsigned k = 0; k < c->frame_count; k++) {
		const struct profile_frame *f = c->frames + k;

		wire_number(&pp->inner, LINE_FUNCTION, function(pp,
		    render_name(f, room), f->file ? f->file : ""));
		wire_number(&pp->inner, LINE_LINE, f->line);
		wire_part(&location, LOCATION_LINE, &pp->inner);
	}
	wire_part(&pp->out, PROFILE_LOCATION, &location);
	wire_free(&location);
}

/* Of all stacks that are unknown: a location that no call has. */
static void
put_unknown(struct pprof *pp)
{
	struct wire location = { 0 };
	char room[RENDER_NAME];

	wire_number(&location, LOCATION_ID, pp->p->call_count + 1);
	wire_number(&pp->inner, LINE_FUNCTION,
	    function(pp, render_name(NULL, room), ""));
	wire_part(&location, LOCATION_LINE, &pp->inner);
	wire_part(&pp->out, PROFILE_LOCATION, &location);
	wire_free(&location);
}

static void
put_site(struct pprof *pp, const struct profile_site *site)
{
	const struct profile_node *tree = pp->p->tree;

	for (uint32_t f = site->frame; f; f = tree[f].caller)
		wire_uint(&pp->inner, tree[f].call);
	if (!site->frame)
		wire_uint(&pp->inner, pp->p->call_count + 1);
	wire_part(&pp->part, SAMPLE_LOCATIONS, &pp->inner);
	for (unsigned i = 0; i < VALUES; i++)
		wire_uint(&pp->inner, render_value_of(site, values + i));
	wire_part(&pp->part, SAMPLE_VALUES, &pp->inner);
	wire_part(&pp->out, PROFILE_SAMPLE, &pp->part);
}

static void
put_rest(struct pprof *pp)
{
	const struct profile *p = pp->p;
	char *command = render_command(p);

	if (isfinite(p->start) && p->start > 0)
		wire_number(&pp->out, PROFILE_TIME_NANOS,
		    (uint64_t)(p->start * 1e9));
	if (isfinite(p->elapsed_s) && p->elapsed_s > 0)
		wire_number(&pp->out, PROFILE_DURATION_NANOS,
		    (uint64_t)(p->elapsed_s * 1e9));
	put_type(pp, PROFILE_PERIOD_TYPE, "space", "bytes");
	wire_number(&pp->out, PROFILE_PERIOD, 1);
	wire_number(&pp->out, PROFILE_COMMENT, text(pp, command));
	wire_number(&pp->out, PROFILE_DEFAULT_SAMPLE_TYPE,
	    text(pp, "inuse_space"));
	for (size_t i = 0; i < pp->texts.count; i++)
		wire_bytes(&pp->out, PROFILE_STRINGS, pp->texts.list[i],
		    strlen(pp->texts.list[i]));
	free(command);
}

void
render_pprof(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	struct pprof pp = { .p = list };

	(void)look;
	if (!count)
		return;
	texts_number(&pp.texts, "");
	for (unsigned i = 0; i < VALUES; i++)
		put_type(&pp, PROFILE_SAMPLE_TYPE, values[i].name,
		    values[i].unit);
	put_mappings(&pp);
	for (size_t i = 0; i < list->call_count; i++)
		if (list->calls[i].frame_count)
			put_location(&pp, i);
	put_unknown(&pp);
	for (size_t i = 0; i < list->site_count; i++)
		put_site(&pp, list->sites + i);
	put_rest(&pp);
	gzip_write(to, pp.out.bytes, pp.out.count);
	free(pp.bases);
	texts_free(&pp.texts);
	texts_free(&pp.functions);
	wire_free(&pp.out);
	wire_free(&pp.part);
	wire_free(&pp.inner);
}
