/* SPDX-License-Identifier: Apache-2.0 */
/* Caches, their depot and the heap together, against a model that knows what
 * is live; first several caches of one thread, then eight threads. */
#include "lib/tlsf/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

enum {
	CACHES = 8,
	POOL = 24 << 20,
	LIVE = 1500,		/* of one cache's user, at most */
	EACH = 8000,		/* operations in a round, of one thread */
	SHARED = 64,		/* blocks between users */
};

struct block {
	unsigned char *at;
	size_t size, align;
	unsigned char fill;
};

/* How long: 160 is ten million operations of a kind; sanitizers are slow. */
#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 4 };
#else
enum { ROUNDS = 160 };
#endif

static unsigned
rounds(void)
{
	const char *wanted = getenv("ROUNDS");

	return wanted ? (unsigned)strtoul(wanted, NULL, 10) : ROUNDS;
}

/* One cache, and what its user holds. */
struct user {
	struct tlsf_cache cache;
	struct block live[LIVE];
	uint64_t seed;
	uint64_t allocations, frees, takes, gives;
	const char *wrong;	/* the first claim that failed */
};

static struct tlsf t;
static struct tlsf_depot depot;
static struct user users[CACHES];
static struct block shared[SHARED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t met;
static size_t all;		/* the biggest block of the empty heap */

static uint64_t
draw(struct user *u)
{
	u->seed = u->seed * UINT64_C(6364136223846793005)
	    + UINT64_C(1442695040888963407);
	return u->seed >> 33;
}

/* Small ones mostly, as programs have them; one in 64 is big. */
static size_t
draw_size(struct user *u)
{
	unsigned bits = (unsigned)(draw(u) % 64 ? draw(u) % 10 : draw(u) % 17);

	return draw(u) % (UINT64_C(2) << bits);
}

static size_t
draw_align(struct user *u)
{
	return draw(u) % 8 ? TLSF_ALIGN : TLSF_ALIGN << draw(u) % 10;
}

static void
say(struct user *u, bool holds, const char *claim)
{
	if (!holds && !u->wrong)
		u->wrong = claim;
}

static void
paint(struct user *u, struct block *b)
{
	b->fill = (unsigned char)draw(u);
	memset(b->at, b->fill, b->size);
}

static void
look_at_paint(struct user *u, const struct block *b, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (b->at[i] != b->fill) {
			say(u, false, "a block's contents have changed");
			return;
		}
}

static unsigned
label_of(const struct block *b)
{
	if (b->align > TLSF_ALIGN)
		return tlsf_label_aligned(b->align, b->size);
	return b->size <= LABEL_MOST ? tlsf_label(b->size) : 0;
}

static void
take(struct user *u, struct block *b)
{
	unsigned label = label_of(b);
	enum tlsf_fault fault;

	b->at = tlsf_cache_get(&u->cache, label);
	if (!b->at && label && label < LABEL_PLAIN)
		b->at = tlsf_cache_borrow(&u->cache, label);
	if (!b->at) {
		pthread_mutex_lock(&lock);
		b->at = tlsf_label_size(label)
		    ? tlsf_cache_refill(&u->cache, &depot, &t, label)
		    : tlsf_take(&t, label, b->size);
		fault = t.fault;
		pthread_mutex_unlock(&lock);
		u->takes += b->at != NULL;
		say(u, !fault, "a fault is found in a sound heap");
	}
	if (!b->at)
		return;
	u->allocations++;
	say(u, !((uintptr_t)b->at & (b->align - 1)), "alignment");
	say(u, tlsf_usable(b->at) >= b->size, "a block is too small");
	say(u, tlsf_is(b->at, TLSF_USED), "a block in use is not marked so");
	paint(u, b);
}

static void
give(struct user *u, struct block *b)
{
	look_at_paint(u, b, b->size);
	u->frees++;
	if (tlsf_cache_has_room(&u->cache, b->at)) {
		say(u, tlsf_cache_accepts(&u->cache, b->at),
		    "a sound block is not accepted");
		tlsf_cache_put(&u->cache, b->at);
	} else {
		pthread_mutex_lock(&lock);
		say(u, !tlsf_cache_spill(&u->cache, &depot, &t, b->at),
		    "a fault is found in a sound heap");
		pthread_mutex_unlock(&lock);
		u->gives++;
	}
	b->at = NULL;
}

/* In place or not at all: what moves is another take and give. */
static void
resize(struct user *u, struct block *b, size_t size)
{
	bool done;

	pthread_mutex_lock(&lock);
	done = tlsf_cache_resize(&t, b->at, size, true);
	pthread_mutex_unlock(&lock);
	if (!done)
		return;
	say(u, tlsf_usable(b->at) >= size, "a resized block is too small");
	look_at_paint(u, b, size < b->size ? size : b->size);
	b->size = size;
	paint(u, b);
}

static void
swap_with_others(struct user *u, struct block *mine)
{
	struct block *theirs = &shared[draw(u) % SHARED], kept = *mine;

	pthread_mutex_lock(&lock);
	*mine = *theirs;
	*theirs = kept;
	pthread_mutex_unlock(&lock);
}

static void
step(struct user *u)
{
	struct block *b = &u->live[draw(u) % LIVE];

	if (draw(u) % 8 == 0)
		swap_with_others(u, b);
	if (b->at && draw(u) % 16 == 0) {
		resize(u, b, draw_size(u));
		return;
	}
	if (b->at) {
		give(u, b);
		return;
	}
	b->size = draw_size(u);
	b->align = draw_align(u);
	take(u, b);
}

static void
add_live(const struct block *blocks, unsigned count, struct tlsf_kept *sum)
{
	for (unsigned i = 0; i < count; i++)
		if (blocks[i].at) {
			sum->blocks++;
			sum->bytes += tlsf_usable(blocks[i].at)
			    + TLSF_OVERHEAD;
		}
}

static const char *
kept_wrong(const struct tlsf_cache *c, unsigned label, struct tlsf_kept *sum)
{
	const struct tlsf_magazine *m = &c->magazines[label];

	if (m->top < m->first || m->last < m->top)
		return "a magazine's bounds";
	for (unsigned i = m->first; i < m->top; i++) {
		const void *block = c->slots[i];

		if (!tlsf_is(block, TLSF_KEPT))
			return "what is kept is not marked so";
		if (tlsf_header(block)->label != label
		    || tlsf_usable(block) < tlsf_label_size(label)
		    || (uintptr_t)block & (tlsf_label_align(label) - 1))
			return "what is kept does not serve its label";
		sum->blocks++;
		sum->bytes += tlsf_usable(block) + TLSF_OVERHEAD;
	}
	return NULL;
}

static const char *
cache_wrong(const struct tlsf_cache *c, struct tlsf_kept *sum)
{
	struct tlsf_kept mine = { 0 }, said = tlsf_cache_kept(c);
	uint64_t granted = c->room;
	const char *wrong;

	for (unsigned label = 2; label < LABEL_ALIGNED; label++) {
		const struct tlsf_magazine *m = &c->magazines[label];

		wrong = kept_wrong(c, label, &mine);
		if (wrong)
			return wrong;
		granted += (uint64_t)(m->top - m->first) * m->units;
	}
	if (granted != c->granted || granted > (c == &depot.cache
	    ? depot.shared : depot.each))
		return "what is granted";
	if (c == &depot.cache && c->room)
		return "room that nobody uses";
	if (said.blocks != mine.blocks)
		return "how many blocks are kept";
	/* It goes by labels, and a block may be the better of a step. */
	if (said.bytes > mine.bytes || mine.bytes - said.bytes
	    > said.bytes / 8 + mine.blocks * TLSF_LEAST)
		return "how many bytes are kept";
	sum->blocks += mine.blocks;
	sum->bytes += mine.bytes;
	return NULL;
}

/* Nobody does anything meanwhile. */
static const char *
anything_wrong(void)
{
	uint64_t granted = depot.cache.granted, allocations = 0, frees = 0;
	struct tlsf_kept sum = { 0 };
	const char *wrong = cache_wrong(&depot.cache, &sum);

	for (struct user *u = users; u < users + CACHES && !wrong; u++) {
		wrong = u->wrong ? u->wrong : cache_wrong(&u->cache, &sum);
		granted += u->cache.granted;
		allocations += u->allocations - u->takes - u->cache.gets;
		frees += u->frees - u->gives - tlsf_cache_kept(&u->cache).puts;
		add_live(u->live, LIVE, &sum);
	}
	if (wrong)
		return wrong;
	add_live(shared, SHARED, &sum);
	if (granted * TLSF_ALIGN != tlsf_depot_granted(&depot)
	    || granted > depot.most)
		return "what is granted in all";
	if (allocations || frees)
		return "how many calls the caches served";
	if (sum.blocks != t.blocks)
		return "a block is lost or there twice";
	if (sum.bytes != t.used)
		return "how many bytes are in use";
	return tlsf_check(&t);
}

static void
sound(void)
{
	const char *wrong = anything_wrong();

	ck_assert_msg(!wrong, "%s", wrong);
}

static void
drain(struct tlsf_cache *c)
{
	while (tlsf_cache_drain(c, &depot, &t))
		;
}

static void
begin(uint64_t each, uint64_t most)
{
	void *memory = mmap(NULL, POOL, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	tlsf_init(&t);
	ck_assert(tlsf_add(&t, memory, POOL));
	all = tlsf_largest(&t);
	tlsf_depot_init(&depot);
	tlsf_depot_bound(&depot, most, each, most);
	memset(shared, 0, sizeof shared);
	memset(users, 0, sizeof users);
	for (unsigned i = 0; i < CACHES; i++) {
		tlsf_cache_init(&users[i].cache, i % 2);
		users[i].seed = i + 1;
	}
	sound();
}

static void
end(void)
{
	for (struct user *u = users; u < users + CACHES; u++)
		for (unsigned i = 0; i < LIVE; i++)
			if (u->live[i].at)
				give(u, &u->live[i]);
	for (unsigned i = 0; i < SHARED; i++)
		if (shared[i].at)
			give(users, &shared[i]);
	sound();
	for (struct user *u = users; u < users + CACHES; u++)
		drain(&u->cache);
	drain(&depot.cache);
	sound();
	ck_assert_uint_eq(tlsf_depot_granted(&depot), 0);
	ck_assert_uint_eq(t.blocks, 0);
	ck_assert_uint_eq(t.used, 0);
	ck_assert_uint_eq(tlsf_largest(&t), all);
}

/* What caches and depot may hold: plenty, next to nothing, nothing. */
static const struct { uint64_t each, most; } bounds[] = {
	{ 1 << 20, 8 << 20 },
	{ 3000, 20000 },
	{ 1, 1 << 20 },
	{ 0, 0 },
};

START_TEST(caches_interleaved_lose_nothing)
{
	begin(bounds[_i].each, bounds[_i].most);
	for (unsigned round = 0; round < rounds(); round++) {
		for (unsigned i = 0; i < EACH * CACHES; i++)
			step(&users[draw(users) % CACHES]);
		sound();
	}
	end();
}
END_TEST

/* Between the barriers only the first looks. */
static void *
work(void *arg)
{
	struct user *u = arg;

	for (unsigned round = 0; round < rounds(); round++) {
		for (unsigned i = 0; i < EACH; i++)
			step(u);
		pthread_barrier_wait(&met);
		if (u == users)
			say(u, !anything_wrong(), anything_wrong());
		pthread_barrier_wait(&met);
	}
	return NULL;
}

START_TEST(eight_threads_lose_nothing)
{
	pthread_t ids[CACHES];

	begin(bounds[_i].each, bounds[_i].most);
	pthread_barrier_init(&met, NULL, CACHES);
	for (unsigned i = 0; i < CACHES; i++)
		ck_assert(!pthread_create(ids + i, NULL, work, users + i));
	for (unsigned i = 0; i < CACHES; i++)
		pthread_join(ids[i], NULL);
	sound();
	end();
}
END_TEST

static void
add(TCase *tests)
{
	int count = sizeof bounds / sizeof *bounds;

	tcase_add_loop_test(tests, caches_interleaved_lose_nothing, 0, count);
	tcase_add_loop_test(tests, eight_threads_lose_nothing, 0, count);
}

int
main(void)
{
	return unit_run("cache", add);
}
