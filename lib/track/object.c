/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "object.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "../interpose/real.h"
#include "../interpose/sys.h"
#include "../log/imprint.h"
#include "chunk.h"
#include "file.h"
#include "frame.h"
#include "unwind.h"

enum {
	OBJECTS = 4096,
	COMING = 1,		/* the end of one that is being put there */
	END_BITS = 48,
};

struct object {
	uintptr_t start;
	_Atomic uint64_t end;	/* above END_BITS: which time it was put there,
				 * as another may come to the same place */
	const void *tables;
	const void *map;	/* what the loader knows it by */
	uintptr_t bias;		/* this and the name are not for all to see: */
	const char *name;	/* they go with it */
};

/* Those that the log knows.  What is gone has no end, and its entry is for
 * another. */
static struct object seen[OBJECTS];
static _Atomic uint32_t seen_count;

#if defined DLFO_STRUCT_HAS_EH_DBASE
typedef struct dl_find_object loader_answer;
#else	/* the libc that we were built with has none, another may have */
typedef struct {
	unsigned long long flags;
	void *dlfo_map_start, *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long reserved[7];
} loader_answer;
#endif

/* Since glibc 2.35, and without a lock. */
static int (*ask_loader)(void *, loader_answer *);

void
hh_object_begin(void)
{
	ask_loader = (int (*)(void *, loader_answer *))
	    (uintptr_t)hh_real_symbol(HH_ANY, "_dl_find_object");
}

static uintptr_t
end_of(uint64_t end)
{
	return (uintptr_t)(end & ((UINT64_C(1) << END_BITS) - 1));
}

struct search {
	uintptr_t pc;
	struct object found;
};

static int
look_into(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct search *s = data;
	struct object o = { UINTPTR_MAX, 0, NULL, info->dlpi_phdr,
	    info->dlpi_addr, info->dlpi_name };

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && at < o.start)
			o.start = at & -(uintptr_t)LOG_PAGE;
		if (p->p_type == PT_LOAD && at + p->p_memsz > o.end)
			o.end = at + p->p_memsz;
		if (p->p_type == PT_GNU_EH_FRAME)
			o.tables = (const void *)at;
	}
	if (s->pc < o.start || s->pc >= o.end)
		return 0;
	s->found = o;
	return 1;
}

/* The loader's lock that an older libc takes here is held for a moment only,
 * and by nobody who waits for us: we hold none. */
static bool
find(uintptr_t pc, struct object *o)
{
	struct search search = { .pc = pc };
	loader_answer answer;

	if (!ask_loader) {
		*o = (struct object){ 0 };
		if (!dl_iterate_phdr(look_into, &search))
			return false;
		*o = search.found;
		return true;
	}
	if (ask_loader((void *)pc, &answer) != 0)
		return false;
	*o = (struct object){ (uintptr_t)answer.dlfo_map_start,
	    (uintptr_t)answer.dlfo_map_end, answer.dlfo_eh_frame,
	    answer.dlfo_link_map, 0, NULL };
	return true;
}

/* Of one that cannot go now, for the caller is in it. */
static void
describe(struct object *o)
{
	const struct link_map *map = o->map;

	if (!ask_loader)
		return;
	o->bias = map->l_addr;
	o->name = map->l_name;
}

const void *
hh_object_tables(uintptr_t pc)
{
	struct object o;

	return find(pc, &o) ? o.tables : NULL;
}

/* The note of NAME's in the segment [AT, END) that is its build id. */
static bool
read_notes(struct log_object *log, const char *at, const char *end)
{
	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const char *name = at + sizeof *note;
		const char *value = name + ((note->n_namesz + 3) & ~3u);

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4
		    && memcmp(name, "GNU", 4) == 0
		    && note->n_descsz <= LOG_BUILD_ID_MOST) {
			log->build_id = (const unsigned char *)value;
			log->build_id_bytes = note->n_descsz;
			return true;
		}
		at = value + ((note->n_descsz + 3) & ~3u);
		if (at > end)
			break;
	}
	return false;
}

/* Program headers, as they are mapped. */
struct headers {
	uintptr_t bias;
	const ElfW(Phdr) *list;
	size_t count;
};

