/* SPDX-License-Identifier: Apache-2.0 */
/* By elfutils: libdwfl puts an object and its debug file together, libdw
 * reads them. */
#include "symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builds.h"
#include "demangle.h"
#include "room.h"
#include "scopes.h"
#include "spans.h"

struct object {
	struct object *next;
	struct symbols_object key;
	char **folders;			/* of struct symbols */
	Dwfl *dwfl;			/* NULL: no file */
	Dwfl_Module *module;
	struct scopes *scopes;		/* NULL: no debug information */
	Dwarf *shared;			/* with other debug files; NULL */
	int shared_fd;
	char *shared_path;
	const unsigned char *shared_id;	/* in the debug file */
	unsigned shared_id_bytes;
	struct spans names;		/* of code, by the symbol table */
	bool names_read;
	char complaint[BUILDS_WHY];	/* empty: none */
};

struct symbols {
	struct object *objects;		/* the last asked for first */
	char **folders;			/* up to a NULL */
	void *plain;			/* tree of struct name */
};

/* RAW is in an object's file: one place, one name. */
struct name {
	const char *raw;
	char *plain;
};

/* libdwfl's own way of finding a debug file ends on a network.  It also
 * asks for what several debug files share, without a sum: see open_shared. */
static int
find_debug(Dwfl_Module *module, void **object, const char *name,
    Dwarf_Addr base, const char *from, const char *link, GElf_Word sum,
    char **path)
{
	const struct object *o = *object;

	(void)module;
	(void)name;
	(void)base;
	if (link && !sum)
		return -1;
	return builds_open_debug(&o->key, from, link, sum,
	    (const char *const *)o->folders, path);
}

struct symbols *
symbols_open(const char *const *debug_paths)
{
	struct symbols *s = room_new(1, sizeof *s);
	size_t count = 0, kept = 0;

	unsetenv("DEBUGINFOD_URLS");
	while (debug_paths[count])
		count++;
	s->folders = room_new(count + 2, sizeof *s->folders);
	for (size_t i = 0; i < count; i++) {
		s->folders[kept] = realpath(debug_paths[i], NULL);
		kept += s->folders[kept] != NULL;
	}
	s->folders[kept] = room_text("/usr/lib/debug", SIZE_MAX);
	return s;
}

static void
object_free(struct object *o)
{
	scopes_close(o->scopes);
	spans_free(&o->names);
	if (o->dwfl)
		dwfl_end(o->dwfl);
	if (o->shared) {
		dwarf_end(o->shared);
		close(o->shared_fd);
	}
	free(o->shared_path);
	free((char *)o->key.path);
	free((unsigned char *)o->key.build_id);
	free(o);
}

static void
name_free(void *name)
{
	free(((struct name *)name)->plain);
	free(name);
}

void
symbols_close(struct symbols *s)
{
	while (s->objects) {
		struct object *o = s->objects;

		s->objects = o->next;
		object_free(o);
	}
	tdestroy(s->plain, name_free);
	for (char **folder = s->folders; *folder; folder++)
		free(*folder);
	free(s->folders);
	free(s);
}

static bool
has_section(Elf *elf, unsigned type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr s;

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &s) && s.sh_type == type)
			return true;
	return false;
}

/* Where libdw does not find it itself: below a debug path, in a bundle. */
static void
open_shared(struct object *o, Dwarf *dwarf)
{
	const char *file, *debug;
	struct symbols_object key = { 0 };
	const void *id;
	ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &key.path, &id);

	dwfl_module_info(o->module, NULL, NULL, NULL, NULL, NULL, &file,
	    &debug);
	if (bytes <= 0)
		return;
	key.build_id = o->shared_id = id;
	key.build_id_bytes = o->shared_id_bytes = (unsigned)bytes;
	o->shared_fd = builds_open_shared(&key, debug ? debug : file,
	    (const char *const *)o->folders, &o->shared_path);
	if (o->shared_fd < 0)
		return;
	o->shared = dwarf_begin(o->shared_fd, DWARF_C_READ);
	if (o->shared)
		dwarf_setalt(dwarf, o->shared);
	else
		close(o->shared_fd);
}

