/* SPDX-License-Identifier: Apache-2.0 */
/* tlsf_threads churn OPERATIONS: eight threads allocate, resize and free at
 * random, and pass blocks to each other.  Each block says what it is, and
 * whoever gets it looks at all of it.
 * tlsf_threads short COUNT: as many threads, four at a time, each of which
 * frees what the ones before left, and leaves something.
 * tlsf_threads late COUNT: threads whose destructors allocate and free, after
 * the heap's own.
 *
 * At the end what is counted is compared to what is held. */
#include <heaphook.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "say.h"

enum { THREADS = 8, HELD = 400, SHARED = 200, KEYS = 6 };

/* The first bytes of a block; the others are its fill. */
struct head {
	uint32_t size;
	uint8_t align;
	uint8_t fill;
};

static _Atomic(struct head *) shared[SHARED];
static struct head *held[THREADS * HELD];
static unsigned long times;
static struct heaphook_stats before;
static pthread_key_t keys[KEYS];
static pthread_attr_t small;	/* stacks, all of which libc keeps */

static uint64_t
draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	return *seed >> 33;
}

static size_t
draw_size(uint64_t *seed)
{
	uint64_t bits = draw(seed) % 64 ? draw(seed) % 10 : draw(seed) % 17;

	return sizeof(struct head) + draw(seed) % (UINT64_C(2) << bits);
}

static void
paint(struct head *b, size_t size, unsigned align, uint64_t *seed)
{
	MUST(malloc_usable_size(b) >= size);
	*b = (struct head){ (uint32_t)size, (uint8_t)align,
	    (uint8_t)draw(seed) };
	memset(b + 1, b->fill, size - sizeof(*b));
}

static void
look_at(const struct head *b, size_t size)
{
	const uint8_t *byte = (const uint8_t *)(b + 1);

	MUST(!((uintptr_t)b & ((UINT64_C(1) << b->align) - 1)));
	for (size_t i = 0; i < size - sizeof(*b); i++)
		MUST(byte[i] == b->fill);
}

static struct head *
zeroed(size_t size)
{
	uint8_t *block = calloc(1, size);

	for (size_t i = 0; block && i < size; i++)
		MUST(!block[i]);
	return (struct head *)block;
}

static struct head *
take(uint64_t *seed)
{
	size_t size = draw_size(seed);
	unsigned align = 4;
	struct head *b;

	switch (draw(seed) % 8) {
	case 0:
		b = zeroed(size);
		break;
	case 1:
		align += (unsigned)(draw(seed) % 10);
		b = memalign((size_t)1 << align, size);
		break;
	default:
		b = malloc(size);
	}
	MUST(b);
	paint(b, size, align, seed);
	return b;
}

static struct head *
resized(struct head *b, uint64_t *seed)
{
	size_t size = draw_size(seed);
	uint32_t least = size < b->size ? (uint32_t)size : b->size;

	b = realloc(b, size);
	MUST(b);
	b->align = 4;		/* it may have moved */
	look_at(b, least);
	paint(b, size, 4, seed);
	return b;
}

static void
give(struct head *b)
{
	look_at(b, b->size);
	free(b);
}

static void *
churn(void *arg)
{
	struct head **mine = arg;
	uint64_t seed = (uintptr_t)arg;

	for (unsigned long i = 0; i < times; i++) {
		struct head **b = &mine[draw(&seed) % HELD];

		if (draw(&seed) % 8 == 0)
			*b = atomic_exchange(&shared[draw(&seed) % SHARED],
			    *b);
		if (*b && draw(&seed) % 4 == 0) {
			*b = resized(*b, &seed);
		} else if (*b) {
			give(*b);
			*b = NULL;
		} else {
			*b = take(&seed);
		}
	}
	return NULL;
}

