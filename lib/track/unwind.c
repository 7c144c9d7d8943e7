/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "unwind.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "../interpose/sys.h"
#include "cfi.h"
#include "code.h"
#include "object.h"

enum {
	RULES_LOG2 = 12,
	STEP_MOST = 1 << 26,		/* bytes of one frame, */
	UNTOLD_MOST = 1 << 16,		/* and of one without a table */
	PAGE = 4096,
	NEAR = 64 * PAGE,		/* looked through for holes */
};

/* Found rules, by where they hold.  A rule is stored with its address mixed
 * in, so that two words written by two threads are no rule at all. */
struct known {
	_Atomic uint64_t rule, mixed;
};

static struct known *known;
static _Atomic uint32_t epoch;

bool
hh_unwind_begin(void)
{
#if defined __x86_64__ || defined __aarch64__
	if (!known)
		known = hh_sys_map_private(sizeof *known << RULES_LOG2);
#endif
	return known;
}

static uint64_t
word_of(struct hh_rule rule)
{
	uint64_t word;

	memcpy(&word, &rule, sizeof word);
	return word;
}

static struct hh_rule
learn(struct known *k, uintptr_t pc)
{
	struct hh_rule rule = hh_cfi_find(hh_object_tables(pc), pc);

	if (rule.cfa == HH_CFA_UNTOLD && hh_code_ends_handler(pc + 1))
		rule.cfa = HH_CFA_SIGNAL;
	/* Pairs with the loads of rule_at(). */
	atomic_store_explicit(&k->rule, word_of(rule), memory_order_relaxed);
	atomic_store_explicit(&k->mixed, word_of(rule) ^ pc,
	    memory_order_relaxed);
	return rule;
}

static inline struct hh_rule
rule_at(uintptr_t pc)
{
	struct known *k = &known[pc * UINT64_C(0x9e3779b97f4a7c15)
	    >> (64 - RULES_LOG2)];
	uint64_t word = atomic_load_explicit(&k->rule, memory_order_relaxed);
	struct hh_rule rule;

	if ((atomic_load_explicit(&k->mixed, memory_order_relaxed) ^ word)
	    != pc)
		return learn(k, pc);
	memcpy(&rule, &word, sizeof rule);
	return rule;
}

void
hh_unwind_forget(void)
{
	for (size_t i = 0; known && i < (size_t)1 << RULES_LOG2; i++)
		atomic_store_explicit(&known[i].mixed, 0,
		    memory_order_relaxed);
	atomic_fetch_add(&epoch, 1);
}

/* What of this thread's stack is known to be there. */
static _Thread_local uintptr_t low, high;

/* From what is known up to PAGE, without a hole. */
static bool
reach(uintptr_t page)
{
	uintptr_t from = page >= high ? high : page;
	uintptr_t to = page >= high ? page : low;

	if (to - from > NEAR)
		return false;
	for (; from < to; from += PAGE)
		if (!hh_code_is_there(from))
			return false;
	return true;
}

static __attribute__((noinline)) bool
look(uintptr_t at)
{
	uintptr_t page = at & -(uintptr_t)PAGE;

	if (at % sizeof at || at < PAGE || !hh_code_is_there(at))
		return false;
	if (!reach(page))	/* another stack, or the first look */
		low = high = page;
	if (page >= high)
		high = page + PAGE;
	else
		low = page;
	return true;
}

static inline bool
can_read(uintptr_t at)
{
	return at - low < high - low || look(at);
}

static inline bool
fetch(uintptr_t at, uintptr_t *value)
{
	if (!can_read(at))
		return false;
	memcpy(value, (const void *)at, sizeof *value);
	return true;
}

/* Back to what the signal interrupted. */
static bool
leave_handler(const struct hh_frame *f, struct hh_frame *to)
{
#if defined __x86_64__
	const ucontext_t *context = (const ucontext_t *)f->sp;

	if (!can_read(f->sp)
	    || !can_read((uintptr_t)&context->uc_mcontext.gregs[REG_RIP]))
		return false;
	to->pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP] + 1;
	to->sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
	to->fp = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
	return true;
#elif defined __aarch64__
	const ucontext_t *context = (const ucontext_t *)
	    (f->sp + sizeof(siginfo_t));

	if (!can_read(f->sp) || !can_read((uintptr_t)&context->uc_mcontext.pc))
		return false;
	to->pc = context->uc_mcontext.pc + 1;
	to->sp = context->uc_mcontext.sp;
	to->fp = context->uc_mcontext.regs[29];
	return true;
#else
	(void)f;
	(void)to;
	return false;
#endif
}

