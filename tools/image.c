/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer names are none that we look for. */
enum { MAX_NAME = 64 };

/* By which names, defined or needed, a program says what it brings. */
static const struct trait {
	const char *symbol;
	const char *library;	/* a needed library's name starts so */
	const char *name;
	enum image_kind kind;
} traits[] = {
	{ "__asan_init", "libasan.so", "AddressSanitizer", IMAGE_SANITIZER },
	{ "__tsan_init", "libtsan.so", "ThreadSanitizer", IMAGE_SANITIZER },
	{ "__msan_init", "libmsan.so", "MemorySanitizer", IMAGE_SANITIZER },
	{ "__lsan_init", "liblsan.so", "LeakSanitizer", IMAGE_SANITIZER },
	{ "__hwasan_init", "libhwasan.so", "HWAddressSanitizer",
	    IMAGE_SANITIZER },
	{ NULL, "libclang_rt.asan", "AddressSanitizer", IMAGE_SANITIZER },
	{ NULL, "libclang_rt.tsan", "ThreadSanitizer", IMAGE_SANITIZER },
	{ NULL, "libclang_rt.hwasan", "HWAddressSanitizer", IMAGE_SANITIZER },
	/* A library's malloc comes after a preload's, the program's own
	 * before it: only the latter is out of reach. */
	{ "mallctl", NULL, "jemalloc", IMAGE_OWN_MALLOC },
	{ "je_mallctl", NULL, "jemalloc", IMAGE_OWN_MALLOC },
	{ "tc_malloc", NULL, "tcmalloc", IMAGE_OWN_MALLOC },
	{ "mi_malloc", NULL, "mimalloc", IMAGE_OWN_MALLOC },
	{ NULL, NULL, NULL, IMAGE_PLAIN }
};

bool
image_open(struct image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	*image = (struct image){ NULL, 0 };
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !st.st_size) {
		close(fd);
		return true;
	}
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*image = (struct image){ bytes, (size_t)st.st_size };
	return true;
}

void
image_close(struct image *image)
{
	if (image->bytes)
		munmap((void *)(uintptr_t)image->bytes, image->size);
}

/* Copied, since an offset in a file need not be aligned. */
static bool
take(const struct image *i, uint64_t offset, void *to, size_t size)
{
	if (offset > i->size || size > i->size - offset)
		return false;
	memcpy(to, i->bytes + offset, size);
	return true;
}

/* A text that ends within the file and within MAX bytes; else NULL. */
static const char *
text_at(const struct image *i, uint64_t offset, size_t max)
{
	if (offset >= i->size)
		return NULL;
	if (max > i->size - offset)
		max = i->size - offset;
	if (!memchr(i->bytes + offset, 0, max))
		return NULL;
	return (const char *)i->bytes + offset;
}

static const char *
string(const struct image *i, const ElfW(Shdr) *strings, uint64_t offset)
{
	if (offset >= strings->sh_size || strings->sh_offset > i->size)
		return NULL;
	return text_at(i, strings->sh_offset + offset, MAX_NAME);
}

/* The first section of TYPE and the strings it refers to. */
static bool
section(const struct image *i, const ElfW(Ehdr) *e, uint32_t type,
    ElfW(Shdr) *found, ElfW(Shdr) *strings)
{
	for (uint64_t n = 0; n < e->e_shnum; n++) {
		if (!take(i, e->e_shoff + n * sizeof *found, found,
		    sizeof *found))
			return false;
		if (found->sh_type == type)
			return take(i, e->e_shoff
			    + found->sh_link * (uint64_t)sizeof *strings,
			    strings, sizeof *strings);
	}
	return false;
}

static const struct trait *
library_trait(const char *name)
{
	for (const struct trait *t = traits; t->name; t++)
		if (t->library
		    && !strncmp(name, t->library, strlen(t->library)))
			return t;
	return NULL;
}

static const struct trait *
needed_trait(const struct image *i, const ElfW(Ehdr) *e)
{
	const struct trait *t = NULL;
	ElfW(Shdr) dynamic, strings;
	ElfW(Dyn) entry;

	if (!section(i, e, SHT_DYNAMIC, &dynamic, &strings))
		return NULL;
	for (uint64_t at = 0; !t && at < dynamic.sh_size; at += sizeof entry) {
		const char *name;

		if (!take(i, dynamic.sh_offset + at, &entry, sizeof entry))
			return NULL;
		if (entry.d_tag != DT_NEEDED)
			continue;
		name = string(i, &strings, entry.d_un.d_val);
		t = name ? library_trait(name) : NULL;
	}
	return t;
}

static const struct trait *
symbol_trait(const char *name)
{
	for (const struct trait *t = traits; t->name; t++)
		if (t->symbol && !strcmp(name, t->symbol))
			return t;
	return NULL;
}

/* What the table of TYPE defines: a trait, and whether malloc is there. */
static const struct trait *
defined_trait(const struct image *i, const ElfW(Ehdr) *e, uint32_t type,
    bool *has_malloc)
{
	const struct trait *found = NULL;
	ElfW(Shdr) table, strings;
	ElfW(Sym) symbol;

	if (!section(i, e, type, &table, &strings))
		return NULL;
	for (uint64_t at = 0; at < table.sh_size; at += sizeof symbol) {
		const char *name;

		if (!take(i, table.sh_offset + at, &symbol, sizeof symbol))
			break;
		if (symbol.st_shndx == SHN_UNDEF)
			continue;
		name = string(i, &strings, symbol.st_name);
		if (!name)
			continue;
		if (!strcmp(name, "malloc"))
			*has_malloc = true;
		else if (!found)
			found = symbol_trait(name);
	}
	return found;
}