static void *
pass_on(void *arg)
{
	uint64_t seed = (uintptr_t)arg;
	struct head *b;

	for (int i = 0; i < 20; i++) {
		b = atomic_exchange(&shared[draw(&seed) % SHARED],
		    take(&seed));
		if (b)
			give(b);
	}
	return NULL;
}

/* Destructors set other keys, so that there are several rounds of them. */
static void
destroy(void *arg)
{
	static _Thread_local unsigned rounds;
	uint64_t seed = (uintptr_t)arg;
	pthread_key_t next = keys[++rounds % KEYS];

	give(arg);
	for (int i = 0; i < 100; i++)
		give(take(&seed));
	if (rounds < 2 * KEYS && !pthread_getspecific(next))
		pthread_setspecific(next, take(&seed));
}

static void *
die_late(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	for (int i = 0; i < KEYS; i++)
		pthread_setspecific(keys[i], take(&seed));
	return pass_on(arg);
}

/* All of them at once. */
static void *
meet(void *arg)
{
	pthread_barrier_wait(arg);
	return NULL;
}

static void
run(void *(*work)(void *), void *arg, size_t step)
{
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(ids + i, &small, work,
		    (char *)arg + i * step));
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

static void
run_in_turn(void *(*work)(void *))
{
	enum { AT_ONCE = 4 };
	pthread_t ids[AT_ONCE];
	char *arg = NULL;

	for (unsigned long i = 0; i < times; i++) {
		if (i >= AT_ONCE)
			pthread_join(ids[i % AT_ONCE], NULL);
		MUST(!pthread_create(ids + i % AT_ONCE, &small, work, ++arg));
	}
	for (int i = 0; i < AT_ONCE; i++)
		pthread_join(ids[i], NULL);
}

static void
add_up(struct head *b, uint64_t *blocks, uint64_t *bytes)
{
	if (!b)
		return;
	look_at(b, b->size);
	*blocks += 1;
	*bytes += malloc_usable_size(b);
}

/* What is kept is counted by what it serves for at least: off by an eighth
 * of 5 % of the pool, at most, unless EXACT. */
static void
compare(bool exact)
{
	struct heaphook_stats now;
	uint64_t blocks = 0, bytes = 0, live, off;

	MUST(!heaphook_get_stats(&now, sizeof(now)));
	for (int i = 0; i < SHARED; i++)
		add_up(shared[i], &blocks, &bytes);
	for (int i = 0; i < THREADS * HELD; i++)
		add_up(held[i], &blocks, &bytes);
	MUST(now.allocations - now.frees
	    == before.allocations - before.frees + blocks);
	live = now.live_bytes - before.live_bytes;
	off = live > bytes ? live - bytes : bytes - live;
	if (off > (exact ? 0 : now.pool_bytes / 20 / 8))
		say("live: %zu, held: %zu\n", (size_t)live, (size_t)bytes);
	MUST(now.pool_used_bytes >= now.live_bytes);
}

static void
give_all(void)
{
	for (int i = 0; i < SHARED; i++)
		if (shared[i])
			give(shared[i]);
	for (int i = 0; i < THREADS * HELD; i++)
		if (held[i])
			give(held[i]);
	memset(shared, 0, sizeof(shared));
	memset(held, 0, sizeof(held));
}

int
main(int argc, char **argv)
{
	bool exact = argc > 3;
	pthread_barrier_t met;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	pthread_barrier_init(&met, NULL, THREADS);
	for (int i = 0; i < KEYS; i++)
		pthread_key_create(keys + i, destroy);
	times = strtoul(argv[2], NULL, 10);
	run(meet, &met, 0);	/* what libc keeps for threads is there now */
	MUST(!heaphook_get_stats(&before, sizeof(before)));
	if (!strcmp(argv[1], "churn"))
		run(churn, held, HELD * sizeof(*held));
	else
		run_in_turn(!strcmp(argv[1], "late") ? die_late : pass_on);
	compare(exact);
	give_all();
	compare(exact);
	say("done\n");
	return 0;
}