/* Takes over FD. */
static void
read_file(struct object *o, const char *path, int fd)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = find_debug,
	};
	void **object;
	Dwarf_Addr bias;
	Dwarf *dwarf;
	GElf_Addr elf_bias;

	o->dwfl = dwfl_begin(&callbacks);
	if (!o->dwfl)
		room_none();
	dwfl_report_begin(o->dwfl);
	o->module = dwfl_report_elf(o->dwfl, path, path, fd, 0, true);
	dwfl_report_end(o->dwfl, NULL, NULL);
	if (!o->module) {
		close(fd);
		snprintf(o->complaint, sizeof o->complaint, "is damaged: %s",
		    dwfl_errmsg(-1));
		return;
	}
	dwfl_module_info(o->module, &object, NULL, NULL, NULL, NULL, NULL,
	    NULL);
	*object = o;
	dwarf = dwfl_module_getdwarf(o->module, &bias);
	if (dwarf)
		open_shared(o, dwarf);
	if (dwarf)
		o->scopes = scopes_open(dwarf, bias);
	else if (has_section(dwfl_module_getelf(o->module, &elf_bias),
	    SHT_SYMTAB))
		snprintf(o->complaint, sizeof o->complaint,
		    "has no debug information: no lines");
	else
		snprintf(o->complaint, sizeof o->complaint,
		    "is stripped: no lines, and few names");
}

static struct object *
object_new(struct symbols *s, const struct symbols_object *key)
{
	struct object *o = room_new(1, sizeof *o);
	unsigned char *id = room_new(key->build_id_bytes + 1, 1);
	char *path;
	int fd;

	if (key->build_id_bytes)
		memcpy(id, key->build_id, key->build_id_bytes);
	o->key = *key;
	o->key.build_id = id;
	o->folders = s->folders;
	o->key.path = room_text(key->path ? key->path : "", SIZE_MAX);
	fd = builds_open(&o->key, (const char *const *)s->folders, &path,
	    o->complaint);
	if (fd < 0)
		return o;
	o->complaint[0] = '\0';
	read_file(o, path, fd);
	free(path);
	return o;
}

static bool
is_key(const struct symbols_object *a, const struct symbols_object *b)
{
	return a->build_id_bytes == b->build_id_bytes
	    && a->imprint == b->imprint
	    && (!b->build_id_bytes
	    || !memcmp(a->build_id, b->build_id, b->build_id_bytes))
	    && !strcmp(a->path, b->path ? b->path : "");
}

static struct object *
object_of(struct symbols *s, const struct symbols_object *key)
{
	struct object **at = &s->objects, *o;

	while (*at && !is_key(&(*at)->key, key))
		at = &(*at)->next;
	o = *at;
	if (o)
		*at = o->next;
	else
		o = object_new(s, key);
	o->next = s->objects;
	s->objects = o;
	return o;
}

/* Of names for one place people know the exported best, and malloc better
 * than __libc_malloc.  -1: names no code. */
static int
rank_of(const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	int bind = GELF_ST_BIND(symbol->st_info);

	if (!*name || (type != STT_FUNC && type != STT_GNU_IFUNC
	    && type != STT_NOTYPE))
		return -1;
	if (type == STT_NOTYPE || bind == STB_LOCAL)
		return 3;
	if (bind == STB_WEAK)
		return 2;
	return name[0] == '_' && name[1] == '_';
}

enum { RANKS = 4 };

static void
add_name(struct object *o, int i, int rank)
{
	GElf_Sym symbol;
	GElf_Addr from;
	GElf_Word in;
	GElf_Shdr section;
	Dwarf_Addr bias;
	Elf *elf;
	const char *name = dwfl_module_getsym_info(o->module, i, &symbol,
	    &from, &in, &elf, &bias);
	GElf_Addr end;

	if (!name || in == SHN_UNDEF || rank_of(&symbol, name) != rank
	    || !gelf_getshdr(elf_getscn(elf, in), &section)
	    || !(section.sh_flags & SHF_EXECINSTR))
		return;
	end = section.sh_addr + section.sh_size + bias;
	if (symbol.st_size)
		spans_add(&o->names, from, from + symbol.st_size,
		    (void *)name);
	else
		spans_add_open(&o->names, from, end, (void *)name);
}

static void
read_names(struct object *o)
{
	int count = o->module ? dwfl_module_getsymtab(o->module) : 0;

	for (int rank = 0; rank < RANKS; rank++)
		for (int i = 1; i < count; i++)
			add_name(o, i, rank);
	o->names_read = true;
}

static const char *
name_at(struct object *o, uint64_t address)
{
	if (!o->names_read)
		read_names(o);
	return spans_find(&o->names, address);
}

