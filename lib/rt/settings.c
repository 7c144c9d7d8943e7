/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "../interpose/conf.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "../tlsf/tlsf.h"

enum { REFUSED = 125 };

static_assert(TLSF_MOST < UINT64_C(4032) << 30
    && TLSF_MOST > UINT64_C(4031) << 30, "as the message has it");

static const char DEFAULT_BYTES[] = "100000000";

/* The names of an enum's values, in order, up to NULL. */
static const char *const exhausts[] = { "grow", "enomem", "abort", NULL };
static const char *const huges[] = { "off", "try", "require", NULL };
static const char *const switches[] = { "0", "1", NULL };

_Noreturn void
rt_refuse(const char *name, const char *expected)
{
	const char *value = hh_conf_get(name);

	hh_say_bad(name, value ? value : DEFAULT_BYTES, expected);
	hh_sys_exit_group(REFUSED);
}

static uint64_t
read_size(const char *name, const char *fallback)
{
	const char *value = hh_conf_get(name);
	uint64_t bytes;

	if (!hh_conf_size(value ? value : fallback, &bytes))
		rt_refuse(name, "a size, as 500M");
	if (bytes > TLSF_MOST)
		rt_refuse(name, "less than 4032G");
	return bytes;
}

/* Which of WORDS it is; the first when it is not set. */
static int
read_word(const char *name, const char *const *words, const char *expected)
{
	const char *value = hh_conf_get(name);

	if (!value)
		return 0;
	for (int i = 0; words[i]; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	rt_refuse(name, expected);
}

void
rt_settings_read(struct rt_settings *s)
{
	s->initial = read_size("INITIAL_MEMPOOL_SIZE", DEFAULT_BYTES);
	s->additional = read_size("ADDITIONAL_MEMPOOL_SIZE", DEFAULT_BYTES);
	s->has_thread_cache = hh_conf_get("HEAPHOOK_THREAD_CACHE") != NULL;
	s->thread_cache = read_size("HEAPHOOK_THREAD_CACHE", "0");
	s->on_exhaust = (enum rt_exhaust)read_word("HEAPHOOK_ON_EXHAUST",
	    exhausts, "grow, enomem or abort");
	s->lock_memory = read_word("HEAPHOOK_LOCK_MEMORY", switches, "0 or 1");
	s->huge = (enum rt_huge)read_word("HEAPHOOK_HUGEPAGES", huges,
	    "off, try or require");
	s->summary = read_word("HEAPHOOK_SUMMARY", switches, "0 or 1");
}
