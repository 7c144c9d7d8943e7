/* SPDX-License-Identifier: Apache-2.0 */
/* "outermost;...;innermost value", a line for each site: for flame graphs. */
#include "render.h"

#include <inttypes.h>

#include "render_util.h"

static void
put_site(FILE *to, const struct profile_site *site, uint64_t value)
{
	char room[RENDER_NAME];

	if (!site->depth)
		fputs(render_name(NULL, room), to);
	for (unsigned i = site->depth; i-- > 0;) {
		render_line(to, render_name(site->stack[i], room), ';');
		fputs(i ? ";" : "", to);
	}
	fprintf(to, " %" PRIu64 "\n", value);
}

void
render_folded(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	const struct order *order = look->order ? look->order : orders;

	for (size_t i = 0; count && i < list->site_count; i++) {
		const struct profile_site *site = list->sites + i;
		uint64_t value = order_value(site, &order->by);

		if (value && !(look->leaks && site->suppressed))
			put_site(to, site, value);
	}
}
