/* SPDX-License-Identifier: Apache-2.0 */
/* A place says where it is, as a recorder sees it and as its author does:
 *
 *	PATH BUILD-ID ADDRESS what ask_symbols must answer to these
 */
#ifndef PLACES_H
#define PLACES_H

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

struct place {
	uintptr_t pc, bias;
	const char *path;
	const unsigned char *id;
	unsigned id_bytes;
};

static inline uintptr_t
place_padded(ElfW(Word) bytes)
{
	return (bytes + 3u) & ~(uintptr_t)3;
}

static inline void
place_note(struct place *p, const ElfW(Phdr) *h, uintptr_t bias)
{
	uintptr_t at = bias + h->p_vaddr, end = at + h->p_memsz;

	while (at + sizeof(ElfW(Nhdr)) < end) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		uintptr_t id = at + sizeof *note + place_padded(note->n_namesz);

		if (note->n_type == NT_GNU_BUILD_ID) {
			p->id = (const unsigned char *)id;
			p->id_bytes = note->n_descsz;
		}
		at = id + place_padded(note->n_descsz);
	}
}

static inline int
place_object(struct dl_phdr_info *o, size_t bytes, void *place)
{
	struct place *p = (struct place *)place;
	int inside = 0;

	(void)bytes;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD
		    && p->pc - o->dlpi_addr - o->dlpi_phdr[i].p_vaddr
		    < o->dlpi_phdr[i].p_memsz)
			inside = 1;
	if (!inside)
		return 0;
	p->bias = o->dlpi_addr;
	p->path = o->dlpi_name;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_NOTE)
			place_note(p, &o->dlpi_phdr[i], p->bias);
	return 1;
}

/* Of the caller, who must be at it again afterwards: see PLACE. */
__attribute__((noinline, unused, format(printf, 1, 2)))
static void
place_say(const char *wanted, ...)
{
	struct place p = { (uintptr_t)__builtin_return_address(0) - 1, 0,
	    NULL, NULL, 0 };
	char text[400], id[2 * 64 + 1] = "-";
	char *self = NULL;
	va_list args;

	dl_iterate_phdr(place_object, &p);
	for (unsigned i = 0; i < p.id_bytes && i < 64; i++)
		snprintf(id + 2 * i, 3, "%02x", p.id[i]);
	if (!p.path || !*p.path)
		p.path = self = realpath("/proc/self/exe", NULL);
	va_start(args, wanted);
	vsnprintf(text, sizeof text, wanted, args);
	va_end(args);
	say("%s %s %#lx %s\n", p.path, id, (unsigned long)(p.pc - p.bias),
	    text);
	free(self);
}

/* Nothing may make a jump of the call. */
#define PLACE(...) \
	do { \
		place_say(__VA_ARGS__); \
		__asm__ volatile(""); \
	} while (0)

#endif