static void
find_build_id(struct log_object *log, const struct headers *h)
{
	for (size_t i = 0; i < h->count; i++) {
		const ElfW(Phdr) *p = &h->list[i];
		const char *at = (const char *)h->bias + p->p_vaddr;

		if (p->p_type == PT_NOTE
		    && read_notes(log, at, at + p->p_memsz))
			return;
	}
}

static struct log_part
part_of(const struct headers *h, uint64_t address, uint64_t end)
{
	return (struct log_part){ (const void *)(h->bias + (uintptr_t)address),
	    address, address < end ? end - address : 0 };
}

static uint64_t
imprint_of(const struct headers *h)
{
	uint64_t behind = (uintptr_t)(h->list + h->count) - h->bias;
	struct log_imprint found = { 0 };

	for (size_t i = 0; i < h->count; i++) {
		const ElfW(Phdr) *p = &h->list[i];
		uint64_t end = p->p_vaddr + p->p_filesz;

		if (p->p_type == PT_GNU_EH_FRAME)
			found.table = part_of(h, p->p_vaddr, end);
		if (p->p_type != PT_LOAD)
			continue;
		if (!found.sum && behind - p->p_vaddr < p->p_filesz
		    && (p->p_flags & (PF_R | PF_W)) == PF_R) {
			found.head = part_of(h, behind, end);
			found.code = p->p_flags & PF_X;
		}
		log_imprint_segment(&found, p->p_vaddr, p->p_memsz);
	}
	return h->count ? log_imprint_sum(&found) : 0;
}

/* The program itself, which has no name. */
static bool
is_program(const struct object *o)
{
	return !*o->name;
}

/* Its program headers lie behind its first bytes, which are mapped.  The
 * program may have gaps between its segments, and then they are not where
 * this one begins; but the kernel tells where. */
static struct headers
headers_of(const struct object *o)
{
	const ElfW(Ehdr) *elf = (const void *)o->start;
	struct headers h = { o->bias, NULL, 0 };

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) {
		if (is_program(o))
			return (struct headers){ o->bias,
			    (const void *)getauxval(AT_PHDR),
			    getauxval(AT_PHNUM) };
	} else if (elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr))
	    <= LOG_PAGE) {
		h.list = (const void *)(o->start + elf->e_phoff);
		h.count = elf->e_phnum;
	}
	return h;
}

static bool
has_loader(void)
{
	const ElfW(Phdr) *p = (const void *)getauxval(AT_PHDR);

	for (size_t i = getauxval(AT_PHNUM); p && i-- > 0;)
		if (p[i].p_type == PT_INTERP)
			return true;
	return false;
}

/* If the kernel was told to run the loader, it loaded none, and what the
 * process runs is not the program. */
static const char *
name_of(const struct object *o)
{
	return is_program(o) && !getauxval(AT_BASE) && has_loader()
	    ? program_invocation_name : o->name;
}

/* A record, and what does not fit into it. */
struct record {
	struct hh_stream *s;
	struct log_long l;
	uint64_t dt;
};

static void
put(struct record *r)
{
	hh_chunk_put_long(r->s, &r->l, r->dt);
	r->dt = 0;
}

static void
add(struct record *r, const char *text)
{
	size_t bytes = strlen(text);

	for (;;) {
		size_t done = log_long_text(&r->l, text, bytes);

		if (done == bytes)
			return;
		text += done;
		bytes -= done;
		put(r);
		log_long_begin(&r->l, LOG_X_PATH, 0);
	}
}

/* From where the program is, which is where it looked. */
static void
add_folder(struct record *r)
{
	char *cwd = hh_sys_map_private(LOG_PAGE);

	if (cwd && hh_sys_getcwd(cwd, LOG_PAGE) > 0) {
		add(r, cwd);
		add(r, "/");
	}
	if (cwd)
		hh_sys_unmap(cwd, LOG_PAGE);
}

static void
put_imprint(struct hh_stream *s, uint64_t sum)
{
	struct log_long l;

	log_long_begin(&l, LOG_X_IMPRINT, 0);
	log_long_uint(&l, sum);
	hh_chunk_put_long(s, &l, 0);
}

