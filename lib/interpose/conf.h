/* SPDX-License-Identifier: Apache-2.0 */
/* HEAPHOOK_* variables, read before any constructor may have run.  None of
 * these allocates; all are meant for start, on one thread. */
#ifndef HH_CONF_H
#define HH_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of NAME, or NULL when it is not set or empty. */
const char *hh_conf_get(const char *name);

/* [0-9]+[KMGT]?, in units of 1024, lower case too, and nothing else.  What is
 * beyond UINT64_MAX is that. */
bool hh_conf_size(const char *text, uint64_t *size);

/* Decimal digits and nothing else, up to INT32_MAX. */
bool hh_conf_number(const char *text, int32_t *number);

/* Shell patterns: * ? [a-z] [!a-z] and \ before a character. */
bool hh_conf_glob(const char *pattern, const char *text);

/* The arguments as libc has them, if it tells. */
void hh_conf_begin(char **argv);

/* Whether HEAPHOOK_ONLY lets us act in this process; decided once. */
bool hh_conf_wanted(void);

/* True in a process that runs with more rights than its caller has. */
bool hh_conf_secure(void);

/* The arguments of the process as NUL-terminated texts one after the other
 * to TEXT, BYTES at most with a NUL that ends all; how many bytes they are. */
size_t hh_conf_argv(char *text, size_t bytes);

/* The file that is run, as the kernel names it; "" when it does not say. */
const char *hh_conf_exe(void);

const char *hh_conf_base_name(const char *path);

#endif
