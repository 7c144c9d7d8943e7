/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_OPTIONS = 64,
	HELP_COLUMN = 26,
};

static const struct cli_tool *tool;

void
cli_start(const struct cli_tool *t)
{
	tool = t;
}

/* A file name may hold anything; a message stays one line, with what to do
 * at its end. */
static void
say(const char *format, va_list args, const char *hint)
{
	char line[PATH_MAX + 512];

	vsnprintf(line, sizeof line, format, args);
	for (char *c = line; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	fprintf(stderr, "%s: %s%s\n", tool->name, line, hint);
}

void
warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
}

void
die(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, "");
	va_end(args);
	exit(status);
}

void
cli_misuse(const char *format, ...)
{
	va_list args;
	char hint[64];

	snprintf(hint, sizeof hint, "; see '%s --help'", tool->name);
	va_start(args, format);
	say(format, args, hint);
	va_end(args);
	exit(tool->usage_status);
}

void
cli_finish_stdout(int status)
{
	bool failed = ferror(stdout);

	if (fclose(stdout) || failed)
		die(status, "standard output: %s", strerror(errno));
}

static bool
has_letter(const struct cli_option *o)
{
	return o->key < CLI_LONG;
}

static bool
may_omit(const struct cli_option *o)
{
	return o->argument && o->argument[0] == '[';
}

/* "-o, --output=NAME", "--print-env[=FORM]"; returns its width. */
static int
print_option(const struct cli_option *o)
{
	int width = 0;

	if (has_letter(o))
		width += printf("-%c, ", o->key);
	width += printf("--%s", o->name);
	if (may_omit(o))
		width += printf("[=%s", o->argument + 1);
	else if (o->argument)
		width += printf("=%s", o->argument);
	return width;
}

static void
print_column(const char *help)
{
	for (; *help; help++) {
		putchar(*help);
		if (*help == '\n')
			printf("%*s", HELP_COLUMN, "");
	}
	putchar('\n');
}

static _Noreturn void
print_help(void)
{
	int column = 0;

	printf("Usage: %s [OPTION]... %s\n%s\n", tool->name, tool->operands,
	    tool->purpose);
	for (const struct cli_option *o = tool->options; o->name; o++) {
		if (o->group)
			printf("%s:\n", o->group);
		if (!column)
			column = printf(has_letter(o) ? "  " : "      ");
		column += print_option(o);
		if (!o->help) {
			column += printf(" ");
			continue;
		}
		printf("%*s", column + 2 > HELP_COLUMN ? 2
		    : HELP_COLUMN - column, "");
		print_column(o->help);
		column = 0;
	}
	printf("See %s(1).\n", tool->name);
	cli_finish_stdout(tool->usage_status);
	exit(0);
}

static _Noreturn void
print_version(void)
{
	printf("%s (heaphook) %s\n", tool->name, PACKAGE_VERSION);
	cli_finish_stdout(tool->usage_status);
	exit(0);
}

/* The tables that getopt_long wants, from ours. */
struct getopt_tables {
	struct option longs[MAX_OPTIONS + 1];
	char shorts[3 * MAX_OPTIONS + 3];
};

static const struct getopt_tables *
getopt_tables(void)
{
	static struct getopt_tables t;
	struct option *to = t.longs;
	char *letters = t.shorts;

	if (t.longs[0].name)
		return &t;
	if (tool->stops)
		*letters++ = '+';
	*letters++ = ':';
	for (const struct cli_option *o = tool->options;
	    o->name && to < t.longs + MAX_OPTIONS; o++) {
		int colons = may_omit(o) ? optional_argument
		    : o->argument ? required_argument : no_argument;

		*to++ = (struct option){ o->name, colons, NULL, o->key };
		if (!has_letter(o))
			continue;
		*letters++ = (char)o->key;
		while (colons--)
			*letters++ = ':';
	}
	return &t;
}

/* getopt tells an unknown letter by optopt, an unknown word by its place. */
static _Noreturn void
refuse(char **argv, int missing)
{
	const char *word = argv[optind - 1];

	if (missing)
		cli_misuse("%s: needs an argument", word);
	if (strncmp(word, "--", 2) && optopt)
		cli_misuse("-%c: no such option", optopt);
	if (optopt)
		cli_misuse("%s: takes no argument", word);
	cli_misuse("%s: no such option, or short for several", word);
}

int
cli_next(int argc, char **argv)
{
	const struct getopt_tables *t = getopt_tables();
	int key;

	opterr = 0;
	key = getopt_long(argc, argv, t->shorts, t->longs, NULL);
	switch (key) {
	case 'h':
		print_help();
	case 'V':
		print_version();
	case '?':
	case ':':
		refuse(argv, key == ':');
	default:
		return key;
	}
}

/* Leading digits of *TEXT, which moves past them.  False: none, too many. */
static bool
digits(const char **text, uint64_t *number)
{
	const char *at = *text;

	*number = 0;
	for (; isdigit((unsigned char)*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	if (at == *text)
		return false;
	*text = at;
	return true;
}

bool
cli_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	int shift;

	if (!digits(&text, bytes))
		return false;
	if (!*text)
		return true;
	unit = strchr(units, toupper((unsigned char)*text));
	if (!unit || text[1])
		return false;
	shift = 10 * (int)(unit - units + 1);
	if (*bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* ".5" as billionths; what is finer is dropped. */
static bool
fraction(const char **text, uint64_t *billionths)
{
	uint64_t step = 100000000;

	*billionths = 0;
	if (**text != '.')
		return true;
	if (!isdigit((unsigned char)*++*text))
		return false;
	for (; isdigit((unsigned char)**text); ++*text) {
		*billionths += step * (uint64_t)(**text - '0');
		step /= 10;
	}
	return true;
}

bool
cli_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 },
		{ "us", 1000 }, { "m", 60000000000 }, { "h", 3600000000000 },
	};
	uint64_t whole, billionths, part;

	if (!digits(&text, &whole) || !fraction(&text, &billionths))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strcmp(text, units[i].name))
			continue;
		part = billionths * (units[i].ns / 1000) / 1000000;
		if (whole > (UINT64_MAX - part) / units[i].ns)
			return false;
		*ns = whole * units[i].ns + part;
		return true;
	}
	return false;
}

struct cli_text
cli_bytes(uint64_t bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	struct cli_text t;
	double v = (double)bytes;
	size_t unit = 0;

	/* Not 1024: what rounds to it is written as 1.00 of the next. */
	for (; v >= 1023.5; v /= 1024)
		unit++;
	snprintf(t.text, sizeof t.text, "%.*f %s",
	    !unit || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, units[unit]);
	return t;
}

struct cli_text
cli_count(uint64_t number)
{
	struct cli_text t;
	char plain[24];
	int length = snprintf(plain, sizeof plain, "%" PRIu64, number);
	char *to = t.text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = plain[i];
	}
	*to = '\0';
	return t;
}

const char *
cli_plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}