static inline uintptr_t
beyond(uintptr_t at, int64_t words)
{
	return at + sizeof at * (uintptr_t)words;
}

static inline uint32_t
place(const struct hh_frame *f, uintptr_t at)
{
	uintptr_t words = (at - f->sp) / sizeof at;

	return words < STEP_MOST ? (uint32_t)words + 1 : 0;
}

static inline uintptr_t
look_at(const struct hh_frame *f, uint32_t place)
{
	uintptr_t value;

	memcpy(&value, (const void *)beyond(f->sp, (int64_t)place - 1),
	    sizeof value);
	return value;
}

/* Of any address at all; what code has a table can be read. */
static bool
is_told(uintptr_t pc)
{
	return hh_object_tables(pc) && rule_at(pc).cfa != HH_CFA_UNTOLD;
}

/* Whether PC, before which 8 bytes can be read, is where a call returns to of
 * code without a table, as far as is to be seen. */
static bool
calls_untold(uintptr_t pc)
{
	uintptr_t called;

	if (!hh_code_calls(pc, &called))
		return false;
	if (called && is_told(called))	/* may be a linkage table's */
		called = hh_code_jumps(called);
	return !called || !is_told(called);
}

/* Whether AT holds where code without a table returns to code with one: then
 * it is in between, and the frame pointer is of that code or another. */
static bool
returns_to_told(uintptr_t at)
{
	uintptr_t pc;

	memcpy(&pc, (const void *)at, sizeof pc);
	return is_told(pc - 1) && calls_untold(pc);
}

/* Where there is no table the frame pointer may be that of the function, as
 * it is in most code that programs make themselves; or its caller's, or
 * anything at all.  It is taken where a call of such code lies beyond, and
 * none by code with a table before. */
static __attribute__((noinline)) bool
step_untold(struct hh_frame *f, struct hh_frame *to)
{
	f->by_fp = true;
	if (f->fp < f->sp || f->fp - f->sp > UNTOLD_MOST)
		return false;
	to->sp = beyond(f->fp, 2);
	if (!fetch(f->fp, &to->fp) || !fetch(beyond(f->fp, 1), &to->pc)
	    || !(is_told(to->pc - 1) || hh_code_may_be(to->pc - 8))
	    || !calls_untold(to->pc))
		return false;
	for (uintptr_t at = f->sp; at < f->fp; at = beyond(at, 1))
		if (!can_read(at) || returns_to_told(at))
			return false;
	f->fp_at = place(f, f->fp);
	f->pc_at = place(f, beyond(f->fp, 1));
	return true;
}

/* The caller's frame, and in F where it was found.  False: this was the
 * last one. */
static inline __attribute__((always_inline)) bool
step(struct hh_frame *f, struct hh_frame *to)
{
	struct hh_rule rule = rule_at(f->pc - 1);
	uintptr_t cfa = (rule.cfa == HH_CFA_SP ? f->sp : f->fp)
	    + (uintptr_t)(intptr_t)rule.cfa_offset;
	uintptr_t ra, kept;

	f->pc_at = f->fp_at = 0;
	f->by_fp = rule.cfa == HH_CFA_FP || rule.cfa == HH_CFA_AT_FP
	    || rule.kept == HH_KEPT_FP;
	if (rule.cfa == HH_CFA_END)
		return false;
	if (rule.cfa == HH_CFA_UNTOLD)
		return step_untold(f, to);
	if (rule.cfa == HH_CFA_SIGNAL)
		return leave_handler(f, to);
	if (rule.cfa == HH_CFA_AT_FP && !fetch(cfa, &cfa))
		return false;
	if (cfa <= f->sp || cfa - f->sp > STEP_MOST)
		return false;
	ra = beyond(cfa, rule.ra_words);
	kept = beyond(rule.kept == HH_KEPT_CFA ? cfa : f->fp, rule.fp_words);
	to->sp = cfa;
	to->fp = f->fp;
	if (!fetch(ra, &to->pc)
	    || (rule.kept != HH_KEPT_SAME && !fetch(kept, &to->fp)))
		return false;
	if (rule.cfa == HH_CFA_AT_FP)	/* may be elsewhere the next time */
		return to->pc;
	f->pc_at = place(f, ra);
	if (rule.kept != HH_KEPT_SAME && !(f->fp_at = place(f, kept)))
		f->pc_at = 0;
	return to->pc;
}

