/* SPDX-License-Identifier: Apache-2.0 */
/* What sites are called, in which order they come, which are no leaks. */
#include "tools/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logmaker.h"
#include "tools/leaks.h"
#include "tools/order.h"
#include "tools/pattern.h"
#include "unit.h"

/* A profile owns its texts, but nobody frees these. */
#define TEXT(literal) ((char *)(literal))

/* main calls f, which calls what is in the C library; a plug-in's start. */
static struct profile_object objects[] = {
	{ NULL }, { .path = TEXT("/bin/prog") },
	{ .path = TEXT("/lib/libc.so.6") },
	{ .path = TEXT("/lib64/ld-linux-x86-64.so.2") },
	{ .path = TEXT("/opt/plug.so") },
};
static struct profile_call calls[7];
static struct profile_node tree[] = {
	{ 0 }, { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 1 }, { 5, 4 }, { 6, 0 },
	{ 6, 4 }, { 6, 2 },
};
static struct profile_site sites[5];
static struct profile p;

static void
begin(void)
{
	static const unsigned of[] = { 0, 1, 1, 2, 3, 4, 2 };

	memset(sites, 0, sizeof sites);
	for (unsigned i = 1; i < 7; i++)
		calls[i] = (struct profile_call){
			.object = objects + of[i], .address = 0x100 * i,
		};
	sites[0].frame = 2;
	sites[1].frame = 3;
	sites[2].frame = 4;
	sites[3].frame = 5;
	p = (struct profile){
		.has_sites = true, .sites = sites, .site_count = 5,
		.tree = tree, .tree_count = 9, .calls = calls,
		.call_count = 7, .objects = objects, .object_count = 5,
	};
}

static void
done(void)
{
	for (size_t i = 0; i < p.site_count; i++)
		free(sites[i].stack);
	for (size_t i = 0; i < p.call_count; i++)
		free(calls[i].frames);
}

START_TEST(stacks_are_innermost_first)
{
	begin();
	names_give(&p, NULL, 2);
	ck_assert_uint_eq(sites[1].depth, 3);
	ck_assert_uint_eq(sites[1].stack[0]->call->address, 0x300);
	ck_assert_uint_eq(sites[1].stack[1]->call->address, 0x200);
	ck_assert_uint_eq(sites[1].stack[2]->call->address, 0x100);
	ck_assert_ptr_eq(sites[1].stack[1]->call->object, objects + 1);
	ck_assert_ptr_null(sites[1].stack[0]->function);
	ck_assert_ptr_eq(sites[1].stack[1], sites[0].stack[0]);
	ck_assert_ptr_null(sites[2].stack);
	names_give(&p, NULL, 100);
	ck_assert_uint_eq(sites[3].depth, 3);
	ck_assert_uint_eq(sites[4].depth, 0);
	ck_assert_ptr_nonnull(sites[4].stack);
	done();
}
END_TEST

START_TEST(the_headline_is_no_plumbing)
{
	begin();
	names_give(&p, NULL, 5);
	ck_assert_uint_eq(names_headline(sites + 1), 1);
	ck_assert_uint_eq(names_headline(sites + 0), 0);
	ck_assert_uint_eq(names_headline(sites + 4), 0);
	done();
	begin();
	sites[0].frame = 6;		/* nothing else */
	names_give(&p, NULL, 5);
	ck_assert_uint_eq(names_headline(sites + 0), 0);
	done();
}
END_TEST

START_TEST(functions_of_libraries_for_all_are_plumbing)
{
	static const struct {
		const char *function;
		bool plumbing;
	} list[] = {
		{ "operator new(unsigned long)", true },
		{ "operator new[](unsigned long, std::nothrow_t const&)",
		    true },
		{ "std::allocator<int>::allocate(unsigned long)", true },
		{ "void std::vector<int, std::allocator<int> >::"
		    "_M_realloc_insert<int const&>(int const&)", true },
		{ "__gnu_cxx::new_allocator<char>::allocate(unsigned long, "
		    "void const*)", true },
		{ "strdup", true },
		{ "<alloc::vec::Vec<T> as core::clone::Clone>::clone", true },
		{ "<alloc::vec::Vec<T> as mine::Trait>::get", false },
		{ "<u8 as alloc::vec::spec_from_elem::SpecFromElem>"
		    "::from_elem", true },
		{ "<mine::Box as alloc::string::ToString>::to_string", true },
		{ "<mine::Box as core::clone::Clone>::clone", false },
		{ "<u32 as mine::Trait>::get", false },
		{ "<u8 as <[_]>::to_vec_in::ConvertVec>::to_vec", true },
		{ "<&dyn core::ops::function::Fn<(), Output = i32> as "
		    "core::ops::function::FnOnce<()>>::call_once", true },
		{ "<fn() -> mine::Box as core::ops::FnOnce>::call", false },
		{ "<alloc::raw_vec::RawVec<u64>>::with_capacity_in", true },
		{ "<std::collections::hash::map::HashMap<K,V>>::insert",
		    true },
		{ "<[u8]>::to_vec", true }, { "<mine::Tree<u64>>::plant",
		    false },
		{ "std::thread::spawn", true }, { "<lambda(int)>", false },
		{ "hashbrown::raw::RawTableInner::resize_inner", true },
		{ "__rdl_alloc", true }, { "__rustc::__rust_alloc", true },
		{ "_gfortran_string_trim", true }, { "__mm_MOD_plant", false },
		{ "__gnat_malloc", true }, { "a__plant", false },
		{ "system__secondary_stack__ss_allocate", true },
		{ "ada__strings__unbounded__append", true },
		{ "alloc::raw_vec::finish_grow", true },
		{ "std::vector<int> make<int>(int)", false },
		{ "(anonymous namespace)::std_like(std::string)", false },
		{ "Table::fill(std::vector<int>&)", false },
		{ "stdx::f()", false }, { "main", false },
		{ "strdup_all", false }, { "f<std::pair<int, int> >()", false },
	};

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		ck_assert_msg(names_is_plumbing(list[i].function, NULL)
		    == list[i].plumbing, "%s", list[i].function);
	ck_assert(names_is_plumbing(NULL, objects + 2));
	ck_assert(!names_is_plumbing(NULL, objects + 1));
}
END_TEST

