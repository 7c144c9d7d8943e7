/* SPDX-License-Identifier: Apache-2.0 */
#include "logmaker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *
need(void *block)
{
	if (!block)
		abort();
	return block;
}

void
maker_begin(struct maker *m)
{
	struct log_header *h = &m->head.h;

	*m = (struct maker){ .chunk_bytes = LOG_FIRST_SLOT_BYTES };
	h->magic = LOG_MAGIC;
	h->version = LOG_VERSION;
	h->header_bytes = LOG_HEADER_BYTES;
	h->mode = LOG_EVENTS;
	h->start_realtime_ns = UINT64_C(1700000000500000000);
	h->start = (struct log_instant){ MAKER_START, 77 };
	h->now[0] = h->start;
	h->clock = LOG_CLOCK_MONOTONIC;
	h->ticks_per_s = 1000000000;
	h->pid = 4711;
	h->ppid = 4710;
	h->page_size = 4096;
	h->rank = h->ranks = h->local_rank = -1;
	h->usable_rule = LOG_USABLE_GLIBC;
	h->process_start = 99;
	h->state = LOG_EXITED;
	h->end_ticks = MAKER_START + MAKER_SECONDS * 1000000000;
	snprintf(h->boot_id, sizeof h->boot_id, "a-boot");
	snprintf(h->host, sizeof h->host, "box");
	h->exe = 1;
	memcpy(m->head.text + 1, "/bin/prog\0/tmp\0prog\0-x", 23);
	h->cwd = 11;
	h->argv = 16;
	h->argc = 2;
}

void
maker_end(struct maker *m)
{
	for (size_t i = 0; i < m->full_count; i++)
		free(m->full[i]);
	for (unsigned i = 0; i < MAKER_SLOTS; i++)
		free(m->slots[i].chunk);
	free(m->full);
}

static void
begin_chunk(struct maker *m, unsigned slot)
{
	struct maker_slot *s = m->slots + slot;
	uint32_t bytes = m->chunk_bytes;

	s->chunk = need(calloc(1, bytes));
	*s->chunk = (struct log_chunk){
		.magic = LOG_CHUNK_MAGIC, .bytes = bytes, .slot = slot,
		.flags = s->flags, .seq = ++s->seq, .base_ticks = s->w.ticks,
		.tid = s->tid, .self = (uint64_t)s->tid * 1000,
	};
	memcpy(s->chunk->name, s->name, sizeof s->name);
	s->w.at = s->chunk->events;
	s->w.last = s->w.size = 0;
}

unsigned
maker_slot(struct maker *m, int32_t tid, const char *name, uint32_t flags)
{
	unsigned slot = m->head.h.slots++;
	struct maker_slot *s = m->slots + slot;

	s->tid = tid;
	s->flags = flags;
	s->w.ticks = MAKER_START;
	snprintf(s->name, sizeof s->name, "%s", name);
	begin_chunk(m, slot);
	return slot;
}

uint32_t
maker_offset(const struct maker *m, unsigned slot)
{
	const struct maker_slot *s = m->slots + slot;

	return (uint32_t)(s->w.at - (unsigned char *)s->chunk);
}

void
maker_next_chunk(struct maker *m, unsigned slot)
{
	struct log_chunk *c = m->slots[slot].chunk;
	struct log_trailer t = { .seq = c->seq };

	c->counters = m->slots[slot].counters;
	t.sum = log_sum(c, c->bytes);
	memcpy((char *)c + c->bytes - sizeof t, &t, sizeof t);
	m->full = need(reallocarray(m->full, m->full_count + 1,
	    sizeof *m->full));
	m->full[m->full_count++] = c;
	begin_chunk(m, slot);
}

static struct log_writer *
writer(struct maker *m, unsigned slot)
{
	struct maker_slot *s = m->slots + slot;

	if (maker_offset(m, slot) + LOG_LONG_MAX + 1
	    > s->chunk->bytes - sizeof(struct log_trailer))
		maker_next_chunk(m, slot);
	return &s->w;
}

static bool
put_short(struct log_writer *w, enum log_kind kind, uint64_t address,
    uint64_t size, uint64_t dt)
{
	if (!log_is_short(w, address, size, dt))
		return false;
	log_put_short(w, kind, address, size, dt != 0, dt);
	return true;
}

