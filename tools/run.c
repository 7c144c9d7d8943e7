/* SPDX-License-Identifier: Apache-2.0 */
/* heaphook-run: finds the libraries, sets their variables, looks at the
 * program and becomes it. */
#include "child.h"
#include "cli.h"
#include "env.h"
#include "logs.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Our own failures, as env(1) and timeout(1) have them. */
enum { SETUP = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

enum { MMAP = CLI_LONG, LATENCY, SAMPLE, ON_EXHAUST, LOCK_MEMORY, HUGE_PAGES };

static const struct cli_option options[] = {
	{ "track", 't', NULL, "record PROGRAM's heap (the default)",
	    "What to do" },
	{ "tlsf", 'p', NULL, "run it on a TLSF heap; with -t, record over it",
	    NULL },
	{ "report", 'r', NULL, "when it has ended, report on stderr", NULL },
	{ "print-env", 'n', "[FORM]", "print variables: " ENV_FORMS,
	    NULL },
	{ "output", 'o', "NAME", "log name: %p pid, %e program, %r rank, ...",
	    "What to record" },
	{ "summary", 's', NULL, "counters and timeline, no events", NULL },
	{ "stacks", 'k', "[DEPTH]", "the calls that led there, 32 or DEPTH",
	    NULL },
	{ "sample", SAMPLE, "SIZE", "few calls, one in SIZE bytes", NULL },
	{ "limit", 'l', "SIZE", "most bytes of log, like 500M", NULL },
	{ "only", 'x', "GLOB", "only programs whose name matches", NULL },
	{ "mmap", MMAP, NULL, NULL, NULL },
	{ "latency", LATENCY, NULL, "mappings too; how long calls take", NULL },
	{ "initial", 'i', "SIZE", "the pool made at start, like 500M",
	    "The TLSF heap" },
	{ "additional", 'a', "SIZE", "first step of growth, 0: never grow",
	    NULL },
	{ "on-exhaust", ON_EXHAUST, "WHAT", "grow|enomem|abort", NULL },
	{ "lock-memory", LOCK_MEMORY, NULL, "keep the pool in memory", NULL },
	{ "huge-pages", HUGE_PAGES, "WHEN", "try|require|off", NULL },
	CLI_COMMON
};

static const struct cli_tool tool = {
	"heaphook-run", "[--] PROGRAM [ARGUMENT]...",
	"Run PROGRAM and record its heap, or give it one of bounded time.",
	SETUP, true, options
};

static bool
is_size(const char *argument)
{
	uint64_t bytes;

	return cli_size(argument, &bytes);
}

/* What no log can be smaller than, and no file larger. */
static bool
is_limit(const char *argument)
{
	uint64_t bytes;

	return cli_size(argument, &bytes) && bytes >= 64 * 1024
	    && bytes <= INT64_MAX;
}

static bool
is_depth(const char *argument)
{
	uint64_t depth;

	return cli_size(argument, &depth) && depth >= 1 && depth <= 128;
}

/* As the recorder has it. */
static bool
is_mean(const char *argument)
{
	uint64_t bytes;

	return cli_size(argument, &bytes) && bytes >= 1
	    && bytes <= UINT64_C(1) << 40;
}

static bool
is_text(const char *argument)
{
	return *argument;
}

static bool
is_what(const char *argument)
{
	return !strcmp(argument, "grow") || !strcmp(argument, "enomem")
	    || !strcmp(argument, "abort");
}

static bool
is_when(const char *argument)
{
	return !strcmp(argument, "try") || !strcmp(argument, "require")
	    || !strcmp(argument, "off");
}

/* The variable an option sets: to its argument, which IS what was EXPECTED,
 * or without one to VALUE.  LIBRARY is the option for whose library alone it
 * is. */
static const struct variable {
	int key, library;
	const char *name, *value;
	bool (*is)(const char *argument);
	const char *expected;
} variables[] = {
	{ 'o', 0, "HEAPHOOK_OUTPUT", NULL, is_text, "a name" },
	{ 's', 't', "HEAPHOOK_RECORD", "summary", NULL, NULL },
	{ 'k', 't', "HEAPHOOK_STACKS", "32", is_depth,
	    "1 to 128 calls" },
	{ SAMPLE, 't', "HEAPHOOK_SAMPLE", NULL, is_mean,
	    "a size like 512K" },
	{ 'l', 't', "HEAPHOOK_LIMIT", NULL, is_limit,
	    "a size like 500M, at least 64K" },
	{ 'x', 0, "HEAPHOOK_ONLY", NULL, is_text, "a pattern" },
	{ MMAP, 't', "HEAPHOOK_MMAP", "1", NULL, NULL },
	{ LATENCY, 't', "HEAPHOOK_LATENCY", "1", NULL, NULL },
	{ 'i', 'p', "INITIAL_MEMPOOL_SIZE", NULL, is_size,
	    "a size like 500M" },
	{ 'a', 'p', "ADDITIONAL_MEMPOOL_SIZE", NULL, is_size,
	    "a size like 500M" },
	{ ON_EXHAUST, 'p', "HEAPHOOK_ON_EXHAUST", NULL, is_what,
	    "grow, enomem or abort" },
	{ LOCK_MEMORY, 'p', "HEAPHOOK_LOCK_MEMORY", "1", NULL, NULL },
	{ HUGE_PAGES, 'p', "HEAPHOOK_HUGEPAGES", NULL, is_when,
	    "try, require or off" },
};

struct request {
	const char *preload;	/* LD_PRELOAD as it was */
	bool track, tlsf;
	bool report, named;
	const struct env_form *print;	/* NULL: run */
};

static void
set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1))
		die(SETUP, "%s: %s", variable, strerror(errno));
}

