/* SPDX-License-Identifier: Apache-2.0 */
/* What heaphook-run sets, as lines to paste where programs are started. */
#ifndef TOOLS_ENV_H
#define TOOLS_ENV_H

/* The names of the forms, with '|' in between; the first is the default. */
#define ENV_FORMS "sh|ros-xml|ros-python|systemd|sbatch"

struct env_form;

/* The form of that name, the default for NULL; NULL: there is none. */
const struct env_form *env_form(const char *name);

/* Prints LD_PRELOAD, the HEAPHOOK_ variables and the pool's sizes.  NULL,
 * or, with nothing printed, the one that cannot be written in that form. */
const char *env_print(const struct env_form *form);

#endif