static bool
is_mangled(const char *name)
{
	return name && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static int
by_raw(const void *left, const void *right)
{
	const char *a = ((const struct name *)left)->raw;
	const char *b = ((const struct name *)right)->raw;

	return (a > b) - (a < b);
}

/* Of a function that the compiler has split or made a variant of: there is
 * one for those who wrote it. */
static void
cut_variant(char *name)
{
	static const char *const marks[] = {
		" [clone .", ".cold", ".constprop.", ".isra.", ".llvm.",
		".lto_priv.", ".part.",
	};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		char *mark = strstr(name, marks[i]);

		if (mark && mark != name)
			*mark = '\0';
	}
}

static const char *
plain(struct symbols *s, const char *raw)
{
	struct name key = { .raw = raw }, *name;
	struct name **found;
	char *bare;

	if (!raw || (!is_mangled(raw) && !strpbrk(raw, ".@")))
		return raw;
	found = tfind(&key, &s->plain, by_raw);
	if (found)
		return (*found)->plain;
	name = room_new(1, sizeof *name);
	bare = room_text(raw, strcspn(raw, "@"));	/* no NAME@VERSION */
	*name = (struct name){ raw, is_mangled(bare) ? demangle(bare) : NULL };
	if (name->plain)
		free(bare);
	else
		name->plain = bare;
	cut_variant(name->plain);
	if (!tsearch(name, &s->plain, by_raw))
		room_none();
	return name->plain;
}

static bool
is_signal_frame(struct object *o, uint64_t address)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = o->module ? dwfl_module_eh_cfi(o->module, &bias)
	    : NULL;
	Dwarf_Frame *frame;
	bool is = false;

	if (!cfi || dwarf_cfi_addrframe(cfi, address - bias, &frame))
		return false;
	if (dwarf_frame_info(frame, NULL, NULL, &is) < 0)
		is = false;
	free(frame);
	return is;
}

/* What was never called, but only is to be returned to, begins at ADDRESS and
 * 1.  For the first debuggers have this name. */
static const char *
name_uncalled(struct object *o, uint64_t address)
{
	const char *name = name_at(o, address + 1);

	if (is_signal_frame(o, address)
	    || (name && !strcmp(name, "__restore_rt")))
		return "<signal handler called>";
	return name && !strcmp(name, "__start_context") ? name : NULL;
}

/* Debug information may lack a function that the symbol table has, or, made
 * with -g1, tell its name without what it is a member of. */
static void
name_function(struct object *o, uint64_t address, struct symbols_frame *frame)
{
	const char *name;

	if (is_mangled(frame->function))
		return;
	name = name_at(o, address);
	if (!frame->function || is_mangled(name))
		frame->function = name;
	if (!frame->function)
		frame->function = name_uncalled(o, address);
}

unsigned
symbols_find(struct symbols *s, const struct symbols_object *object,
    uint64_t address, struct symbols_frame *frames, unsigned most)
{
	struct object *o = object_of(s, object);
	unsigned count = o->scopes
	    ? scopes_find(o->scopes, address, frames, most) : 0;

	if (!count) {
		frames[0] = (struct symbols_frame){ 0 };
		count = 1;
	}
	if (count <= most)
		name_function(o, address, &frames[count - 1]);
	else
		count = most;
	for (unsigned i = 0; i < count; i++)
		frames[i].function = plain(s, frames[i].function);
	return count;
}

const char *
symbols_complaint(struct symbols *s, const struct symbols_object *object)
{
	const struct object *o = object_of(s, object);

	return o->complaint[0] ? o->complaint : NULL;
}

const char *
symbols_missed(struct symbols *s, const struct symbols_object *object,
    unsigned *more)
{
	const struct object *o = object_of(s, object);

	*more = 0;
	return o->scopes ? scopes_missed(o->scopes, more) : NULL;
}

void
symbols_files(struct symbols *s, const struct symbols_object *object,
    const char **file, const char **debug)
{
	const struct object *o = object_of(s, object);

	*file = *debug = NULL;
	if (o->module)
		dwfl_module_info(o->module, NULL, NULL, NULL, NULL, NULL, file,
		    debug);
}

const char *
symbols_shared(struct symbols *s, const struct symbols_object *object,
    const unsigned char **id, unsigned *bytes)
{
	const struct object *o = object_of(s, object);

	*id = o->shared_id;
	*bytes = o->shared_id_bytes;
	return o->shared ? o->shared_path : NULL;
}