static const struct variable *
variable_of(int key)
{
	const size_t count = sizeof variables / sizeof variables[0];

	for (size_t i = 0; i < count; i++)
		if (variables[i].key == key)
			return &variables[i];
	return NULL;
}

static const char *
long_name(int key)
{
	const struct cli_option *o = options;

	while (o->key != key)
		o++;
	return o->name;
}

static void
set_variable(const struct variable *v)
{
	if (optarg && !v->is(optarg))
		cli_misuse("--%s=%s: expected %s", long_name(v->key), optarg,
		    v->expected);
	set(v->name, optarg ? optarg : v->value);
}

/* Every option is for one of the libraries that are loaded. */
static void
check_library(const struct request *r, int key)
{
	const struct variable *v = variable_of(key);

	if (v && v->library == 't' && !r->track)
		cli_misuse("--%s: with --tlsf it needs --track too",
		    long_name(key));
	if (v && v->library == 'p' && !r->tlsf)
		cli_misuse("--%s: needs --tlsf", long_name(key));
}

static struct request
read_options(int argc, char **argv)
{
	struct request r = { .print = NULL };
	bool given[HUGE_PAGES + 1] = { false };
	int key;

	while ((key = cli_next(argc, argv)) != -1) {
		const struct variable *v = variable_of(key);

		given[key] = true;
		if (v)
			set_variable(v);
		if (key == 'n' && !(r.print = env_form(optarg)))
			cli_misuse("--print-env=%s: expected one of %s",
			    optarg, ENV_FORMS);
	}
	r.tlsf = given['p'];
	r.track = given['t'] || !r.tlsf;
	/* It goes to stderr, and nowhere if that is closed. */
	r.report = given['r'] && fcntl(STDERR_FILENO, F_GETFD) >= 0;
	r.named = given['o'];
	if (given['k'] && given['s'])
		cli_misuse("--stacks: a summary has none");
	if (given[SAMPLE] && given['s'])
		cli_misuse("--sample: a summary has none");
	for (key = 0; key <= HUGE_PAGES; key++)
		if (given[key])
			check_library(&r, key);
	return r;
}