void
maker_malloc(struct maker *m, unsigned slot, uint64_t address, uint64_t size,
    uint64_t dt)
{
	maker_malloc_at(m, slot, address, size, dt, 0);
}

void
maker_malloc_at(struct maker *m, unsigned slot, uint64_t address,
    uint64_t size, uint64_t dt, uint32_t stack)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	m->slots[slot].counters.allocations++;
	if (stack && log_is_short(w, address, size, dt)) {
		log_put_stacked(w, LOG_MALLOC, address, size, dt, stack);
		return;
	}
	if (!stack && put_short(w, LOG_MALLOC, address, size, dt))
		return;
	log_long_begin(&l, LOG_X_ALLOC, dt);
	log_long_uint(&l, LOG_CALL_MALLOC);
	log_long_uint(&l, size);
	log_long_uint(&l, 0);
	log_long_address(&l, w, address);
	log_long_uint(&l, log_usable_expected(LOG_USABLE_GLIBC, size) - size);
	log_long_stack(&l, stack);
	log_put_long(w, &l, dt);
}

void
maker_free(struct maker *m, unsigned slot, uint64_t address, uint64_t dt)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	m->slots[slot].counters.frees++;
	if (put_short(w, LOG_FREE, address, 0, dt))
		return;
	log_long_begin(&l, LOG_X_FREE, dt);
	log_long_address(&l, w, address);
	log_put_long(w, &l, dt);
}

void
maker_alloc(struct maker *m, unsigned slot, enum log_call call,
    uint64_t address, uint64_t size, unsigned align_log, uint64_t excess)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	m->slots[slot].counters.allocations++;
	log_long_begin(&l, LOG_X_ALLOC, 0);
	log_long_uint(&l, call);
	log_long_uint(&l, size);
	log_long_uint(&l, align_log);
	log_long_address(&l, w, address);
	log_long_uint(&l, excess);
	log_put_long(w, &l, 0);
}

void
maker_realloc(struct maker *m, unsigned slot, uint64_t old, uint64_t address,
    uint64_t size, uint64_t dt)
{
	maker_realloc_at(m, slot, old, address, size, dt, 0);
}

void
maker_realloc_at(struct maker *m, unsigned slot, uint64_t old,
    uint64_t address, uint64_t size, uint64_t dt, uint32_t stack)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	m->slots[slot].counters.allocations++;
	m->slots[slot].counters.frees++;
	log_long_begin(&l, LOG_X_REALLOC, dt);
	log_long_address(&l, w, old);
	log_long_address(&l, w, address);
	log_long_uint(&l, size);
	log_long_uint(&l, 8);
	log_long_stack(&l, stack);
	log_put_long(w, &l, dt);
}

void
maker_resize(struct maker *m, unsigned slot, uint64_t old, uint64_t dt)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_RESIZE, dt);
	log_long_address(&l, w, old);
	log_put_long(w, &l, dt);
}

void
maker_resized(struct maker *m, unsigned slot, uint64_t address, uint64_t size,
    uint64_t dt)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	m->slots[slot].counters.allocations++;
	m->slots[slot].counters.frees++;
	log_long_begin(&l, LOG_X_RESIZED, dt);
	log_long_address(&l, w, address);
	log_long_uint(&l, size);
	log_long_uint(&l, 8);
	log_put_long(w, &l, dt);
}

void
maker_failed(struct maker *m, unsigned slot, enum log_call call,
    uint64_t size)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	m->slots[slot].counters.failed++;
	log_long_begin(&l, LOG_X_FAILED, 0);
	log_long_uint(&l, call);
	log_long_uint(&l, size);
	log_put_long(w, &l, 0);
}

void
maker_frame(struct maker *m, unsigned slot, uint32_t number, uint32_t caller,
    uint64_t pc)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_FRAME, 0);
	log_long_uint(&l, number);
	log_long_uint(&l, caller);
	log_long_uint(&l, pc);
	log_put_long(w, &l, 0);
}

