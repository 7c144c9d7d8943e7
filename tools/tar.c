/* SPDX-License-Identifier: Apache-2.0 */
#include "tar.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "room.h"

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
	char kind;
	char link[100], magic[6], version[2], user[32], group[32];
	char device[16], prefix[155], unused[12];
};
static_assert(sizeof(struct header) == TAR_BLOCK, "a header is one block");

enum { FILE_KIND = '0', OLD_FILE_KIND = '\0', PAX_KIND = 'x' };

static const uint64_t SIZE_MOST = 077777777777;	/* in 11 octal digits */

/* That of all bytes, the sum's own being blanks. */
static unsigned
sum_of(const struct header *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	unsigned sum = sizeof h->sum * ' ';

	for (size_t i = 0; i < sizeof *h; i++)
		if (i < offsetof(struct header, sum)
		    || i >= offsetof(struct header, kind))
			sum += bytes[i];
	return sum;
}

static void
put_header(FILE *to, const char *name, uint64_t bytes, int64_t changed,
    char kind)
{
	struct header h = {
		.mode = "0000600", .uid = "0000000", .gid = "0000000",
		.kind = kind, .magic = "ustar", .version = { '0', '0' },
	};

	memcpy(h.name, name, strnlen(name, sizeof h.name));
	snprintf(h.size, sizeof h.size, "%011" PRIo64,
	    bytes < SIZE_MOST ? bytes : SIZE_MOST);
	snprintf(h.mtime, sizeof h.mtime, "%011" PRIo64,
	    changed < 0 || (uint64_t)changed > SIZE_MOST
	    ? 0 : (uint64_t)changed);
	snprintf(h.sum, sizeof h.sum, "%06o", sum_of(&h));
	h.sum[sizeof h.sum - 1] = ' ';
	fwrite(&h, sizeof h, 1, to);
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts itself. */
static size_t
put_record(FILE *to, const char *key, const char *value)
{
	size_t bare = strlen(key) + strlen(value) + 3, all = bare + 1;
	char digits[24];

	while (bare + (size_t)snprintf(digits, sizeof digits, "%zu", all)
	    > all)
		all++;
	if (to)
		fprintf(to, "%zu %s=%s\n", all, key, value);
	return all;
}

static size_t
put_records(FILE *to, const struct tar_member *m)
{
	char size[24];

	snprintf(size, sizeof size, "%" PRIu64, m->bytes);
	return put_record(to, "path", m->name) + put_record(to, "size", size);
}

void
tar_put(FILE *to, const struct tar_member *m)
{
	static const char empty[TAR_BLOCK];
	size_t bytes = put_records(NULL, m);

	if (strlen(m->name) > sizeof ((struct header *)NULL)->name
	    || m->bytes > SIZE_MOST) {
		put_header(to, "pax", bytes, m->changed, PAX_KIND);
		put_records(to, m);
		fwrite(empty, 1, -bytes % TAR_BLOCK, to);
	}
	put_header(to, m->name, m->bytes, m->changed, FILE_KIND);
}

bool
tar_is(const unsigned char block[TAR_BLOCK])
{
	return !memcmp(block + offsetof(struct header, magic), "ustar", 5);
}

/* Octal digits, up to a blank or the end. */
static bool
get_number(const char *text, size_t most, uint64_t *number)
{
	size_t i = 0;

	*number = 0;
	for (; i < most && text[i] >= '0' && text[i] <= '7'; i++)
		*number = *number << 3 | (uint64_t)(text[i] - '0');
	return i && i <= 12 && (i == most || !text[i] || text[i] == ' ');
}

static bool
read_all(const struct tar *t, uint64_t at, void *to, size_t bytes)
{
	for (size_t got = 0; got < bytes;) {
		ssize_t n = pread(t->fd, (char *)to + got, bytes - got,
		    (off_t)(at + got));

		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static bool
fail(struct tar *t, const char *wrong)
{
	t->wrong = wrong;
	return false;
}

static bool
is_empty(const struct header *h)
{
	static const struct header empty;

	return !memcmp(h, &empty, sizeof empty);
}

/* The next header, and where its contents are.  False at the end. */
static bool
get_header(struct tar *t, struct header *h, struct tar_member *m)
{
	uint64_t sum, changed;

	if (t->bytes - t->at < TAR_BLOCK
	    || !read_all(t, t->at, h, sizeof *h))
		return fail(t, "cut: its end is missing");
	if (is_empty(h))
		return t->bytes - t->at >= TAR_END * TAR_BLOCK
		    || fail(t, "cut: its end is missing");
	if (!get_number(h->sum, sizeof h->sum, &sum) || sum != sum_of(h)
	    || !get_number(h->size, sizeof h->size, &m->bytes)
	    || !get_number(h->mtime, sizeof h->mtime, &changed))
		return fail(t, "damaged: what should be a tar header is none");
	m->changed = (int64_t)changed;
	t->at += TAR_BLOCK;
	m->at = t->at;
	return true;
}

/* Past the contents of M. */
static bool
skip(struct tar *t, const struct tar_member *m)
{
	if (m->bytes > t->bytes - t->at)
		return fail(t, "cut: a file in it ends early");
	t->at += m->bytes;
	if (-m->bytes % TAR_BLOCK > t->bytes - t->at)
		return fail(t, "cut: a file in it ends early");
	t->at += -m->bytes % TAR_BLOCK;
	return true;
}

/* A record, from AT, into M.  Returns its end; NULL: it is none. */
static char *
get_record(char *at, const char *end, struct tar_member *m)
{
	char *stop, *equals, *value;
	unsigned long bytes = strtoul(at, &stop, 10);

	if (stop == at || *stop != ' ' || bytes > (size_t)(end - at)
	    || bytes <= (size_t)(stop - at) + 1 || at[bytes - 1] != '\n')
		return NULL;
	at[bytes - 1] = '\0';
	equals = strchr(++stop, '=');
	if (!equals)
		return NULL;
	*equals = '\0';
	value = equals + 1;
	if (!strcmp(stop, "size"))
		m->bytes = strtoull(value, NULL, 10);
	if (!strcmp(stop, "path")) {
		free(m->name);
		m->name = room_text(value, SIZE_MAX);
	}
	return at + bytes;
}

/* What the pax header whose contents are those of HEAD says of the next
 * file. */
static bool
get_pax(struct tar *t, const struct tar_member *head, struct tar_member *said)
{
	char *text, *at, *end;

	if (head->bytes > TAR_PAX_MOST)
		return fail(t, "damaged: a pax header is too long");
	text = room_new(head->bytes + 1, 1);
	at = text;
	end = text + head->bytes;
	if (!read_all(t, head->at, text, head->bytes))
		at = NULL;
	while (at && at < end)
		at = get_record(at, end, said);
	free(text);
	return at || fail(t, "damaged: a pax header is none");
}

static char *
name_of(const struct header *h)
{
	char name[sizeof h->prefix + sizeof h->name + 2];

	snprintf(name, sizeof name, "%.*s%s%.*s", (int)sizeof h->prefix,
	    h->prefix, *h->prefix ? "/" : "", (int)sizeof h->name, h->name);
	return room_text(name, SIZE_MAX);
}

bool
tar_next(struct tar *t, struct tar_member *m)
{
	struct tar_member said = { .bytes = UINT64_MAX };
	struct header h;

	while (get_header(t, &h, m) && !is_empty(&h)) {
		bool is_file = h.kind == FILE_KIND || h.kind == OLD_FILE_KIND;

		if (said.bytes != UINT64_MAX && h.kind != PAX_KIND)
			m->bytes = said.bytes;
		if (!skip(t, m)
		    || (h.kind == PAX_KIND && !get_pax(t, m, &said)))
			break;
		if (is_file) {
			m->name = said.name ? said.name : name_of(&h);
			return true;
		}
		if (h.kind == PAX_KIND)
			continue;
		free(said.name);
		said = (struct tar_member){ .bytes = UINT64_MAX };
	}
	free(said.name);
	return false;
}
