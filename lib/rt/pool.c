/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pool.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "room.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif

#define RESERVE_LEAST (UINT64_C(64) << 30)
#define SPARE_LEAST (UINT64_C(1) << 20)

enum {
	RESERVE_TIMES = 16,	/* the pool: address space of a region */
	SPARE_PART = 8,		/* of the pool, under RLIMIT_AS: 64 regions
				 * then hold 1,500 times the first */
	HUGE_BYTES = 2 * 1024 * 1024,
};

/* A range of addresses: areas from its base on, then pages that are open,
 * since areas end anywhere, then those that only we may use. */
struct region {
	uintptr_t base;
	uintptr_t end;		/* of the areas */
	uintptr_t open;		/* end of what is memory */
	uintptr_t limit;	/* end of what is reserved */
};

/* Under the growth lock. */
static struct {
	struct region regions[RT_REGIONS];
	unsigned count;
	uint64_t total;		/* bytes of all areas */
	size_t grain;		/* of the backing: a page, or a huge one */
	bool lock;
	enum rt_huge huge;
} pool;

struct rt_span rt_pool_spans[RT_REGIONS];
unsigned rt_pool_lost;
static _Atomic unsigned spans = 1;

bool
rt_pool_owns(const void *block)
{
	unsigned count = atomic_load_explicit(&spans, memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if (rt_span_owns(&rt_pool_spans[i], block))
			return true;
	return false;
}

static uint64_t
round_up(uint64_t v, uint64_t grain)
{
	return (v + grain - 1) & ~(grain - 1);
}

static bool
failed(long address)
{
	return address < 0 && address > -4096;
}

static bool
is_limited(void)
{
	return hh_sys_limit(RLIMIT_AS) != RLIM_INFINITY;
}

/* Addresses, and no memory: 0 when there are none. */
static uintptr_t
reserve(uint64_t bytes)
{
	uint64_t slack = pool.huge == RT_HUGE_OFF ? 0 : HUGE_BYTES;
	uintptr_t base, end;
	long at;

	if (bytes > SIZE_MAX - slack)
		return 0;
	at = hh_sys_map(NULL, (size_t)(bytes + slack), PROT_NONE, 0);
	if (failed(at) || !slack)
		return failed(at) ? 0 : (uintptr_t)at;
	base = (uintptr_t)round_up((uint64_t)at, HUGE_BYTES);
	end = (uintptr_t)at + bytes + slack;
	if (base > (uintptr_t)at)
		hh_sys_unmap((void *)at, base - (uintptr_t)at);
	if (end > base + bytes)
		hh_sys_unmap((void *)(base + bytes), end - (base + bytes));
	return base;
}

/* Room for BYTES and, if it can be had, for what comes later. */
static bool
reserve_region(struct region *r, uint64_t bytes)
{
	uint64_t least = round_up(bytes, pool.grain);
	uint64_t want = RESERVE_TIMES * bytes;

	if (is_limited())
		want = bytes + pool.total / SPARE_PART + SPARE_LEAST;
	else if (want < RESERVE_LEAST)
		want = RESERVE_LEAST;
	*r = (struct region){0};
	for (; !r->base && want >= least; want /= 2) {
		r->limit = round_up(want, pool.grain);
		r->base = reserve(r->limit);
	}
	if (!r->base) {
		r->limit = least;
		r->base = reserve(least);
	}
	r->end = r->open = r->base;
	r->limit += r->base;
	return r->base != 0;
}

/* Addresses again, whatever was there. */
static void
close_up(const struct region *r, uintptr_t to)
{
	hh_sys_map((void *)r->open, to - r->open, PROT_NONE, MAP_FIXED);
}

/* Make memory of R up to TO, which the caller then keeps or closes up; 0, or
 * -errno. */
static int
open_up(const struct region *r, uintptr_t to)
{
	void *at = (void *)r->open;
	size_t bytes = to - r->open;
	int error;
	long got;

	if (!bytes)
		return 0;
	if (pool.huge == RT_HUGE_REQUIRE) {
		got = hh_sys_map(at, bytes, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_HUGETLB | MAP_HUGE_2MB);
		return failed(got) ? (int)got : 0;
	}
	error = hh_sys_protect(at, bytes, PROT_READ | PROT_WRITE);
	if (!error && pool.huge == RT_HUGE_TRY)
		hh_sys_want_huge(at, bytes);
	return error;
}

/* Longer by BYTES in place, where nobody else is. */
static bool
extend(struct region *r, uint64_t bytes)
{
	uint64_t more = round_up(r->end + bytes, pool.grain) - r->limit;
	long at = hh_sys_map((void *)r->limit, (size_t)more, PROT_NONE,
	    MAP_FIXED_NOREPLACE);

	if (failed(at))
		return false;
	if ((uintptr_t)at != r->limit) {	/* before Linux 4.17 */
		hh_sys_unmap((void *)at, (size_t)more);
		return false;
	}
	r->limit += more;
	return true;
}

/* Which region takes BYTES more; RT_REGIONS: none. */
static unsigned
find_region(uint64_t bytes)
{
	struct region *r = pool.regions;

	for (unsigned i = rt_pool_lost; i < pool.count; i++)
		if (r[i].limit - r[i].end >= bytes)
			return i;
	for (unsigned i = rt_pool_lost; i < pool.count; i++)
		if (extend(&r[i], bytes))
			return i;
	if (pool.count < RT_REGIONS && reserve_region(&r[pool.count], bytes))
		return pool.count++;
	return RT_REGIONS;
}

static void
add(struct tlsf *t, unsigned region, uint64_t bytes)
{
	struct region *r = &pool.regions[region];
	struct rt_span *span = &rt_pool_spans[region];

	atomic_store_explicit(&span->base, r->base, memory_order_relaxed);
	tlsf_add(t, (void *)r->end, (size_t)bytes);
	r->end += bytes;
	pool.total += bytes;
	atomic_store_explicit(&span->bytes, r->end - r->base,
	    memory_order_relaxed);
	/* Pairs with the acquire in rt_pool_owns: the span, then the count. */
	if (region >= atomic_load_explicit(&spans, memory_order_relaxed))
		atomic_store_explicit(&spans, region + 1,
		    memory_order_release);
}

bool
rt_pool_plan(uint64_t additional, size_t align, size_t size,
    struct rt_growth *g)
{
	g->count = 0;
	g->sum = 0;
	for (uint64_t bytes = additional; bytes && bytes <= TLSF_MOST;
	    bytes *= 2) {
		g->bytes[g->count++] = bytes;
		g->sum += bytes;
		if (tlsf_area_serves((size_t)bytes, align, size))
			return true;
	}
	g->count = 0;
	return false;
}

/* What locking touches may kill: it is looked at before. */
static bool
has_room(uint64_t bytes)
{
	return !pool.lock || pool.huge == RT_HUGE_REQUIRE
	    || rt_room_find().bytes >= bytes;
}

/* Locked memory is there at once, other memory when it is touched. */
static int
lock_up(const struct region *r, uintptr_t to)
{
	void *at = (void *)r->open;

	if (!pool.lock || to == r->open)
		return 0;
	return hh_sys_lock(at, to - r->open)
	    || hh_sys_populate(at, to - r->open);
}

static bool
get(struct rt_growth *g)
{
	struct region *r;
	uintptr_t to;

	g->region = find_region(g->sum);
	if (g->region == RT_REGIONS)
		return false;
	r = &pool.regions[g->region];
	to = (uintptr_t)round_up(r->end + g->sum, pool.grain);
	if (to <= r->open)
		return true;
	if (open_up(r, to) || lock_up(r, to)) {
		close_up(r, to);
		return false;
	}
	r->open = to;
	return true;
}

/* The address space that is ours and holds nothing. */
static uint64_t
unused(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < pool.count; i++)
		bytes += pool.regions[i].limit - pool.regions[i].open;
	return bytes;
}

