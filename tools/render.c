/* SPDX-License-Identifier: Apache-2.0 */
#include "render.h"

#include <stdint.h>
#include <string.h>

const struct renderer renderers[] = {
	{ "text", "for people", render_text, RENDER_SITES, RENDER_LOGS, NULL,
	    NULL },
	{ "json", "for programs", render_json, SIZE_MAX, RENDER_LOGS, NULL,
	    NULL },
	{ "csv", "one row for each log", render_csv, 0, RENDER_LOGS, NULL,
	    NULL },
	{ "massif", "for ms_print", render_massif, SIZE_MAX, RENDER_LOG,
	    NULL, NULL },
	{ "heaptrack", "for heaptrack_gui", render_heaptrack, SIZE_MAX,
	    RENDER_STACKS, render_heaptrack_events, NULL },
	{ "pprof", "for go tool pprof", render_pprof, SIZE_MAX,
	    RENDER_STACKS, NULL, NULL },
	{ "folded", "for flame graphs", render_folded, SIZE_MAX,
	    RENDER_STACKS, NULL, NULL },
	{ "speedscope", "for speedscope", render_speedscope, SIZE_MAX,
	    RENDER_STACKS, NULL, NULL },
	{ "callgrind", "for KCachegrind", render_callgrind, SIZE_MAX,
	    RENDER_STACKS, NULL, NULL },
	{ "dhat", "for dh_view.html", render_dhat, SIZE_MAX,
	    RENDER_STACKS, NULL, NULL },
	{ "svg", "a picture, for a browser", render_svg, SIZE_MAX, RENDER_LOG,
	    NULL, NULL },
	{ "pdf", "the picture on paper", render_pdf, SIZE_MAX, RENDER_LOG,
	    NULL, &render_paper_lacks },
	{ "png", "the picture in pixels", render_png, SIZE_MAX, RENDER_LOG,
	    NULL, &render_paper_lacks },
	{ NULL, NULL, NULL, 0, RENDER_LOGS, NULL, NULL }
};

const struct renderer *
render_find(const char *name)
{
	const struct renderer *r = renderers;

	while (r->name && strcmp(r->name, name))
		r++;
	return r->name ? r : NULL;
}

#define FIELD(name, kind, when) \
	{ #name, kind, offsetof(struct profile, name), when }

const struct render_field render_fields[] = {
	FIELD(path, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(pid, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(ppid, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(exe, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(argv, RENDER_TEXTS, RENDER_ALWAYS),
	FIELD(cwd, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(host, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(rank, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(ranks, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(mode, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(bytes, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(state, RENDER_TEXT, RENDER_ALWAYS),
	FIELD(status, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(complete, RENDER_TRUTH, RENDER_ALWAYS),
	FIELD(problems, RENDER_TEXTS, RENDER_ALWAYS),
	FIELD(sample_bytes, RENDER_NUMBER, RENDER_SAMPLE),
	FIELD(start, RENDER_SECONDS, RENDER_ALWAYS),
	FIELD(elapsed_s, RENDER_SECONDS, RENDER_ALWAYS),
	FIELD(allocations, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(frees, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(failed, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(allocated_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(peak_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(peak_usable_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(peak_s, RENDER_SECONDS, RENDER_ALWAYS),
	FIELD(peak_error_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(live_blocks, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(live_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(live_usable_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(unknown_frees, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(inherited_blocks, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(inherited_bytes, RENDER_NUMBER, RENDER_ALWAYS),
	FIELD(mappings, RENDER_NUMBER, RENDER_MAPPINGS),
	FIELD(mapped_bytes, RENDER_NUMBER, RENDER_MAPPINGS),
	FIELD(pool_bytes, RENDER_NUMBER, RENDER_POOL),
	FIELD(pool_used_bytes, RENDER_NUMBER, RENDER_POOL),
	FIELD(pool_peak_bytes, RENDER_NUMBER, RENDER_POOL),
	FIELD(pool_largest_free_bytes, RENDER_NUMBER, RENDER_POOL),
	FIELD(pool_growths, RENDER_NUMBER, RENDER_POOL),
	{ NULL, RENDER_TEXT, 0, RENDER_ALWAYS }
};

bool
render_has(const struct profile *p, const struct render_field *f)
{
	switch (f->when) {
	case RENDER_MAPPINGS:
		return p->has_mappings;
	case RENDER_SAMPLE:
		return p->sample_bytes.known;
	case RENDER_POOL:
		return p->has_pool;
	default:
		return true;
	}
}

/* Not the shortest form, half of a pair, beyond Unicode, a control character,
 * or none that will ever be: XML and cairo refuse those. */
static bool
is_bad(uint32_t c, unsigned bytes)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return c < least[bytes] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff
	    || c < 0x20 || (c >= 0x7f && c < 0xa0)
	    || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c < 0xfdf0);
}

unsigned
render_seen(const char *at)
{
	const unsigned char *u = (const unsigned char *)at;
	unsigned bytes = *u < 0x80 ? 1 : *u < 0xc0 ? 0 : *u < 0xe0 ? 2
	    : *u < 0xf0 ? 3 : *u < 0xf8 ? 4 : 0;
	uint32_t c = bytes > 1 ? *u & (0x7fu >> bytes) : *u;

	for (unsigned i = 1; i < bytes; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	return !bytes || is_bad(c, bytes) ? 0 : bytes;
}

unsigned
render_put(FILE *to, const char *text, unsigned columns, bool utf8)
{
	while (text && *text && columns) {
		unsigned bytes = render_seen(text);

		if (bytes > 1 && !utf8)
			bytes = 0;
		if (!bytes && columns < 4)
			break;
		if (bytes)
			fwrite(text, 1, bytes, to);
		else
			fprintf(to, "\\x%02x", (unsigned char)*text);
		columns -= bytes ? 1 : 4;
		text += bytes ? bytes : 1;
	}
	return columns;
}
