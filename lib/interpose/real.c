/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "conf.h"
#include "sys.h"
#include "text.h"

struct hh_real_order hh_real_order;

/* While the lookup runs, the same interface with other functions. */
static void *boot_malloc(size_t a) { return hh_boot_alloc(1, a); }
static void *boot_realloc(void *a, size_t b) { return hh_boot_resize(a, b); }
static void *boot_aligned_alloc(size_t a, size_t b)
    { return hh_boot_alloc(a, b); }
static void *boot_memalign(size_t a, size_t b) { return hh_boot_alloc(a, b); }
static void *boot_valloc(size_t a) { return hh_boot_alloc(4096, a); }
static void *boot_pvalloc(size_t a) { return hh_boot_alloc(4096, a); }
static size_t boot_malloc_usable_size(void *a) { return hh_boot_usable(a); }
static void boot_free(void *a) { (void)a; }

static void *
boot_calloc(size_t a, size_t b)
{
	size_t size;

	return hh_boot_alloc(1, __builtin_mul_overflow(a, b, &size)
	    ? SIZE_MAX : size);
}

static int
boot_posix_memalign(void **a, size_t b, size_t c)
{
	*a = hh_boot_alloc(b, c);
	return *a ? 0 : ENOMEM;
}

/* Before the lookup: do it, then what was asked. */
#define FIRST(result, name, parameters, arguments) \
	static result first_##name parameters \
	{ \
		hh_real_find(); \
		return hh_real.name arguments; \
	}
HH_REAL_HEAP(FIRST)

static void
first_free(void *a)
{
	hh_real_find();
	hh_real.free(a);
}

#define INITIAL(result, name, parameters, arguments) .name = first_##name,
#define BOOT(result, name, parameters, arguments) .name = boot_##name,

struct hh_real hh_real = { HH_REAL_HEAP(INITIAL) .free = first_free };

/* To say what was wrong, dlerror() of glibc asks for a translation, under a
 * lock that a setlocale(3) may hold which we are called from.  There a call
 * that succeeds lets go of what was kept to be said; elsewhere the first of
 * two gets the message and the second lets go of its memory. */
static void
forget_error(void)
{
#ifdef __GLIBC__
	dlsym(RTLD_DEFAULT, "free");
#else
	dlerror();
	dlerror();
#endif
}

void *
hh_real_symbol(enum hh_scope scope, const char *name)
{
	void *found = dlsym(scope == HH_NEXT ? RTLD_NEXT : RTLD_DEFAULT, name);

	if (!found)
		forget_error();
	return found;
}

static void *
next(const char *name)
{
	return hh_real_symbol(HH_NEXT, name);
}

/* Our own "malloc" may be the program's, so ask where it lies. */
bool
hh_real_is_ours(const void *at)
{
	Dl_info its, ours;

	return dladdr(at, &its) && dladdr(&hh_real, &ours)
	    && its.dli_fbase == ours.dli_fbase;
}

/* A program that is not position-independent and takes malloc's address
 * has one of its own for it, a stub that leads to whoever is first. */
static bool
is_stub(const void *at)
{
	Dl_info info;
	const ElfW(Sym) *symbol = NULL;

	return dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT)
	    && symbol && symbol->st_shndx == SHN_UNDEF;
}

static bool
is_program(const void *at)
{
	Dl_info info;
	struct link_map *map;

	return dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP)
	    && !map->l_prev;
}

static void
look_at_order(void *next_malloc)
{
	void *first = hh_real_symbol(HH_ANY, "malloc");
	Dl_info info;
	struct hh_text who = hh_text_in(hh_real_order.who,
	    sizeof hh_real_order.who);

	hh_real_order.next_is_libc =
	    next_malloc == next("__libc_malloc");
	if (first && !hh_real_is_ours(first) && !is_stub(first)) {
		hh_real_order.program_first = is_program(first);
		hh_real_order.other_first = !hh_real_order.program_first;
	}
	if (hh_real_order.other_first && dladdr(first, &info))
		hh_text_add(&who, info.dli_fname);
	else if (!hh_real_order.next_is_libc && dladdr(next_malloc, &info))
		hh_text_add(&who, info.dli_fname);
}

static void
look_up(struct hh_real *found)
{
	/* A function pointer cannot be assigned from dlsym's result in ISO
	 * C; all pointers are alike here. */
#define LOOK(result, name, ...) \
	{ void *at = next(#name); memcpy(&found->name, &at, sizeof at); }
	HH_REAL_HEAP(LOOK)
	HH_REAL_REST(LOOK)
	LOOK(void, free)
}

void
hh_real_find(void)
{
	static const struct hh_real boot =
	    { HH_REAL_HEAP(BOOT) .free = boot_free };
	static HH_NEAR _Atomic int begun;
	static HH_NEAR _Atomic int done;
	struct hh_real found = { .free = NULL };

	if (atomic_load_explicit(&done, memory_order_acquire))
		return;
	/* A nested call, from dlsym, has the boot functions already; another
	 * thread waits.  Threads this early are unheard of. */
	if (atomic_exchange(&begun, 1)) {
		while (!atomic_load(&done) && hh_real.malloc == first_malloc)
			hh_sys_yield();
		return;
	}
	hh_real = boot;
	look_up(&found);
	if (hh_conf_wanted())
		look_at_order(found.malloc);
	hh_real = found;
	atomic_store(&done, 1);
}

bool
hh_real_has_peer(void)
{
	static const char name[] = "heaphook_get_stats";
	const void *first = hh_real_symbol(HH_ANY, name);

	if (first && !hh_real_is_ours(first))
		return true;
	if (hh_real_order.next_is_libc)
		return false;
	return next(name) != NULL;
}

void *
hh_real_memalign(enum hh_call call, size_t align, size_t size, int *error)
{
	void *block = NULL;

	switch (call) {
	case HH_POSIX_MEMALIGN:
		*error = hh_real.posix_memalign(&block, align, size);
		return *error ? NULL : block;
	case HH_ALIGNED_ALLOC:
		return hh_real.aligned_alloc(align, size);
	case HH_VALLOC:
		return hh_real.valloc(size);
	case HH_PVALLOC:
		return hh_real.pvalloc(size);
	default:
		return hh_real.memalign(align, size);
	}
}