void
rt_pool_unreserve(void)
{
	for (unsigned i = 0; i < pool.count; i++) {
		struct region *r = &pool.regions[i];

		if (r->limit > r->open)
			hh_sys_unmap((void *)r->open, r->limit - r->open);
		r->limit = r->open;
	}
}

bool
rt_pool_get(struct rt_growth *g)
{
	/* Somebody else has limited us: the kernel must not count what we
	 * only reserve. */
	if (is_limited() && unused() > pool.total / SPARE_PART + SPARE_LEAST)
		rt_pool_unreserve();
	g->total = pool.total;
	if (has_room(g->sum) && get(g))
		return true;
	g->count = 0;
	return false;
}

void
rt_pool_add(struct tlsf *t, struct rt_growth *g)
{
	for (unsigned i = 0; i < g->count; i++)
		add(t, g->region, g->bytes[i]);
}

static void
say_step(uint64_t bytes, uint64_t total)
{
	char numbers[2][24];
	struct hh_text t = hh_text_in(numbers[0], sizeof numbers[0]);

	hh_text_add_uint(&t, bytes);
	t = hh_text_in(numbers[1], sizeof numbers[1]);
	hh_text_add_uint(&t, total);
	hh_say("heaphook-tlsf: pool exhausted, added ", numbers[0],
	    " bytes (total ", numbers[1], ")", (char *)NULL);
}

