/* SPDX-License-Identifier: Apache-2.0 */
/* Which function people mean. */
#include "tools/signature.h"

#include <stdlib.h>

#include "unit.h"

START_TEST(people_leave_out_what_is_not_the_name)
{
	static const struct {
		const char *function, *name;
		bool is;
	} list[] = {
		{ "f", "f", true }, { "for", "f", false },
		{ "f", "for", false }, { "f", "", false }, { "", "", true },
		{ "ns::f(int, char)", "ns::f", true },
		{ "ns::f(int, char)", "ns::f(int, char)", true },
		{ "ns::f(int, char)", "f", false },
		{ "ns::f(int, char)", "ns::f(", false },
		{ "ns::f(int) const", "ns::f(int)", true },
		{ "ns::f(int) const", "ns::f(int) const", true },
		{ "std::vector<int> f<long>(long)", "f", true },
		{ "std::vector<int> f<long>(long)", "f<long>", true },
		{ "std::vector<int> f<long>(long)", "f<int>", false },
		{ "std::vector<int> f<long>(long)", "std::vector<int> f",
		    true },
		{ "unsigned long g<int>(int)", "g", true },
		{ "g[abi:cxx11](int)", "g", true },
		{ "g[abi:cxx11](int)", "g[abi:cxx11]", true },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f",
		    true },
		{ "void (anonymous namespace)::f<int>(int)",
		    "(anonymous namespace)::f", true },
		{ "S<((3)>(2))>::f()", "S<((3)>(2))>::f", true },
		{ "int (*ret<int>(int))(char)", "ret", true },
		{ "int (*ret<int>(int))(char)", "ret<int>", true },
		{ "f.part.0", "f.part.0", true },
	};

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		ck_assert_msg(signature_is(list[i].function, list[i].name)
		    == list[i].is, "%s, %s", list[i].function, list[i].name);
}
END_TEST

START_TEST(types_may_hold_lambdas)
{
	static const char function[]
	    = "void* call2<main::{lambda(int)#2}>(main::{lambda(int)#2})";
	static const char own[] = "call2<main::{lambda(int)#2}>";

	ck_assert(signature_is(function, "call2"));
	ck_assert(signature_is(function, own));
	ck_assert(signature_is(function, "call2<main::{lambda(int)}>"));
	ck_assert(!signature_is(function, "call2<main::{lambda(int)#1}>"));
	ck_assert(signature_is(function, function));
	ck_assert(!signature_is(function, "call"));
	ck_assert(signature_is("void my::call4<main::{lambda()#3}>"
	    "(main::{lambda()#3})", "my::call4"));
	ck_assert(signature_is("decltype ({parm#1}+(1)) trail<int>(int)",
	    "trail"));
	ck_assert(signature_is("decltype ({parm#1}+(1)) trail<int>(int)",
	    "trail<int>"));
	ck_assert(signature_is("main::{lambda()#1}::operator()() const",
	    "main::{lambda()}::operator()"));
	ck_assert(signature_is("main::{lambda()}::operator()() const",
	    "main::{lambda()#1}::operator()() const"));
	ck_assert(!signature_is("main::{lambda()#2}::operator()() const",
	    "main::{lambda()#1}::operator()"));
}
END_TEST

START_TEST(operators_have_names_too)
{
	static const struct {
		const char *function, *name;
		bool is;
	} list[] = {
		{ "operator new(unsigned long)", "operator new", true },
		{ "operator new[](unsigned long)", "operator new", false },
		{ "operator new[](unsigned long)", "operator new[]", true },
		{ "my::S::operator<(my::S const&) const", "my::S::operator<",
		    true },
		{ "my::operator<<(my::S, int)", "my::operator<<", true },
		{ "my::operator<<(my::S, int)", "my::operator<", false },
		{ "my::S my::operator>><3>(my::S, int (&) [3])",
		    "my::operator>>", true },
		{ "my::S my::operator>><3>(my::S, int (&) [3])",
		    "my::operator>><3>", true },
		{ "bool operator< <int>(S<int>, S<int>)", "operator<", true },
		{ "bool operator<< <int>(S<int>, S<int>)", "operator<<", true },
		{ "T* P<T>::operator-><T>()", "P<T>::operator->", true },
		{ "F::operator()(int)", "F::operator()", true },
		{ "F::operator()(int)", "F::operator", false },
		{ "void F::operator()<int>(int)", "F::operator()", true },
		{ "V::operator[](unsigned long)", "V::operator[]", true },
		{ "my::S::operator long*<long>()", "my::S::operator long*",
		    true },
		{ "my::S::operator unsigned long()",
		    "my::S::operator unsigned long", true },
		{ "operators(int)", "operators", true },
		{ "my_operator(int)", "my_operator", true },
	};

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		ck_assert_msg(signature_is(list[i].function, list[i].name)
		    == list[i].is, "%s, %s", list[i].function, list[i].name);
}
END_TEST

START_TEST(rust_names_are_names)
{
	ck_assert(signature_is("<alloc::vec::Vec<T> as Drop>::drop",
	    "<alloc::vec::Vec<T> as Drop>::drop"));
	ck_assert(signature_is("mine::plant::<u64>", "mine::plant"));
	ck_assert(signature_is("<fn(u8) -> u64 as mine::Call>::call",
	    "<fn(u8) -> u64 as mine::Call>::call"));
	ck_assert(signature_is("mine::main::{closure#1}",
	    "mine::main::{closure#1}"));
	ck_assert(!signature_is("mine::main::{closure#1}",
	    "mine::main::{closure#0}"));
}
END_TEST

static void
is_loosely(const char *function, const char *loose)
{
	char *got = signature_loose(function);

	ck_assert_str_eq(got, loose);
	free(got);
}

START_TEST(what_is_the_same_however_it_was_found)
{
	is_loosely("f", "f");
	is_loosely("std::vector<int> ns::f<long>(long)", "ns::f<long>");
	is_loosely("void call<main::{lambda(int)#2}>(main::{lambda(int)#2})",
	    "call<main::{lambda(int)}>");
	is_loosely("main::{lambda()#12}::operator()() const",
	    "main::{lambda()}::operator()");
}
END_TEST

/* Names come from files that anybody may have written. */
START_TEST(whatever_it_is_comes_to_an_end)
{
	static const char pieces[] = "(<{[)>}]*& #0operator-decltype ::a~";
	uint64_t seed = 1;

	for (int i = 0; i < 20000; i++) {
		char name[40];
		size_t n = 0;

		while (n < sizeof name - 1) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			name[n++] = pieces[(seed >> 33)
			    % (sizeof pieces - 1)];
		}
		name[n] = '\0';
		ck_assert(signature_is(name, name));
		free(signature_loose(name));
		ck_assert(signature_own(name) <= name + n);
	}
}
END_TEST

static void
add(TCase *t)
{
	tcase_add_test(t, people_leave_out_what_is_not_the_name);
	tcase_add_test(t, types_may_hold_lambdas);
	tcase_add_test(t, operators_have_names_too);
	tcase_add_test(t, rust_names_are_names);
	tcase_add_test(t, what_is_the_same_however_it_was_found);
	tcase_add_test(t, whatever_it_is_comes_to_an_end);
}

int
main(void)
{
	return unit_run("signature", add);
}