/* Made by the linker, round the code of this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static inline bool
is_ours(uintptr_t pc)
{
	return pc - (uintptr_t)__ehdr_start
	    < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

/* Where this function is just now. */
static inline __attribute__((always_inline)) struct hh_frame
here(void)
{
	struct hh_frame f = { 0 };

#if defined __x86_64__
	__asm__ volatile("lea 1(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
	    : "=r"(f.pc), "=r"(f.sp), "=r"(f.fp));
#elif defined __aarch64__
	__asm__ volatile("adr %0, .+4; mov %1, sp; mov %2, x29"
	    : "=r"(f.pc), "=r"(f.sp), "=r"(f.fp));
#endif
	return f;
}

unsigned
hh_unwind(uintptr_t *pcs, unsigned most)
{
	struct hh_frame f = here();
	unsigned n = 0;

	for (struct hh_frame to; n < most && step(&f, &to); f = to)
		if (n || !is_ours(to.pc))
			pcs[n++] = to.pc;
	return n;
}

static inline bool
is_same(const struct hh_frame *a, const struct hh_frame *b)
{
	return a->sp == b->sp && a->pc == b->pc;
}

static inline bool
fits(const struct hh_frame *f, uintptr_t fp)
{
	return !f->by_fp || f->fp == fp;
}

/* How far the frames from I on were found where they were the last time, the
 * frame pointer now being *FP, and then.  What it is does not matter where no
 * frame is found by it. */
static unsigned
follow(const struct hh_walk *w, unsigned i, uintptr_t *fp)
{
	const struct hh_frame *f = &w->frames[i];

	for (; i + 1 < w->count && f->pc_at && fits(f, *fp); i++, f++) {
		if (look_at(f, f->pc_at) != f[1].pc)
			break;
		if (f->fp_at)
			*fp = look_at(f, f->fp_at);
	}
	return i;
}

/* Whether those up to LAST are all that there are. */
static inline bool
is_whole(const struct hh_walk *w, unsigned last, uintptr_t fp)
{
	return last + 1 == w->count && fits(&w->frames[last], fp);
}

/* Like hh_unwind(), but what is as it was in OLD is taken from there. */
static void
walk(struct hh_walk *new, const struct hh_walk *old, unsigned most)
{
	struct hh_frame *f = new->frames;
	unsigned i = 0, last;
	uintptr_t fp;

	for (;;) {
		while (i < old->count && old->frames[i].sp < f->sp)
			i++;
		if (i < old->count && is_same(&old->frames[i], f)
		    && old->count - i <= most - new->count) {
			fp = f->fp;
			last = follow(old, i, &fp);
			memcpy(f, &old->frames[i], (last - i + 1) * sizeof *f);
			f += last - i;
			new->count += last - i;
			if (is_whole(old, last, fp) && old->ends)
				break;
			f->fp = fp;
			i = last + 1;
		}
		if (new->count + 1 == most || !step(f, f + 1))
			break;
		f++;
		new->count++;
	}
	new->count++;
	new->ends = new->count < most;
}

/* Those of the program, into PCS. */
static unsigned
take_pcs(const struct hh_walk *w, uintptr_t *pcs, unsigned most)
{
	unsigned i = 1, n = 0;

	while (i < w->count && is_ours(w->frames[i].pc))
		i++;
	for (; i < w->count && n < most; i++)
		pcs[n++] = w->frames[i].pc;
	return n;
}

/* What code has gone led through is not to be looked at again. */
static void
keep_up(struct hh_walks *walks)
{
	uint32_t now = atomic_load_explicit(&epoch, memory_order_relaxed);

	if (walks->epoch == now)
		return;
	walks->epoch = now;
	walks->walk[0].count = walks->walk[1].count = 0;
}

static bool
is_as_it_was(const struct hh_walk *w, const struct hh_frame *f)
{
	uintptr_t fp = f->fp;

	return w->count && is_same(&w->frames[0], f)
	    && is_whole(w, follow(w, 0, &fp), fp);
}

/* F and all that is beyond it. */
static const struct hh_walk *
walk_again(struct hh_walks *walks, const struct hh_frame *f, unsigned most)
{
	struct hh_walk *old = &walks->walk[walks->newest];
	struct hh_walk *new = &walks->walk[!walks->newest];

	if (is_as_it_was(old, f))
		return old;
	new->frames[0] = *f;
	new->count = 0;
	walk(new, old, most);
	walks->newest = !walks->newest;
	walks->number = 0;
	return new;
}

unsigned
hh_unwind_again(struct hh_walks *walks, unsigned most)
{
	struct hh_frame f = here();
	const struct hh_walk *w;

	keep_up(walks);
	w = walk_again(walks, &f, most + HH_WALK_OURS);
	return walks->number ? 0 : take_pcs(w, walks->pcs, most);
}
