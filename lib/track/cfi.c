/* SPDX-License-Identifier: Apache-2.0 */
#include "cfi.h"

#include <stddef.h>
#include <string.h>

/* As DWARF numbers the registers of this machine. */
#if defined __x86_64__
enum { REG_FP = 6, REG_SP = 7 };
#elif defined __aarch64__
enum { REG_FP = 29, REG_SP = 31 };
#else
enum { REG_FP = -1, REG_SP = -2 };
#endif

enum {
	HDR_TABLE = 0x3b,	/* pairs of 4 bytes, from where the header is */
	ENC_ABSENT = 0xff,
	ENC_FORM = 0x0f,
	ENC_PC_RELATIVE = 0x10,
	REMEMBERED = 3,		/* compilers do with one */
	OP_BREG = 0x70, OP_DEREF = 0x06,
};

struct bytes {
	const uint8_t *at, *end;
};

static uint64_t
get(struct bytes *b, unsigned n)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < n)
		b->at = b->end;
	else
		memcpy(&v, b->at, n);
	if (b->at != b->end)
		b->at += n;
	return v;
}

static uint64_t
get_uleb(struct bytes *b)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)get(b, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

static int64_t
get_sleb(struct bytes *b)
{
	const uint8_t *from = b->at;
	uint64_t v = get_uleb(b);
	unsigned bits = 7 * (unsigned)(b->at - from);

	if (bits && bits < 64 && b->at[-1] & 0x40)
		v |= ~UINT64_C(0) << bits;
	return (int64_t)v;
}

/* An encoded pointer; only forms of a fixed width are ever in use here. */
static uintptr_t
get_pointer(struct bytes *b, unsigned encoding)
{
	static const uint8_t widths[16] = {
		[0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8,
		[0xa] = 2, [0xb] = 4, [0xc] = 8,	/* these are signed */
	};
	unsigned n = widths[encoding & ENC_FORM];
	uintptr_t here = (uintptr_t)b->at;
	uint64_t v;

	if (encoding == ENC_ABSENT)
		return 0;
	v = get(b, n);
	if (n && n < 8 && encoding & 0x8)
		v = (v ^ UINT64_C(1) << (8 * n - 1))
		    - (UINT64_C(1) << (8 * n - 1));
	return v + (encoding & ENC_PC_RELATIVE ? here : 0);
}

/* A length and that many bytes. */
static struct bytes
get_record(const uint8_t *at)
{
	struct bytes head = { at, at + 4 };
	uint64_t length = get(&head, 4);

	if (length >= 0xfffffff0)	/* of more than 4 GiB: nobody does */
		length = 0;
	return (struct bytes){ at + 4, at + 4 + length };
}

static struct bytes
get_block(struct bytes *b)
{
	uint64_t length = get_uleb(b);
	struct bytes block = { b->at, b->end };

	if (length > (uint64_t)(b->end - b->at))
		length = (uint64_t)(b->end - b->at);
	block.end = b->at += length;
	return block;
}

/* How one register of the caller is found. */
struct how {
	enum { SAME, UNDEFINED, AT_CFA, BY_EXPRESSION, OTHERWISE } kind;
	int64_t offset;
	struct bytes expression;
};

/* One row of the table that a frame's instructions make. */
struct row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct bytes cfa_expression;
	bool cfa_expressed;
	struct how fp, ra;
};

struct cie {
	uint64_t code_unit;
	int64_t data_unit;
	uint64_t ra_register;
	unsigned encoding;
	bool is_signal, has_length;
	struct bytes instructions;
};

/* What the letters of the augmentation say is in its data. */
static void
read_augmentation(struct cie *cie, const char *letter, struct bytes data)
{
	for (; *letter; letter++) {
		if (*letter == 'R')
			cie->encoding = (unsigned)get(&data, 1);
		else if (*letter == 'L')
			get(&data, 1);
		else if (*letter == 'P')
			get_pointer(&data, (unsigned)get(&data, 1));
		else if (*letter == 'S')
			cie->is_signal = true;
	}
}

static bool
read_cie(struct cie *cie, const uint8_t *at)
{
	struct bytes b = get_record(at);
	const char *augmentation;
	unsigned version;

	*cie = (struct cie){ 0 };
	get(&b, 4);
	version = (unsigned)get(&b, 1);
	augmentation = (const char *)b.at;
	b.at += strnlen(augmentation, (size_t)(b.end - b.at));
	get(&b, 1);
	if (version == 4)
		get(&b, 2);
	cie->code_unit = get_uleb(&b);
	cie->data_unit = get_sleb(&b);
	cie->ra_register = version == 1 ? get(&b, 1) : get_uleb(&b);
	if (*augmentation == 'z') {
		cie->has_length = true;
		read_augmentation(cie, augmentation + 1, get_block(&b));
	}
	cie->instructions = b;
	return cie->has_length || !*augmentation;
}

/* An interpreter of the instructions, up to the row for PC. */
struct machine {
	const struct cie *cie;
	struct row row, first, kept[REMEMBERED];
	unsigned kept_count;
	uintptr_t at, pc;
};

/* Of the registers that we follow; NULL for all others. */
static struct how *
how_of(struct machine *m, struct row *row, uint64_t reg)
{
	return reg == (uint64_t)REG_FP ? &row->fp
	    : reg == m->cie->ra_register ? &row->ra : NULL;
}

static void
set_how(struct machine *m, uint64_t reg, struct how how)
{
	struct how *to = how_of(m, &m->row, reg);

	if (to)
		*to = how;
}

static void
restore(struct machine *m, uint64_t reg)
{
	struct how *first = how_of(m, &m->first, reg);

	if (first)
		set_how(m, reg, *first);
}

static void
remember(struct machine *m)
{
	if (m->kept_count < REMEMBERED)
		m->kept[m->kept_count++] = m->row;
}

static void
recall(struct machine *m)
{
	if (m->kept_count)
		m->row = m->kept[--m->kept_count];
}

/* The operands of each instruction: u unsigned, s signed, f signed and in
 * units, d unsigned and in units, b block, 1 2 4 8 so many bytes. */
static const char *const operands[0x40] = {
	[0x01] = "8", [0x02] = "1", [0x03] = "2", [0x04] = "4", [0x05] = "ud",
	[0x06] = "u", [0x07] = "u", [0x08] = "u", [0x09] = "uu", [0x0c] = "uu",
	[0x0d] = "u", [0x0e] = "u", [0x0f] = "b", [0x10] = "ub", [0x11] = "uf",
	[0x12] = "uf", [0x13] = "f", [0x14] = "ud", [0x15] = "uf",
	[0x16] = "ub", [0x2e] = "u", [0x2f] = "ud",
};

struct operand {
	uint64_t v;
	struct bytes block;
};

static struct operand
get_operand(struct bytes *b, char form, int64_t unit)
{
	switch (form) {
	case 'u':
		return (struct operand){ .v = get_uleb(b) };
	case 'd':
		return (struct operand){ .v = get_uleb(b) * (uint64_t)unit };
	case 'f':
		return (struct operand){ .v = (uint64_t)(get_sleb(b) * unit) };
	case 'b':
		return (struct operand){ .block = get_block(b) };
	default:
		return (struct operand){ .v = get(b, (unsigned)(form - '0')) };
	}
}

static void
set_cfa(struct machine *m, uint64_t reg, uint64_t offset)
{
	m->row.cfa_register = reg;
	m->row.cfa_offset = (int64_t)offset;
	m->row.cfa_expressed = false;
}

static void
execute(struct machine *m, unsigned op, struct operand x, struct operand y)
{
	switch (op) {
	case 0x01:
		m->at = x.v;
		break;
	case 0x02: case 0x03: case 0x04:
		m->at += x.v * m->cie->code_unit;
		break;
	case 0x05: case 0x11:
		set_how(m, x.v, (struct how){ AT_CFA, (int64_t)y.v, { 0 } });
		break;
	case 0x2f:
		set_how(m, x.v, (struct how){ AT_CFA, -(int64_t)y.v, { 0 } });
		break;
	case 0x06:
		restore(m, x.v);
		break;
	case 0x07:
		set_how(m, x.v, (struct how){ .kind = UNDEFINED });
		break;
	case 0x08:
		set_how(m, x.v, (struct how){ .kind = SAME });
		break;
	case 0x09: case 0x14: case 0x15: case 0x16:
		set_how(m, x.v, (struct how){ .kind = OTHERWISE });
		break;
	case 0x0a:
		remember(m);
		break;
	case 0x0b:
		recall(m);
		break;
	case 0x0c: case 0x12:
		set_cfa(m, x.v, y.v);
		break;
	case 0x0d:
		set_cfa(m, x.v, (uint64_t)m->row.cfa_offset);
		break;
	case 0x0e: case 0x13:
		set_cfa(m, m->row.cfa_register, x.v);
		break;
	case 0x0f:
		m->row.cfa_expression = x.block;
		m->row.cfa_expressed = true;
		break;
	case 0x10:
		set_how(m, x.v, (struct how){ BY_EXPRESSION, 0, y.block });
		break;
	default:
		break;
	}
}

/* Three instructions have an operand in their low bits. */
static void
run(struct machine *m, struct bytes b)
{
	int64_t unit = m->cie->data_unit;

	while (b.at < b.end) {
		unsigned byte = (unsigned)get(&b, 1), low = byte & 0x3f;
		struct operand x = { .v = low }, y = { .v = 0 };
		const char *forms = operands[low];

		if (byte >> 6 == 1) {
			execute(m, 0x02, x, y);
		} else if (byte >> 6 == 2) {
			y = get_operand(&b, 'd', unit);
			execute(m, 0x05, x, y);
		} else if (byte >> 6 == 3) {
			execute(m, 0x06, x, y);
		} else {
			if (forms)
				x = get_operand(&b, forms[0], unit);
			if (forms && forms[1])
				y = get_operand(&b, forms[1], unit);
			execute(m, low, x, y);
		}
		if (m->at > m->pc)
			return;
	}
}

static const uint8_t *
fde_of(const uint8_t *hdr, uintptr_t pc)
{
	struct bytes b = { hdr + 4, hdr + 16 };
	const int32_t *table;
	size_t low = 0, high;
	int64_t at = (int64_t)(pc - (uintptr_t)hdr);

	if (hdr[0] != 1 || hdr[3] != HDR_TABLE)
		return NULL;
	get_pointer(&b, hdr[1]);
	high = get_pointer(&b, hdr[2]);
	table = (const int32_t *)(const void *)b.at;
	if (!high || at < table[0])
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (table[2 * middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return hdr + table[2 * low + 1];
}

/* The row for M's pc, from the frame's description AT. */
static bool
find_row(struct machine *m, struct cie *cie, const uint8_t *at)
{
	struct bytes b = get_record(at);
	uint64_t to_cie = get(&b, 4);
	uintptr_t size, pc = m->pc;

	if (!to_cie || !read_cie(cie, at + 4 - to_cie))
		return false;
	m->cie = cie;
	m->at = get_pointer(&b, cie->encoding);
	size = get_pointer(&b, cie->encoding & ENC_FORM);
	if (pc < m->at || pc - m->at >= size)
		return false;
	if (cie->has_length)
		get_block(&b);
	m->row.ra.kind = SAME;
	m->pc = UINTPTR_MAX;
	run(m, cie->instructions);
	m->pc = pc;
	m->first = m->row;
	run(m, b);
	return true;
}

/* fp + offset, and what is there if DEREF: all that compilers put into
 * expressions for code that is ours to step over. */
static bool
is_by_fp(struct bytes b, bool deref, int64_t *offset)
{
	if (get(&b, 1) != OP_BREG + REG_FP)
		return false;
	*offset = get_sleb(&b);
	return !deref ? b.at == b.end
	    : b.end - b.at == 1 && *b.at == OP_DEREF;
}

static bool
set_cfa_rule(struct hh_rule *rule, const struct row *row)
{
	int64_t offset = row->cfa_offset;

	if (row->cfa_expressed)
		rule->cfa = is_by_fp(row->cfa_expression, true, &offset)
		    ? HH_CFA_AT_FP : HH_CFA_END;
	else
		rule->cfa = row->cfa_register == REG_SP ? HH_CFA_SP
		    : row->cfa_register == REG_FP ? HH_CFA_FP : HH_CFA_END;
	rule->cfa_offset = offset;
	return rule->cfa != HH_CFA_END && rule->cfa_offset == offset;
}

static bool
set_fp_rule(struct hh_rule *rule, const struct how *fp)
{
	int64_t offset = fp->offset;

	rule->kept = HH_KEPT_SAME;
	if (fp->kind == AT_CFA)
		rule->kept = HH_KEPT_CFA;
	else if (fp->kind == BY_EXPRESSION
	    && is_by_fp(fp->expression, false, &offset))
		rule->kept = HH_KEPT_FP;
	rule->fp_words = offset / (int64_t)sizeof(void *);
	return rule->fp_words * (int64_t)sizeof(void *) == offset;
}

struct hh_rule
hh_cfi_find(const void *hdr, uintptr_t pc)
{
	const struct hh_rule end = { .cfa = HH_CFA_END };
	struct machine m = { .pc = pc };
	struct hh_rule rule = { .cfa = HH_CFA_UNTOLD };
	const uint8_t *fde = hdr ? fde_of(hdr, pc) : NULL;
	struct cie cie;

	if (!fde || !find_row(&m, &cie, fde))
		return rule;
	if (cie.is_signal) {
		rule.cfa = HH_CFA_SIGNAL;
		return rule;
	}
	if (m.row.ra.kind != AT_CFA || !set_cfa_rule(&rule, &m.row)
	    || !set_fp_rule(&rule, &m.row.fp))
		return end;
	rule.ra_words = m.row.ra.offset / (int64_t)sizeof(void *);
	return rule;
}