/* FILE where our own executable stands, with REACH in between.  False: it is
 * not there. */
static bool
beside_us(const char *reach, const char *file, char path[PATH_MAX])
{
	char us[PATH_MAX], there[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", us, sizeof us - 1);

	if (n <= 0)
		return false;
	us[n] = '\0';
	*strrchr(us, '/') = '\0';
	snprintf(there, sizeof there, "%s/%s%s", us, reach, file);
	return !access(there, R_OK) && realpath(there, path);
}

/* From BINDIR to LIBDIR, "../lib/": right also where the package was moved
 * as a whole, by DESTDIR for one. */
static void
installed_reach(char reach[PATH_MAX])
{
	static const char bin[] = BINDIR, lib[] = LIBDIR;
	size_t same = 0, used = 0;

	for (size_t i = 0; bin[i] == lib[i] && bin[i]; i++)
		if (bin[i] == '/')
			same = i + 1;
	reach[0] = '\0';
	for (const char *b = bin + same; b && used + 4 < PATH_MAX;
	    b = strchr(b, '/') ? strchr(b, '/') + 1 : NULL)
		used += (size_t)snprintf(reach + used, PATH_MAX - used, "../");
	snprintf(reach + used, PATH_MAX - used, "%s/", lib + same);
}

static void
find_library(const char *file, char path[PATH_MAX])
{
	char reach[PATH_MAX];

	installed_reach(reach);
	if (beside_us("../lib/.libs/", file, path)
	    || beside_us(reach, file, path))
		return;
	snprintf(path, PATH_MAX, "%s/%s", LIBDIR, file);
	if (access(path, R_OK))
		die(SETUP, "%s: %s", path, strerror(errno));
}

/* FILE, before what is in LD_PRELOAD. */
static void
preload(const char *file)
{
	const char *behind = getenv("LD_PRELOAD");
	char path[PATH_MAX], *both;

	find_library(file, path);
	/* The loader splits its list at these, and expands a dollar. */
	if (strpbrk(path, " :$"))
		die(SETUP, "%s: the loader takes no name with a space, colon "
		    "or dollar: install heaphook elsewhere", path);
	if (!behind || !*behind) {
		set("LD_PRELOAD", path);
		return;
	}
	if (asprintf(&both, "%s:%s", path, behind) < 0)
		die(SETUP, "LD_PRELOAD: %s", strerror(errno));
	set("LD_PRELOAD", both);
	free(both);
}

/* The recorder first: then it records what all others' malloc is asked, the
 * TLSF heap's too. */
static void
preload_all(struct request *r)
{
	const char *theirs = getenv("LD_PRELOAD");

	r->preload = theirs ? strdup(theirs) : NULL;
	if (r->tlsf)
		preload("libheaphook-tlsf.so");
	if (r->track)
		preload("libheaphook-track.so");
}

/* PATH is what to execute for NAME.  What we cannot reach is still run as a
 * launcher of what --only names. */
static void
look(const char *name, const struct request *r, char path[PATH_MAX])
{
	const char *refused = !r->tlsf ? "nothing would be recorded"
	    : !r->track ? "the TLSF heap would not be used"
	    : "nothing would be recorded, nor the TLSF heap used";
	const char *only = getenv("HEAPHOOK_ONLY");
	char why[TARGET_WHY];
	int error = target_find(name, path);

	if (error)
		die(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, "%s: %s",
		    name, strerror(error));
	switch (target_fate(path, why)) {
	case TARGET_RECORDED:
		return;
	case TARGET_FAILS:
		die(NOT_EXECUTABLE, "%s: it %s", name, why);
	case TARGET_UNSEEN:
		if (!only || !*only)
			die(SETUP, "%s: %s: it %s", name, refused, why);
		warn("%s: not %s itself: it %s", name, r->track ? "recorded"
		    : "on the TLSF heap", why);
	}
}

/* Where the user stands, not wherever the log's name is used later. */
static void
print_variables(const struct request *r)
{
	const char *name = getenv("HEAPHOOK_OUTPUT"), *refused;
	char path[PATH_MAX];

	if (r->named) {
		refused = logs_settle(name, path);
		if (refused)
			die(SETUP, "%s: no log can be made there: %s", name,
			    refused);
		set("HEAPHOOK_OUTPUT", path);
	}
	refused = env_print(r->print);
	if (refused)
		die(SETUP, "%s: cannot be written in this form", refused);
	cli_finish_stdout(SETUP);
}

/* PATH is where the logs go, the words still in it. */
static void
settle_output(const struct request *r, char path[PATH_MAX])
{
	const char *name = getenv("HEAPHOOK_OUTPUT");
	const char *only = getenv("HEAPHOOK_ONLY");
	const char *unsettled;
	char folder[PATH_MAX];
	bool together;
	int error;

	if ((!name || !*name) && !r->track && !r->report)
		return;
	if (!name || !*name)
		name = "heaplog.%p.log";
	unsettled = logs_settle(name, path);
	/* Else each process has its log where it starts, or others have
	 * none, and the library says what it cannot do. */
	together = (r->named || r->report || *name == '/')
	    && !(only && *only);
	if (together && unsettled)
		die(SETUP, "%s: no log can be made there: %s", name,
		    unsettled);
	error = together ? logs_refused(path, folder) : 0;
	if (error)
		die(SETUP, "%s: no log can be made there: %s", folder,
		    strerror(error));
	if ((r->named || r->report) && !unsettled)
		set("HEAPHOOK_OUTPUT", path);
}

static _Noreturn void
become(const char *path, char **argv)
{
	execvp(path, argv);
	die(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, "%s: %s", argv[0],
	    strerror(errno));
}

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* stdout is the program's, and the preload was for it. */
static _Noreturn void
become_report(const char *path, char **argv, const struct request *r)
{
	dup2(2, 1);
	if (r->preload)
		set("LD_PRELOAD", r->preload);
	else
		unsetenv("LD_PRELOAD");
	become(path, argv);
}

static void
report(char **paths, const struct request *r)
{
	char tool_path[PATH_MAX];
	size_t n = 0;
	char **argv;
	pid_t child;

	while (paths[n])
		n++;
	argv = calloc(n + 4, sizeof *argv);
	if (!argv || !beside_us("", "heaphook-report", tool_path)) {
		warn("heaphook-report: %s", strerror(errno));
		free(argv);
		return;
	}
	argv[0] = (char *)"heaphook-report";
	argv[1] = (char *)"-q";
	argv[2] = (char *)"--";
	memcpy(argv + 3, paths, n * sizeof *paths);
	child = fork();
	if (!child)
		become_report(tool_path, argv, r);
	if (child < 0)
		warn("heaphook-report: %s", strerror(errno));
	else
		waitpid(child, NULL, 0);
	free(argv);
}

static int
run_and_report(const char *path, char **argv, const char *output,
    const struct request *r)
{
	uint64_t start_ns = now_ns();
	pid_t child = child_fork();
	char **paths;
	int status;

	if (child < 0)
		die(SETUP, "%s: %s", argv[0], strerror(errno));
	if (!child)
		become(path, argv);
	status = child_wait(child);
	paths = logs_of(output, child, start_ns);
	if (paths && paths[0])
		report(paths, r);
	else
		warn("%s: it left no log", argv[0]);
	logs_free(paths);
	return status;
}

int
main(int argc, char **argv)
{
	char path[PATH_MAX], output[PATH_MAX];
	struct request r;

	cli_start(&tool);
	r = read_options(argc, argv);
	if (!r.print && optind == argc)
		cli_misuse("PROGRAM: missing");
	preload_all(&r);
	if (r.print) {
		print_variables(&r);
		return 0;
	}
	look(argv[optind], &r, path);
	settle_output(&r, output);
	if (r.report)
		return run_and_report(path, argv + optind, output, &r);
	become(path, argv + optind);
}