static void
put_object(struct hh_stream *s, const struct object *o)
{
	struct headers headers = headers_of(o);
	struct log_object log = { o->bias, o->start, o->end - o->start,
	    NULL, 0 };
	struct record r = { .s = s, .dt = hh_stream_since(s) };
	const char *name = name_of(o);

	find_build_id(&log, &headers);
	log_long_object(&r.l, &log, "", 0, r.dt);
	if (strstr(name, "linux-vdso") || strstr(name, "linux-gate")) {
		add(&r, "[vdso]");
	} else {
		if (*name && *name != '/' && !hh_file_sealed())
			add_folder(&r);
		add(&r, name);
	}
	put(&r);
	if (!log.build_id_bytes)
		put_imprint(s, imprint_of(&headers));
}

static bool
is_seen(uintptr_t pc)
{
	uint32_t count = atomic_load(&seen_count);

	for (uint32_t i = count < OBJECTS ? count : OBJECTS; i-- > 0;)
		/* Pairs with the release of keep(). */
		if (pc < end_of(atomic_load_explicit(&seen[i].end,
		    memory_order_acquire)) && pc >= seen[i].start)
			return true;
	return false;
}

/* An entry of nobody; OBJECTS: there is none. */
static uint32_t
claim(void)
{
	uint32_t count = atomic_load(&seen_count), i;

	for (i = 0; i < count && i < OBJECTS; i++) {
		uint64_t none = atomic_load(&seen[i].end);

		if (!end_of(none) && atomic_compare_exchange_strong(
		    &seen[i].end, &none, none | COMING))
			return i;
	}
	i = atomic_fetch_add(&seen_count, 1);
	return i < OBJECTS ? i : OBJECTS;
}

/* Its end last: from then on others find it. */
static void
keep(const struct object *o)
{
	uint32_t i = claim();
	uint64_t times;

	if (i == OBJECTS)
		return;
	times = (atomic_load(&seen[i].end) >> END_BITS) + 1;
	seen[i].start = o->start;
	seen[i].tables = o->tables;
	seen[i].map = o->map;
	atomic_store_explicit(&seen[i].end, times << END_BITS | o->end,
	    memory_order_release);
}

/* Two threads may both find it new: then the log says it twice. */
void
hh_object_note(struct hh_stream *s, uintptr_t pc)
{
	struct object o;

	if (is_seen(pc) || !find(pc, &o))
		return;
	describe(&o);
	put_object(s, &o);
	keep(&o);
}

static void
put_unload(struct hh_stream *s, uintptr_t start, uint64_t dt)
{
	struct log_long l;

	log_long_begin(&l, LOG_X_UNLOAD, dt);
	log_long_uint(&l, start);
	hh_chunk_put_long(s, &l, dt);
}

static bool
is_still(const struct object *o)
{
	struct object now;

	return find(o->start, &now) && now.start == o->start
	    && now.end == end_of(o->end) && now.tables == o->tables
	    && now.map == o->map;
}

/* Others may find the same, and what has come to the same place: they say so
 * after they have seen that the old one is gone.  So who looks at its end
 * knows the time before. */
void
hh_object_check(struct hh_stream *s)
{
	uint32_t count = atomic_load(&seen_count);

	for (uint32_t i = 0; i < count && i < OBJECTS; i++) {
		struct object *o = &seen[i];
		uint64_t dt = hh_stream_since(s);
		uint64_t end = atomic_load(&o->end);
		uintptr_t start = o->start;

		if (end_of(end) <= COMING || is_still(o))
			continue;
		put_unload(s, start, dt);
		hh_frame_forget_range(start, end_of(end));
		hh_unwind_forget();
		/* Unless another has done so, and it is somebody else's. */
		atomic_compare_exchange_strong(&o->end, &end,
		    end >> END_BITS << END_BITS);
	}
}

void
hh_object_forget(void)
{
	uint32_t count = atomic_exchange(&seen_count, 0);

	for (uint32_t i = 0; i < count && i < OBJECTS; i++)
		seen[i].end = 0;
}
