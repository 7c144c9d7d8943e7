/* SPDX-License-Identifier: Apache-2.0 */
#include "builds.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle.h"
#include "log/imprint.h"
#include "room.h"

/* A cut file lacks what comes last: a section, or the table of them. */
static bool
is_whole(Elf *elf, uint64_t bytes)
{
	GElf_Ehdr head;
	size_t count;
	Elf_Scn *section = NULL;

	if (!gelf_getehdr(elf, &head) || elf_getshdrnum(elf, &count)
	    || (head.e_shoff && !count))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr s;

		if (!gelf_getshdr(section, &s))
			return false;
		if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL
		    && (s.sh_offset > bytes || s.sh_size > bytes - s.sh_offset))
			return false;
	}
	return true;
}

/* The first bytes of a build id, as many as a person compares. */
static const char *
short_id(char text[20], const unsigned char *id, size_t bytes)
{
	if (!bytes)
		return "none";
	for (size_t i = 0; i < bytes && i < 8; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text;
}

static struct log_part
part_of(Elf *elf, uint64_t offset, uint64_t address, uint64_t count)
{
	size_t bytes;
	const char *file = elf_rawfile(elf, &bytes);

	if (!file || offset > bytes || count > bytes - offset)
		return (struct log_part){ NULL, 0, 0 };
	return (struct log_part){ (const void *)(file + offset), address,
	    count };
}

/* As the recorder finds it in what is mapped. */
static uint64_t
imprint_of(Elf *elf)
{
	struct log_imprint found = { 0 };
	size_t count = 0;
	GElf_Ehdr head;
	GElf_Phdr p;

	if (!gelf_getehdr(elf, &head) || elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++) {
		uint64_t behind = head.e_phoff + count * head.e_phentsize
		    - p.p_offset;

		if (p.p_type == PT_GNU_EH_FRAME)
			found.table = part_of(elf, p.p_offset, p.p_vaddr,
			    p.p_filesz);
		if (p.p_type != PT_LOAD)
			continue;
		if (!found.sum && behind < p.p_filesz
		    && (p.p_flags & (PF_R | PF_W)) == PF_R) {
			found.head = part_of(elf, p.p_offset + behind,
			    p.p_vaddr + behind, p.p_filesz - behind);
			found.code = p.p_flags & PF_X;
		}
		log_imprint_segment(&found, p.p_vaddr, p.p_memsz);
	}
	return log_imprint_sum(&found);
}

static bool
is_build(Elf *elf, const struct symbols_object *object, char why[BUILDS_WHY])
{
	char is[20], was[20];
	const void *id = NULL;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
	size_t count = bytes > 0 ? (size_t)bytes : 0;

	if (count == object->build_id_bytes
	    && (count ? !memcmp(id, object->build_id, count)
	    : !object->imprint || imprint_of(elf) == object->imprint))
		return true;
	if (!count && !object->build_id_bytes) {
		snprintf(why, BUILDS_WHY,
		    "was replaced since: other contents, and no build id");
		return false;
	}
	snprintf(why, BUILDS_WHY,
	    "was replaced since: its build id is %s, the log's is %s",
	    short_id(is, id, count),
	    short_id(was, object->build_id, object->build_id_bytes));
	return false;
}

static bool
is_good(int fd, const struct symbols_object *object, char why[BUILDS_WHY])
{
	struct stat st;
	Elf *elf;
	bool good = false;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		snprintf(why, BUILDS_WHY, "is not a file");
		return false;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		snprintf(why, BUILDS_WHY, "is not an ELF file");
	else if (!is_whole(elf, (uint64_t)st.st_size))
		snprintf(why, BUILDS_WHY, "is damaged: it ends early");
	else
		good = is_build(elf, object, why);
	elf_end(elf);
	return good;
}

/* NONBLOCK: a log may name a pipe.  A folder may be a bundle. */
static int
try(const char *path, const struct symbols_object *object, char why[BUILDS_WHY])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 && errno == ENOTDIR)
		fd = bundle_open(path);
	if (fd < 0) {
		snprintf(why, BUILDS_WHY, errno == ENOENT ? "is gone"
		    : "cannot be read: %s", strerror(errno));
		return -1;
	}
	if (is_good(fd, object, why))
		return fd;
	close(fd);
	return -1;
}

/* libdwfl frees it if it is set. */
static void
forget(char **path)
{
	free(*path);
	*path = NULL;
}

/* FORMAT, in a new PATH, and what is there. */
__attribute__((format(printf, 3, 4)))
static int
try_at(const struct symbols_object *object, char **path,
    const char *format, ...)
{
	char unasked[BUILDS_WHY];
	va_list args;
	int fd;

	va_start(args, format);
	if (vasprintf(path, format, args) < 0)
		room_none();
	va_end(args);
	fd = try(*path, object, unasked);
	if (fd < 0)
		forget(path);
	return fd;
}

