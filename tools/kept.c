/* SPDX-License-Identifier: Apache-2.0 */
/* By the names of functions, exported ones where that suffices: of others a
 * stripped library says nothing. */
#include "kept.h"

#include <string.h>

#include "names.h"
#include "pattern.h"

/* The name without what marks libc's own uses and variants of a function:
 * __GI__IO_puts is puts. */
static const char *
bare(const char *name)
{
	static const char *const marks[] = { "__GI_", "_IO_" };

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (!strncmp(name, marks[i], strlen(marks[i])))
			name += strlen(marks[i]);
	return name + strspn(name, "_");
}

static bool
is_any(const char *name, const char *const *patterns)
{
	while (*patterns && !pattern_matches(*patterns, name))
		patterns++;
	return *patterns;
}

static bool
is_named(const struct profile_frame *f, const char *const *patterns)
{
	return f->function && is_any(bare(f->function), patterns);
}

/* Those that know no other streams than the standard ones; and libstdc++,
 * whose own files have no FILE's buffer. */
static bool
is_standard_stream(const struct profile_frame *f)
{
	static const char *const functions[] = {
		"^printf$", "^printf_chk$", "^vprintf$", "^vprintf_chk$",
		"^wprintf$", "^wprintf_chk$", "^vwprintf$", "^vwprintf_chk$",
		"^puts$", "^putchar$", "^putchar_unlocked$", "^putwchar$",
		"^putwchar_unlocked$", "^perror$", "^psignal$", "^scanf$",
		"^isoc99_scanf$", "^vscanf$", "^isoc99_vscanf$", "^gets$",
		"^getchar$", "^getchar_unlocked$", "^getwchar$", NULL
	};

	return is_named(f, functions)
	    || pattern_matches("^libstdc++.so",
	        names_last(f->call->object->path));
}

/* What the C and C++ libraries keep to the end, whoever calls them.  Whose
 * result is the caller's is not here: getaddrinfo and newlocale are seen by
 * what they do within. */
static bool
is_kept(const struct profile_frame *f)
{
	static const char *const keepers[] = {
		/* what to call at the end, at a fork, for a directive */
		"^cxa_atexit$", "^atexit$", "^on_exit$", "^new_exitfn$",
		"^cxa_at_quick_exit$", "^cxa_thread_atexit",
		"^register_atfork$", "^register_printf_", "^addseverity$",
		/* locales, their names and conversions, messages */
		"^setlocale$", "^nl_make_l10nflist$", "^nl_expand_alias$",
		"^nl_load_locale_from_archive$", "^bindtextdomain$",
		"^set_binding_values$", "^textdomain$", "^dcgettext$",
		"^dcigettext$", "^dcngettext$", "^wcsmbs_",
		"^gconv_find_shlib$",
		"^gconv_load_cache$", "^gconv_read_conf$",
		"^gconv_load_conf$", "^find_derivation$", "^rpmatch$",
		"^std::locale::", "std::num_put<", "std::num_get<",
		"^std::*punct_cache<", "^std::ios_base::sync_with_stdio",
		"^std::chrono::*tzdb",
		/* time zones, the environment */
		"^tzset$", "^tzset_internal$", "^tz_convert$", "^localtime",
		"^mktime$", "^setenv$", "^putenv$", "^add_to_environ$",
		/* texts and entries that the next call overwrites */
		"^dlerror", "^strerror", "^strsignal$", "^getpw", "^sgetpw",
		"^getgr", "^getsp", "^sgetsp", "^getsg", "^sgetsg",
		"^gethost", "^getnet", "^setnetgrent$", "^getserv",
		"^getproto", "^getrpc", "^getalias", "^getfs", "^setfsent$",
		"^fstab_init$", "^gettty", "^setttyent$", "^getusershell$",
		"^setusershell$", "^initshells$", "^ttyname$", "^getut",
		"^setut", "^putut", "^getpass$", "^re_comp$", "^re_exec$",
		/* name services and the resolver */
		"^nss_", "^resolv_c", "^res_init$", "^res_query$",
		"^res_search$", "^res_send$", "^check_pf$",
		/* of threads */
		"^pthread_setspecific$", "^aio_", "^lio_listio",
		"^gai_enqueue_request$", "^getaddrinfo_a$", NULL
	};

	return is_named(f, keepers);
}

/* These keep a line, too, but its stream is the caller's. */
static bool
is_kept_line(const struct profile_frame *f)
{
	static const char *const keepers[] = {
		"^fgetpw", "^fgetgr", "^fgetsp", "^fgetsg", "^getmntent$", NULL
	};

	return is_named(f, keepers);
}

static bool
is_buffer(const struct profile_frame *f)
{
	static const char *const makers[] = {
		"^file_doallocate$", "^doallocbuf$", "^wdoallocbuf$", NULL
	};

	return is_named(f, makers);
}

static bool
is_open(const struct profile_frame *f)
{
	static const char *const openers[] = {
		"^fopen", "^new_fopen", "^fdopen$", "^new_fdopen$", "^popen$",
		"^new_popen$", "^tmpfile", "^new_tmpfile", "^fmemopen",
		"^open_memstream$", "^open_wmemstream$", NULL
	};

	return is_named(f, openers);
}

/* Not of musl, whose loader is its C library. */
static bool
is_loader(const struct profile_frame *f)
{
	const char *file = names_last(f->call->object->path);

	return pattern_matches("^ld-*.so", file)
	    && !pattern_matches("^ld-musl", file);
}

/* Is F in the loader, the C or the C++ library?  Parts of the C library are
 * loaded when they are needed, or were files of their own. */
static bool
is_inside(const struct profile_frame *f)
{
	static const char *const parts[] = {
		"^libnss_", "^libresolv", "^libanl", "^libdl.so", "^libdl-",
		"^librt.so", "^librt-", NULL
	};
	const struct profile_object *o = f->call->object;

	return o && o->path && (names_is_plumbing(NULL, o)
	    || is_any(names_last(o->path), parts));
}

/* What the loader allocates for itself; what the C and C++ libraries do
 * when it starts them, and what they keep.  But they and it call others,
 * too: whose a block is is seen before the first frame of those. */
bool
kept_is(const struct profile_site *site, bool no_files)
{
	bool buffer = false;

	for (unsigned i = 0; i < site->depth && is_inside(site->stack[i]);
	    i++) {
		const struct profile_frame *f = site->stack[i];

		buffer |= is_buffer(f);
		if (is_loader(f) || is_kept(f)
		    || (!buffer && is_kept_line(f))
		    || (buffer && (no_files || is_standard_stream(f))))
			return true;
	}
	return false;
}

static bool
is_file(const struct profile_site *site)
{
	for (unsigned i = 0; i < site->depth && is_inside(site->stack[i]);
	    i++)
		if (is_open(site->stack[i]))
			return true;
	return false;
}

/* A stream that was opened has a block of its own until it is closed.  What
 * is of an unknown stack may be one. */
bool
kept_has_no_files(const struct profile *p)
{
	if (p->paused || p->sample_bytes.known)
		return false;
	for (size_t i = 0; i < p->site_count; i++) {
		const struct profile_site *site = p->sites + i;

		if (site->live_blocks && (!site->depth
		    || (is_file(site) && !kept_is(site, false))))
			return false;
	}
	return true;
}
