/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line tool says and understands: options, messages, sizes
 * and times.  One table of options drives getopt_long and --help. */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <stdbool.h>
#include <stdint.h>

struct cli_option {
	const char *name;	/* without "--"; NULL ends the table */
	int key;		/* what cli_next returns; a letter is also the
				 * short option, others start at CLI_LONG */
	const char *argument;	/* "WORD", "[WORD]" if it may be left out, or
				 * NULL: takes none */
	const char *help;	/* NULL: shares the next option's line */
	const char *group;	/* the heading it stands first under, or NULL */
};

enum { CLI_LONG = 256 };

/* The two that every table ends with; cli_next answers them itself. */
#define CLI_COMMON \
	{ "help", 'h', 0, "print this", 0 }, \
	{ "version", 'V', 0, "print the version", 0 }, \
	{ 0, 0, 0, 0, 0 }

struct cli_tool {
	const char *name;	/* as messages begin */
	const char *operands;	/* "[--] PROGRAM [ARGUMENT]..." */
	const char *purpose;	/* one line */
	int usage_status;	/* what a wrong command line exits with */
	bool stops;		/* the first operand ends the options */
	const struct cli_option *options;
};

/* Every function below speaks for TOOL, which outlives them. */
void cli_start(const struct cli_tool *tool);

/* The key of the next option, -1 after the last; then `optind` is the first
 * operand.  `optarg` is the option's argument, NULL if it was left out. */
int cli_next(int argc, char **argv);

/* "tool: thing: reason" on stderr, always one line. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As die, with the tool's status for usage and where to find help. */
_Noreturn void cli_misuse(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Ends the tool when what it printed could not be stored: STATUS then. */
void cli_finish_stdout(int status);

/* [0-9]+[KMGT]? in bytes, times 1024 a step.  False: malformed, too big. */
bool cli_size(const char *text, uint64_t *bytes);

/* Seconds, fractions too, or with a unit: us ms s m h.  In nanoseconds. */
bool cli_time(const char *text, uint64_t *ns);

/* For people; a temporary that lasts for the whole call it is part of:
 * printf("%s", cli_bytes(n).text). */
struct cli_text {
	char text[32];
};

struct cli_text cli_bytes(uint64_t bytes);	/* 999 B, 1.25 MiB */
struct cli_text cli_count(uint64_t number);	/* 1,000,003 */
const char *cli_plural(uint64_t number);	/* "" or "s" */

#endif