/* .build-id/ab/cdef.debug is the debug file, without .debug the object. */
static int
try_by_id(const struct symbols_object *object, const char *folder,
    const char *end, char **path)
{
	unsigned bytes = object->build_id_bytes;
	char *hex;
	int fd;

	if (!bytes)
		return -1;
	hex = room_new(bytes + 1, 2);
	for (unsigned i = 0; i < bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", object->build_id[i]);
	fd = try_at(object, path, "%s/.build-id/%.2s/%s%s", folder, hex,
	    hex + 2, end);
	free(hex);
	return fd;
}

static int
try_below(const struct symbols_object *object, const char *folder, char **path)
{
	int fd = try_by_id(object, folder, ".debug", path);

	if (fd < 0)
		fd = try_by_id(object, folder, "", path);
	if (fd < 0)
		fd = try_at(object, path, "%s/%s", folder, object->path);
	if (fd < 0)
		fd = try_at(object, path, "%s%s", folder,
		    strrchr(object->path, '/'));
	return fd;
}

/* What was packed with the log comes before what is here by now; without an
 * id only that is known to be the very file. */
static int
try_packed(const struct symbols_object *object, const char *folder,
    char **path)
{
	struct stat st;

	if (!object->build_id_bytes)
		return try_at(object, path, "%s/no-build-id%s", folder,
		    object->path);
	return !stat(folder, &st) && S_ISREG(st.st_mode)
	    ? try_by_id(object, folder, "", path) : -1;
}

int
builds_open(const struct symbols_object *object, const char *const *folders,
    char **path, char why[BUILDS_WHY])
{
	int fd = -1;

	if (!strchr(object->path, '/')) {
		snprintf(why, BUILDS_WHY, "is not a file");
		return -1;
	}
	for (unsigned i = 0; fd < 0 && folders[i]; i++)
		fd = try_packed(object, folders[i], path);
	if (fd >= 0)
		return fd;
	fd = try(object->path, object, why);
	if (fd >= 0)
		*path = room_text(object->path, strlen(object->path));
	/* Of one of which neither is known, any file is as good. */
	for (; fd < 0 && (object->build_id_bytes || object->imprint)
	    && *folders; folders++)
		fd = try_below(object, *folders, path);
	return fd;
}

/* The sum of zip, gzip and .gnu_debuglink. */
static uint32_t
sum_of(int fd)
{
	static uint32_t table[256];
	unsigned char bytes[65536];
	uint32_t sum = UINT32_MAX;
	ssize_t n;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1
			    ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (off_t at = 0; (n = pread(fd, bytes, sizeof bytes, at)) > 0;
	    at += n)
		for (ssize_t i = 0; i < n; i++)
			sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
	return ~sum;
}

static int
try_link(const struct symbols_object *object, const char *from,
    const char *link, const char *const *folders, char **path)
{
	int folder = (int)(strrchr(from, '/') - from);
	int fd = try_at(object, path, "%.*s/%s", folder, from, link);

	if (fd < 0)
		fd = try_at(object, path, "%.*s/.debug/%s", folder, from, link);
	for (; fd < 0 && *folders; folders++) {
		fd = try_at(object, path, "%s/%.*s/%s", *folders, folder, from,
		    link);
		if (fd < 0)
			fd = try_at(object, path, "%s/%s", *folders, link);
	}
	return fd;
}

int
builds_open_debug(const struct symbols_object *object, const char *from,
    const char *link, uint32_t sum, const char *const *folders, char **path)
{
	struct symbols_object debug = *object;
	int fd = -1;

	debug.imprint = 0;	/* nothing of what is mapped is in it */
	for (unsigned i = 0; fd < 0 && folders[i]; i++)
		fd = try_by_id(&debug, folders[i], ".debug", path);
	if (fd < 0 && link)
		fd = try_link(&debug, from, link, folders, path);
	if (fd < 0 || object->build_id_bytes || sum_of(fd) == sum)
		return fd;
	close(fd);
	forget(path);
	return -1;
}

int
builds_open_shared(const struct symbols_object *shared, const char *from,
    const char *const *folders, char **path)
{
	int folder = *shared->path == '/' ? 0
	    : (int)(strrchr(from, '/') - from) + 1;
	int fd = -1;

	for (; fd < 0 && *folders; folders++)
		fd = try_by_id(shared, *folders, ".debug", path);
	return fd >= 0 ? fd
	    : try_at(shared, path, "%.*s%s", folder, from, shared->path);
}