START_TEST(sites_come_in_order)
{
	begin();
	for (unsigned i = 0; i < 5; i++) {
		sites[i].peak_bytes = i % 3;
		sites[i].temporary = 10 - i;
		sites[i].allocations = i;
	}
	order_sites(&p, orders);
	ck_assert_uint_eq(sites[0].frame, 4);
	ck_assert_uint_eq(sites[1].allocations, 4);
	ck_assert_uint_eq(sites[2].allocations, 1);
	ck_assert_uint_eq(sites[4].allocations, 0);
	order_sites(&p, order_find("temporary"));
	ck_assert_uint_eq(sites[0].temporary, 10);
	ck_assert_str_eq(orders[0].name, "peak");
	ck_assert_ptr_null(order_find("rank"));
	ck_assert_ptr_null(order_find(""));
}
END_TEST

START_TEST(those_that_called_once_come_last)
{
	struct profile_site once[4] = {
		{ .frame = 1, .allocations = 1 },
		{ .frame = 2, .allocations = 7 },
		{ .frame = 3 },
		{ .frame = 4, .allocations = 2 },
	};
	struct profile few = { .sites = once, .site_count = 4 };

	order_once_last(&few);
	ck_assert_uint_eq(few.once_count, 2);
	ck_assert_uint_eq(once[0].frame, 2);
	ck_assert_uint_eq(once[1].frame, 4);
	ck_assert_uint_eq(once[2].frame, 1);
	ck_assert_uint_eq(once[3].frame, 3);
}
END_TEST

START_TEST(patterns_are_those_of_lsan)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} list[] = {
		{ "b", "abc", true }, { "d", "abc", false },
		{ "^a", "abc", true }, { "^b", "abc", false },
		{ "c$", "abc", true }, { "b$", "abc", false },
		{ "b$", "abab", true }, { "^abc$", "abc", true },
		{ "^ab$", "abc", false }, { "a*c", "abbbc", true },
		{ "^a*c$", "abcbc", true }, { "^a*d", "abc", false },
		{ "a*b*c", "xaybzc", true }, { "a*c*b", "abc", false },
		{ "*", "", true }, { "^$", "", true }, { "a$b", "a$b", true },
		{ "**b**", "abc", true }, { "^*c$", "abc", true },
		{ "aab", "aaab", true }, { "", "x", true },
	};

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		ck_assert_msg(pattern_matches(list[i].pattern, list[i].text)
		    == list[i].matches, "%s %s", list[i].pattern,
		    list[i].text);
}
END_TEST

/* What leaks_read says of TEXT, without the name of the file. */
static const char *
read_rules(struct leaks *l, const char *text)
{
	static char said[256];
	char *path = maker_store(text, strlen(text));
	char *wrong = leaks_read(l, path);

	snprintf(said, sizeof said, "%s", wrong ? wrong + strlen(path) : "");
	free(wrong);
	unlink(path);
	free(path);
	return said;
}

START_TEST(a_wrong_rule_is_named)
{
	struct leaks l = { 0 };
	char *wrong;

	ck_assert_str_eq(read_rules(&l, "# a\n\nleak:x\n  leak:y z \r\n"
	    "\t# b\nleak:last"), "");
	ck_assert_uint_eq(l.count, 3);
	ck_assert_str_eq(l.patterns[1], "y z");
	ck_assert_str_eq(l.patterns[2], "last");
	ck_assert_str_eq(read_rules(&l, "leak:a\nmutex:b\nleak:c\n"),
	    ":2: expected leak:PATTERN, or # and a comment");
	ck_assert_ptr_nonnull(strstr(read_rules(&l, "leak:\n"), ":1: "));
	leaks_free(&l);
	wrong = leaks_read(&l, "/nonexistent/rules");
	ck_assert_ptr_nonnull(strstr(wrong, "/nonexistent/rules: No such "));
	free(wrong);
}
END_TEST

