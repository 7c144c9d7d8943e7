/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "room.h"

struct signature {
	const char *own;	/* where the name begins */
	const char *bare;	/* behind it, before a template's arguments */
	const char *parameters;	/* where they begin, or the text ends */
	const char *end;	/* behind them */
};

static bool
begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool
is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* `<<` of `operator<<`.  A template's arguments may follow at once. */
static size_t
sign_length(const char *c)
{
	size_t n = strspn(c, "+-*/%^&|~!=<>,");

	if (begins(c, "()") || begins(c, "[]"))
		return 2;
	while (n > 1 && c[n - 1] == '<' && !(n == 2 && *c == '<'))
		n--;
	return n;
}

/* What begins at C and is no bracket, though it may look like one; else 0. */
static size_t
word_length(const char *from, const char *c)
{
	static const char anonymous[] = "(anonymous namespace)";

	if (begins(c, anonymous))
		return sizeof anonymous - 1;
	if (begins(c, "->"))
		return 2;
	if (begins(c, "operator") && !is_of_word(c[8])
	    && (c == from || !is_of_word(c[-1])))
		return 8 + sign_length(c + 8);
	return 0;
}

/* Behind the bracket that closes the one at C.  `>` may be a comparison. */
static const char *
behind_group(const char *c)
{
	const char *from = c;
	uint64_t angles = 0;		/* which of the open ones; inmost 1 */
	unsigned deep = 0;

	do {
		size_t n = word_length(from, c);

		if (n) {
			c += n;
			continue;
		}
		if (strchr("({[", *c)
		    || (*c == '<' && (!deep || c[-1] != ')'))) {
			angles = angles << 1 | (*c == '<');
			deep++;
		} else if (strchr(")}]", *c) || (*c == '>' && angles & 1)) {
			angles >>= 1;
			deep--;
		}
		c++;
	} while (deep && *c);
	return c;
}

static bool
is_behind(const char *from, const char *c, const char *word)
{
	size_t n = strlen(word);

	if (c > from && c[-1] == ' ')
		c--;
	return (size_t)(c - from) >= n && !strncmp(c - n, word, n);
}

/* Of Rust's `f::<T>` it is `::` too. */
static const char *
tail(const char *from, const char *c)
{
	return is_behind(from, c, "::") ? c - 2 : c;
}

static struct signature
read(const char *function)
{
	struct signature s = { .own = function };
	bool is_type = false;		/* `operator long*` */
	const char *c = function;

	while (*c) {
		size_t n = word_length(function, c);

		if (n) {
			is_type = is_type || begins(c, "operator ");
			c += n + (is_type && c[n] == ' ');
			/* `operator< <int>` */
			s.bare = begins(c, " <") ? c++ : NULL;
		} else if (c == s.own && (begins(c, "(*")
		    || begins(c, "(&"))) {
			s.own = c += 2;	/* `int (*f<int>(int))(char)` */
		} else if (*c == '(' && !is_behind(function, c, "decltype")) {
			break;
		} else if (*c == '<' || begins(c, "[abi:")) {
			if (!s.bare && c > s.own)
				s.bare = tail(s.own, c);
			c = behind_group(c);
		} else {
			s.bare = NULL;
			if (*c == ' ' && !is_type)
				s.own = c + 1;
			c = strchr("({[", *c) ? behind_group(c) : c + 1;
		}
	}
	s.parameters = c;
	s.end = *c ? behind_group(c) : c;
	if (!s.bare)
		s.bare = c;
	return s;
}

const char *
signature_own(const char *function)
{
	return read(function).own;
}

static size_t
number_length(const char *c)
{
	return *c == '#' ? 1 + strspn(c + 1, "0123456789") : 0;
}

/* Whether what is from C to END is NAME; only one may have a number. */
static bool
is_text(const char *c, const char *end, const char *name)
{
	while (c < end) {
		if (*c == *name)
			c++, name++;
		else if (*c == '#')
			c += number_length(c);
		else if (*name == '#')
			name += number_length(name);
		else
			return false;
	}
	return c == end && !*name;
}

bool
signature_is(const char *function, const char *name)
{
	const struct signature s = read(function);
	const char *const ends[] = {
		s.bare, s.parameters, s.end, s.end + strlen(s.end),
	};

	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (is_text(function, ends[i], name)
		    || is_text(s.own, ends[i], name))
			return true;
	return false;
}

char *
signature_loose(const char *function)
{
	const struct signature s = read(function);
	char *loose = room_text(s.own, (size_t)(s.parameters - s.own));
	char *to = loose;

	for (const char *c = loose; *c; ) {
		c += number_length(c);
		if (*c)
			*to++ = *c++;
	}
	*to = '\0';
	return loose;
}