void
rt_pool_say(const struct rt_growth *g)
{
	uint64_t total = g->total;

	for (unsigned i = 0; i < g->count; i++)
		say_step(g->bytes[i], total += g->bytes[i]);
}

/* "at most N bytes, WHY" */
static _Noreturn void
refuse_size(uint64_t most, const char *why)
{
	char expected[160];
	struct hh_text t = hh_text_in(expected, sizeof expected);

	hh_text_add(&t, "at most ");
	hh_text_add_uint(&t, most);
	hh_text_add(&t, " bytes, ");
	hh_text_add(&t, why);
	rt_refuse("INITIAL_MEMPOOL_SIZE", expected);
}

/* The kernel has said no to addresses or to memory: which bound was it? */
static _Noreturn void
refuse_memory(void)
{
	uint64_t addresses = hh_sys_limit(RLIMIT_AS);
	uint64_t data = hh_sys_limit(RLIMIT_DATA);

	if (addresses != RLIM_INFINITY)
		refuse_size(addresses, "RLIMIT_AS, less what the program "
		    "itself needs");
	if (data != RLIM_INFINITY)
		refuse_size(data, "RLIMIT_DATA, less what the program itself "
		    "needs");
	rt_refuse("INITIAL_MEMPOOL_SIZE", "a size that the kernel grants "
	    "(vm.overcommit_memory)");
}

static _Noreturn void
refuse_huge(uint64_t bytes)
{
	char expected[80];
	struct hh_text t = hh_text_in(expected, sizeof expected);

	hh_text_add_uint(&t, bytes / HUGE_BYTES);
	hh_text_add(&t, " free huge pages of 2 MiB (vm.nr_hugepages)");
	rt_refuse("HEAPHOOK_HUGEPAGES", expected);
}

static _Noreturn void
refuse_lock(uint64_t bytes)
{
	char expected[80];
	struct hh_text t = hh_text_in(expected, sizeof expected);

	hh_text_add(&t, "RLIMIT_MEMLOCK to be ");
	hh_text_add_uint(&t, bytes);
	hh_text_add(&t, " or more; it is ");
	hh_text_add_uint(&t, hh_sys_limit(RLIMIT_MEMLOCK));
	rt_refuse("HEAPHOOK_LOCK_MEMORY", expected);
}

static void
start(struct region *r, uint64_t bytes)
{
	uintptr_t to = (uintptr_t)round_up(r->end + bytes, pool.grain);
	void *at = (void *)r->base;
	size_t size = to - r->base;

	if (open_up(r, to)) {
		if (pool.huge == RT_HUGE_REQUIRE)
			refuse_huge(size);
		refuse_memory();
	}
	if (pool.lock && hh_sys_lock(at, size))
		refuse_lock(size);
	if (hh_sys_populate(at, size))
		refuse_memory();
	r->open = to;
}

void
rt_pool_start(struct tlsf *t, const struct rt_settings *s)
{
	struct rt_room room = {UINT64_MAX, ""};
	unsigned region;

	pool.lock = s->lock_memory;
	pool.huge = s->huge;
	pool.grain = s->huge == RT_HUGE_REQUIRE ? HUGE_BYTES
	    : getauxval(AT_PAGESZ);
	if (!s->initial)
		return;
	if (s->huge != RT_HUGE_REQUIRE)
		room = rt_room_find();
	if (s->initial > room.bytes)
		refuse_size(room.bytes, room.what);
	region = find_region(s->initial);
	if (region == RT_REGIONS)
		refuse_memory();
	start(&pool.regions[region], s->initial);
	add(t, region, s->initial);
}

void
rt_pool_abandon(void)
{
	rt_pool_lost = pool.count;
	pool.total = 0;
}

bool
rt_pool_lost_owns(const void *block)
{
	for (unsigned i = 0; i < rt_pool_lost; i++)
		if (rt_span_owns(&rt_pool_spans[i], block))
			return true;
	return false;
}