/* The sites that are suppressed, as bits; SOME: other threads have more. */
static unsigned
marked_of(const char *rules, bool some)
{
	struct leaks l = { 0 };
	unsigned bits = 0;

	ck_assert_str_eq(read_rules(&l, rules), "");
	leaks_mark(&l, &p, some);
	leaks_free(&l);
	for (unsigned i = 0; i < 5; i++)
		bits |= (unsigned)sites[i].suppressed << i;
	return bits;
}

static unsigned
marked(const char *rules)
{
	return marked_of(rules, false);
}

START_TEST(what_is_suppressed)
{
	begin();
	names_give(&p, NULL, 5);
	/* The loader's own block; not what it called a plug-in for. */
	ck_assert_uint_eq(marked(""), 1 << 2);
	ck_assert_uint_eq(marked("leak:plug.so$\n"), 1 << 2 | 1 << 3);
	ck_assert_uint_eq(marked("leak:^/bin/prog$"), 15);
	done();
	begin();
	sites[3].frame = 6;	/* nobody called the C library */
	sites[4].frame = 7;	/* the loader did */
	names_give(&p, NULL, 5);
	ck_assert_uint_eq(marked(""), 1 << 2 | 1 << 4);
	done();
	begin();
	names_give(&p, NULL, 5);
	calls[2].frames[0].function = "f(int)";
	calls[2].frames[0].file = "/src/f.c";
	ck_assert_uint_eq(marked("leak:^f("), 7);
	ck_assert_uint_eq(marked("leak:src/*.c"), 7);
	ck_assert_uint_eq(marked("leak:src/*.cc"), 1 << 2);
	calls[1].frames[0].function = "__libc_start_main";
	calls[3].frames[0].function = "setlocale";
	ck_assert_uint_eq(marked(""), 1 << 1 | 1 << 2);
	calls[3].frames[0].function = "__GI_setlocale";
	ck_assert_uint_eq(marked(""), 1 << 1 | 1 << 2);
	calls[3].frames[0].function = "__add_to_environ";
	ck_assert_uint_eq(marked(""), 1 << 1 | 1 << 2);
	calls[3].frames[0].function = "__tz_convert";
	ck_assert_uint_eq(marked(""), 1 << 1 | 1 << 2);
	calls[3].frames[0].function = "__GI___gconv_open";
	ck_assert_uint_eq(marked(""), 1 << 2);
	calls[2].frames[0].function = "setlocale";	/* not libc's */
	ck_assert_uint_eq(marked(""), 1 << 2);
	done();
}
END_TEST

/* In a constructor, which dlopen had called: main, libc, the loader, it. */
START_TEST(what_a_plugin_allocates_is_no_loaders)
{
	begin();
	tree[4].caller = 3;
	names_give(&p, NULL, 5);
	calls[3].frames[0].function = "_dlerror_run";
	ck_assert_uint_eq(marked(""), 1 << 1 | 1 << 2);
	tree[4].caller = 1;
	done();
}
END_TEST

/* Of libc, called by main: a buffer for the sake of FUNCTION. */
static unsigned
buffer_for(const char *function, bool some)
{
	unsigned bits;

	begin();
	sites[0].frame = 3;
	tree[3].caller = 8;
	names_give(&p, NULL, 1);
	p.site_count = 1;
	calls[3].frames[0].function = "__GI__IO_file_doallocate";
	calls[6].frames[0].function = function;
	bits = marked_of("", some);
	tree[3].caller = 2;
	done();
	return bits;
}

START_TEST(buffers_of_standard_streams_are_no_leaks)
{
	ck_assert_uint_eq(buffer_for("__GI__IO_puts", true), 1);
	ck_assert_uint_eq(buffer_for("___printf_chk", true), 1);
	ck_assert_uint_eq(buffer_for("__printf", true), 1);
	ck_assert_uint_eq(buffer_for("__fprintf", true), 0);
	ck_assert_uint_eq(buffer_for("__GI__IO_fread", true), 0);
	ck_assert_uint_eq(buffer_for(NULL, true), 0);
	ck_assert_uint_eq(buffer_for("__fprintf", false), 1);
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, stacks_are_innermost_first);
	tcase_add_test(t, the_headline_is_no_plumbing);
	tcase_add_test(t, functions_of_libraries_for_all_are_plumbing);
	tcase_add_test(t, sites_come_in_order);
	tcase_add_test(t, those_that_called_once_come_last);
	tcase_add_test(t, patterns_are_those_of_lsan);
	tcase_add_test(t, a_wrong_rule_is_named);
	tcase_add_test(t, what_is_suppressed);
	tcase_add_test(t, what_a_plugin_allocates_is_no_loaders);
	tcase_add_test(t, buffers_of_standard_streams_are_no_leaks);
}

int
main(void)
{
	return unit_run("names", add);
}
