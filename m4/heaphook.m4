# SPDX-License-Identifier: Apache-2.0

# HH_REQUIRE_C11: asks for what we use, not for a number.
AC_DEFUN([HH_REQUIRE_C11], [
	AC_CACHE_CHECK([for C11 with atomics and thread-local storage],
		[hh_cv_c11],
		[AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
			#include <stdatomic.h>
			static _Thread_local _Atomic unsigned long n;
			_Static_assert(sizeof(n) == sizeof(long), "");
		]], [[
			return (int)atomic_fetch_add_explicit(&n, 1,
			    memory_order_relaxed);
		]])], [hh_cv_c11=yes], [hh_cv_c11=no])])
	AS_IF([test "$hh_cv_c11" = no],
		[AC_MSG_ERROR([a C11 compiler with <stdatomic.h> is needed])])
])

# HH_TRY_CFLAGS(VARIABLE, FLAGS): appends each flag the compiler takes.
# An unknown -Wno-x is only noticed beside another warning, hence -Werror.
AC_DEFUN([HH_TRY_CFLAGS], [
	hh_cflags=$CFLAGS
	for hh_flag in m4_normalize([$2]); do
		AC_MSG_CHECKING([whether $CC takes $hh_flag])
		CFLAGS="$hh_cflags -Werror $hh_flag"
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
			[$1="$$1 $hh_flag"; AC_MSG_RESULT([yes])],
			[AC_MSG_RESULT([no])])
	done
	CFLAGS=$hh_cflags
	AC_SUBST([$1])
])

# HH_TRY_LDFLAGS(VARIABLE, FLAGS): the same for the linker.
AC_DEFUN([HH_TRY_LDFLAGS], [
	hh_ldflags=$LDFLAGS
	for hh_flag in m4_normalize([$2]); do
		AC_MSG_CHECKING([whether the linker takes $hh_flag])
		LDFLAGS="$hh_ldflags $hh_flag"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
			[$1="$$1 $hh_flag"; AC_MSG_RESULT([yes])],
			[AC_MSG_RESULT([no])])
	done
	LDFLAGS=$hh_ldflags
	AC_SUBST([$1])
])

# HH_OPTIONAL(NAME, TITLE, MODULES, COST): NAME_CFLAGS, NAME_LIBS,
# have_NAME, and a line for the summary that says what its absence costs.
m4_ifndef([PKG_CHECK_MODULES],
	[m4_fatal([pkg.m4 is missing: install pkg-config])])
AC_DEFUN([HH_OPTIONAL], [
	PKG_CHECK_MODULES([$1], [$3], [have_$1=yes], [have_$1=no])
	AS_IF([test "$have_$1" = yes], [hh_found=yes], [hh_found="no: $4"])
	hh_summary="$hh_summary
  m4_format([%-11s], [$2]) $hh_found"
])

# HH_DEMANGLER: have_IBERTY, DEMANGLE_LIBS and a line for the summary.  What
# knows Rust's names too is taken; else libstdc++ is looked for at run time.
AC_DEFUN([HH_DEMANGLER], [
	AC_CACHE_CHECK([for cplus_demangle in -liberty], [hh_cv_iberty], [
		hh_libs=$LIBS
		LIBS="-liberty $LIBS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM(
			[[#include <libiberty/demangle.h>]],
			[[return !cplus_demangle("_Z1fv", DMGL_AUTO);]])],
			[hh_cv_iberty=yes], [hh_cv_iberty=no])
		LIBS=$hh_libs
	])
	have_IBERTY=$hh_cv_iberty
	AS_IF([test "$have_IBERTY" = yes],
		[DEMANGLE_LIBS=-liberty hh_found=yes],
		[DEMANGLE_LIBS=$HOOK_LIBS
		hh_found="no: C++ names by libstdc++, no newer Rust names"])
	AC_SUBST([DEMANGLE_LIBS])
	AC_SUBST([have_IBERTY])
	hh_summary="$hh_summary
  libiberty   $hh_found"
])