static enum image_kind
contents_kind(const struct image *i, const ElfW(Ehdr) *e, const char **what)
{
	const struct trait *t = needed_trait(i, e);
	bool has_malloc = false;

	if (!t)
		t = defined_trait(i, e, SHT_DYNSYM, &has_malloc);
	/* All that may be stripped, but then only the name is lost. */
	if (!t && has_malloc)
		t = defined_trait(i, e, SHT_SYMTAB, &has_malloc);
	if (t)
		*what = t->name;
	if (t && t->kind == IMAGE_SANITIZER)
		return IMAGE_SANITIZER;
	return has_malloc ? IMAGE_OWN_MALLOC : IMAGE_PLAIN;
}

/* Cut short, or none that the kernel would start. */
static bool
has_segments(const struct image *i, const ElfW(Ehdr) *e)
{
	uint64_t bytes = e->e_phnum * (uint64_t)sizeof(ElfW(Phdr));

	return bytes && e->e_phoff <= i->size && bytes <= i->size - e->e_phoff;
}

/* The loader's path, NULL in a static program. */
static const char *
loader(const struct image *i, const ElfW(Ehdr) *e)
{
	ElfW(Phdr) p;

	for (uint64_t n = 0; n < e->e_phnum; n++) {
		if (!take(i, e->e_phoff + n * sizeof p, &p, sizeof p))
			return NULL;
		if (p.p_type == PT_INTERP)
			return text_at(i, p.p_offset, i->size);
	}
	return NULL;
}

static void
describe_machine(const ElfW(Ehdr) *e, char what[IMAGE_WHAT])
{
	static const struct {
		unsigned machine;
		const char *name;
	} machines[] = {
		{ EM_386, "i386" }, { EM_X86_64, "x86-64" }, { EM_ARM, "Arm" },
		{ EM_AARCH64, "AArch64" }, { EM_RISCV, "RISC-V" },
		{ EM_PPC, "PowerPC" }, { EM_PPC64, "PowerPC 64" },
		{ EM_S390, "S/390" }, { EM_MIPS, "MIPS" },
		{ 258, "LoongArch" },
	};
	int bits = e->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	unsigned machine = e->e_machine;

	/* e_machine stands at the same place in both classes. */
	if (e->e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	    ? ELFDATA2LSB : ELFDATA2MSB))
		machine = (machine & 0xff) << 8 | machine >> 8;
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == machine) {
			snprintf(what, IMAGE_WHAT, "%d-bit %s", bits,
			    machines[i].name);
			return;
		}
	snprintf(what, IMAGE_WHAT, "%d-bit machine %u", bits, machine);
}

static bool
is_musl(const char *loader_path)
{
	return loader_path && strstr(loader_path, "/ld-musl");
}

static bool
same_file(const char *path, const struct image *i)
{
	struct image other;
	bool same;

	if (!path || !image_open(&other, path))
		return false;
	same = other.size == i->size
	    && !memcmp(other.bytes, i->bytes, i->size);
	image_close(&other);
	return same;
}

static enum image_kind
kind_beside(const struct image *i, const struct image *us,
    char what[IMAGE_WHAT])
{
	ElfW(Ehdr) e, ours;
	const char *its_loader, *our_loader, *name = "";
	enum image_kind kind;

	if (!take(i, 0, &e, sizeof e) || !take(us, 0, &ours, sizeof ours))
		return IMAGE_BROKEN;
	if (e.e_ident[EI_CLASS] != ours.e_ident[EI_CLASS]
	    || e.e_ident[EI_DATA] != ours.e_ident[EI_DATA]
	    || e.e_machine != ours.e_machine) {
		describe_machine(&e, what);
		return IMAGE_FOREIGN;
	}
	if ((e.e_type != ET_EXEC && e.e_type != ET_DYN) || !has_segments(i, &e))
		return IMAGE_BROKEN;
	what[0] = '\0';
	its_loader = loader(i, &e);
	our_loader = loader(us, &ours);
	/* The loader as a command has none, and preloads all the same. */
	if (!its_loader)
		return same_file(our_loader, i) ? IMAGE_PLAIN : IMAGE_STATIC;
	if (access(its_loader, X_OK)) {
		snprintf(what, IMAGE_WHAT, "its loader %s is missing",
		    its_loader);
		return IMAGE_BROKEN;
	}
	if (is_musl(its_loader) != is_musl(our_loader)) {
		snprintf(what, IMAGE_WHAT, "%s",
		    is_musl(its_loader) ? "musl libc" : "glibc");
		return IMAGE_FOREIGN;
	}
	kind = contents_kind(i, &e, &name);
	snprintf(what, IMAGE_WHAT, "%s", name);
	return kind;
}

enum image_kind
image_kind(const struct image *image, char what[IMAGE_WHAT])
{
	enum image_kind kind;
	struct image us;

	snprintf(what, IMAGE_WHAT, "it is damaged");
	if (image->size < SELFMAG || memcmp(image->bytes, ELFMAG, SELFMAG))
		return IMAGE_NOT_ELF;
	/* This very program was built with the library, for its machine. */
	if (!image_open(&us, "/proc/self/exe"))
		return IMAGE_PLAIN;
	kind = kind_beside(image, &us, what);
	image_close(&us);
	return kind;
}
