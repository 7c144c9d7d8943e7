/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

static void
quote_sh(const char *value)
{
	putchar('\'');
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	putchar('\'');
}

/* XML's own, and launch's: a dollar would begin a substitution. */
static void
quote_xml(const char *value)
{
	putchar('"');
	for (; *value; value++)
		if (strchr("&<>\"", *value) || iscntrl((unsigned char)*value))
			printf("&#%d;", (unsigned char)*value);
		else
			printf("%s%c", strchr("$\\", *value) ? "\\" : "",
			    *value);
	putchar('"');
}

static void
quote_python(const char *value)
{
	putchar('\'');
	for (; *value; value++)
		if (iscntrl((unsigned char)*value))
			printf("\\x%02x", (unsigned char)*value);
		else
			printf("%s%c", strchr("'\\", *value) ? "\\" : "",
			    *value);
	putchar('\'');
}

/* Within quotes that began before the name; '%' is a specifier there. */
static void
quote_systemd(const char *value)
{
	for (; *value; value++)
		if (iscntrl((unsigned char)*value))
			printf("\\x%02x", (unsigned char)*value);
		else if (*value == '%')
			fputs("%%", stdout);
		else
			printf("%s%c", strchr("\"\\", *value) ? "\\" : "",
			    *value);
}

static void
quote_nothing(const char *value)
{
	fputs(value, stdout);
}

/* Before the first variable and after the last; around each name; and the
 * bytes that no value may have, since nobody knows how to quote them. */
static const struct env_form {
	const char *name;
	const char *begin, *before, *between, *after, *end;
	void (*quote)(const char *value);
	const char *refused;
} forms[] = {
	{ "sh", "", "export ", "=", "\n", "", quote_sh, "" },
	{ "ros-xml", "", "<env name=\"", "\" value=", "/>\n", "", quote_xml,
	    "" },
	{ "ros-python", "additional_env={\n", "    '", "': ", ",\n", "},\n",
	    quote_python, "" },
	{ "systemd", "", "Environment=\"", "=", "\"\n", "", quote_systemd,
	    "" },
	{ "sbatch", "#SBATCH --export=ALL", ",", "=", "", "\n",
	    quote_nothing, " \t\n,'\"\\#" },
};

const struct env_form *
env_form(const char *name)
{
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (!name || !strcmp(name, forms[i].name))
			return &forms[i];
	return NULL;
}

static bool
is_printed(const char *variable)
{
	static const char *const begins[] = { "HEAPHOOK_", "LD_PRELOAD=",
	    "INITIAL_MEMPOOL_SIZE=", "ADDITIONAL_MEMPOOL_SIZE=" };
	size_t name = strspn(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
		if (!strncmp(variable, begins[i], strlen(begins[i])))
			return variable[name] == '=';
	return false;
}

const char *
env_print(const struct env_form *f)
{
	for (char **v = environ; *v; v++)
		if (is_printed(*v) && strpbrk(*v, f->refused))
			return *v;
	fputs(f->begin, stdout);
	for (char **v = environ; *v; v++) {
		const char *value = strchr(*v, '=') + 1;

		if (!is_printed(*v))
			continue;
		printf("%s%.*s%s", f->before, (int)(value - *v) - 1, *v,
		    f->between);
		f->quote(value);
		fputs(f->after, stdout);
	}
	fputs(f->end, stdout);
	return NULL;
}
