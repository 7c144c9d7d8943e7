/* SPDX-License-Identifier: Apache-2.0 */
#include "made.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/reader.h"

void
made_from(struct profile *p, const struct profile_part *part,
    const char *path)
{
	struct reader r;

	ck_assert_pstr_eq(reader_open(&r, path), NULL);
	profile_make(p, &r, part, NULL);
	reader_close(&r);
}

void
made_once(struct profile *p, const struct profile_part *part, char *path)
{
	made_from(p, part, path);
	unlink(path);
	free(path);
}
