/* SPDX-License-Identifier: Apache-2.0 */
/* In place of render_paper.c where there is no cairo. */
#include "render.h"

const char *const render_paper_lacks =
    "cairo (libcairo2-dev, cairo-devel or cairo)";

void
render_pdf(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	(void)to;
	(void)list;
	(void)count;
	(void)look;
}

void
render_png(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	render_pdf(to, list, count, look);
}