/* Its build id is the eight bytes of its bias. */
void
maker_object(struct maker *m, unsigned slot, uint64_t bias, uint64_t address,
    uint64_t bytes, const char *path)
{
	struct log_writer *w = writer(m, slot);
	struct log_object o = {
		.bias = bias, .address = address, .bytes = bytes,
		.build_id = (const unsigned char *)&bias,
		.build_id_bytes = sizeof bias,
	};
	struct log_long l;
	size_t n = strlen(path);

	for (size_t done = log_long_object(&l, &o, path, n, 0);; ) {
		log_put_long(w, &l, 0);
		if (done == n)
			return;
		w = writer(m, slot);
		done += log_long_path(&l, path + done, n - done);
	}
}

void
maker_unload(struct maker *m, unsigned slot, uint64_t address)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_UNLOAD, 0);
	log_long_uint(&l, address);
	log_put_long(w, &l, 0);
}

void
maker_took(struct maker *m, unsigned slot, uint64_t units)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_TOOK, 0);
	log_long_uint(&l, units);
	log_put_long(w, &l, 0);
}

void
maker_thread(struct maker *m, unsigned slot, int32_t tid, const char *name)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_THREAD, 0);
	log_long_uint(&l, (uint64_t)tid);
	log_long_uint(&l, (uint64_t)tid * 1000);
	log_long_text(&l, name, strlen(name));
	log_put_long(w, &l, 0);
}

void
maker_name(struct maker *m, unsigned slot, uint64_t self, const char *name)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_NAME, 0);
	log_long_uint(&l, self);
	log_long_text(&l, name, strlen(name));
	log_put_long(w, &l, 0);
}

void
maker_mark(struct maker *m, unsigned slot, const char *label, uint64_t dt)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_MARK, dt);
	log_long_text(&l, label, strlen(label));
	log_put_long(w, &l, dt);
}

void
maker_map(struct maker *m, unsigned slot, enum log_call call,
    uint64_t address, uint64_t bytes)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, LOG_X_MAP, 0);
	log_long_uint(&l, call);
	log_long_uint(&l, address);
	log_long_uint(&l, bytes);
	log_long_uint(&l, 0);
	log_long_uint(&l, 0);
	log_put_long(w, &l, 0);
}

void
maker_place(struct maker *m, unsigned slot, enum log_kind kind, uint32_t of,
    uint64_t seq, uint32_t offset)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, kind, 0);
	log_long_uint(&l, of);
	log_long_uint(&l, seq);
	log_long_uint(&l, offset);
	log_put_long(w, &l, 0);
}

void
maker_bare(struct maker *m, unsigned slot, enum log_kind kind, uint64_t dt)
{
	struct log_writer *w = writer(m, slot);
	struct log_long l;

	log_long_begin(&l, kind, dt);
	log_put_long(w, &l, dt);
}

static unsigned char *
append(unsigned char *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

unsigned char *
maker_bytes(const struct maker *m, size_t *bytes)
{
	unsigned char *all, *at;

	*bytes = sizeof m->head;
	for (unsigned i = 0; i < MAKER_SLOTS; i++)
		*bytes += m->slots[i].chunk ? m->slots[i].chunk->bytes : 0;
	for (size_t i = 0; i < m->full_count; i++)
		*bytes += m->full[i]->bytes;
	all = need(malloc(*bytes));
	at = append(all, &m->head, sizeof m->head);
	for (unsigned i = 0; i < MAKER_SLOTS; i++) {
		struct log_chunk *c = m->slots[i].chunk;

		if (!c)
			continue;
		c->counters = m->slots[i].counters;
		at = append(at, c, c->bytes);
	}
	for (size_t i = 0; i < m->full_count; i++)
		at = append(at, m->full[i], m->full[i]->bytes);
	return all;
}

char *
maker_store(const void *bytes, size_t n)
{
	const char *folder = getenv("TMPDIR");
	char *path = need(malloc(4096));
	FILE *f;
	int fd;

	snprintf(path, 4096, "%s/heaphook-check.XXXXXX",
	    folder ? folder : "/tmp");
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
		abort();
	return path;
}

char *
maker_save(const struct maker *m)
{
	size_t bytes;
	unsigned char *all = maker_bytes(m, &bytes);
	char *path = maker_store(all, bytes);

	free(all);
	return path;
}
