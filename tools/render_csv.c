/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 4180: a row of names, then one for each log. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Quotes are doubled, what cannot be seen is U+FFFD. */
static void
put_inside(FILE *to, const char *text)
{
	while (*text) {
		unsigned bytes = render_seen(text);

		if (*text == '"')
			fputc('"', to);
		if (bytes || *text == '\n' || *text == '\t')
			fwrite(text, 1, bytes ? bytes : 1, to);
		else
			fputs("\xef\xbf\xbd", to);
		text += bytes ? bytes : 1;
	}
}

static void
put_texts(FILE *to, const struct profile_texts *t, const char *between)
{
	fputc('"', to);
	for (size_t i = 0; i < t->count; i++) {
		fputs(i ? between : "", to);
		put_inside(to, t->list[i]);
	}
	fputc('"', to);
}

static void
put_field(FILE *to, const struct profile *p, const struct render_field *f)
{
	const void *value = render_value(p, f);
	char *const *text = value;
	const struct profile_number *n = value;
	const double *s = value;

	switch (f->kind) {
	case RENDER_TEXT:
		if (*text)
			put_texts(to, &(struct profile_texts){
			    (char **)text, 1 }, "");
		break;
	case RENDER_TEXTS:
		put_texts(to, value, strcmp(f->name, "argv") ? "; " : " ");
		break;
	case RENDER_NUMBER:
		if (n->known)
			fprintf(to, "%" PRIu64, n->value);
		break;
	case RENDER_SECONDS:
		if (isfinite(*s))
			fprintf(to, "%.9f", *s);
		break;
	case RENDER_TRUTH:
		fputs(*(const bool *)value ? "true" : "false", to);
		break;
	}
}

/* A column is there when any log has the field. */
static bool
any_has(const struct profile *list, size_t count, const struct render_field *f)
{
	for (size_t i = 0; i < count; i++)
		if (render_has(list + i, f))
			return true;
	return f->when == RENDER_ALWAYS;
}

static void
put_row(FILE *to, const struct profile *list, size_t count,
    const struct profile *row)
{
	const char *comma = "";

	for (const struct render_field *f = render_fields; f->name; f++) {
		if (!any_has(list, count, f))
			continue;
		fputs(comma, to);
		comma = ",";
		if (!row)
			fputs(f->name, to);
		else if (render_has(row, f))
			put_field(to, row, f);
	}
	fputs("\r\n", to);
}

void
render_csv(FILE *to, const struct profile *list, size_t count,
    const struct render_look *look)
{
	(void)look;
	put_row(to, list, count, NULL);
	for (size_t i = 0; i < count; i++)
		put_row(to, list, count, list + i);
}
