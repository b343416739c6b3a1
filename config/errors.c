/* config/errors.c - the list of what is wrong with a file. */
#include <stdarg.h>
#include <string.h>

#include "obj.h"
#include "private.h"
#include "utf8.h"

static size_t slot_for(struct config_errors *errs, int line);

void
config_errors_print(const struct config_errors *errs, FILE *out)
{
	for (size_t i = 0; i < errs->count; i++) {
		const struct config_error *e = &errs->list[i];

		if (e->line > 0)
			fprintf(out, "%s:%d: %s\n", errs->file, e->line, e->text);
		else
			fprintf(out, "%s: %s\n", errs->file, e->text);
	}
	if (errs->more)
		fprintf(out, "%s: more errors follow; these are the first %d\n", errs->file,
		    CONFIG_ERRORS_MAX);
}

void
errors_clear(struct config_errors *errs, const char *file)
{
	*errs = (struct config_errors){ .count = 0 };
	snprintf(errs->file, sizeof(errs->file), "%s", file);
}

void
errors_add(struct config_errors *errs, int line, const char *fmt, ...)
{
	const size_t at = slot_for(errs, line);
	va_list ap;

	if (at == CONFIG_ERRORS_MAX)
		return;
	struct config_error *e = &errs->list[at];
	e->line = line;
	va_start(ap, fmt);
	const int len = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(e->text))
		memcpy(e->text + sizeof(e->text) - 4, "...", 4);
}

struct quoted
errors_quote(const char *text, size_t len)
{
	struct quoted q = { .text = "\"" };
	const size_t room = sizeof(q.text) - sizeof("...\"");
	size_t used = 1;

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length(text + i, len - i);
		const bool odd = n == 0 || value_control(utf8_code(text + i, n));
		if (n == 0)
			n = 1;
		const size_t width = odd ? 1 : n;
		if (used + width > room) {
			memcpy(q.text + used, "...", 3);
			used += 3;
			break;
		}
		memcpy(q.text + used, odd ? "?" : text + i, width);
		used += width;
	}
	memcpy(q.text + used, "\"", 2);
	return q;
}

/* Makes room after the errors of the same line; CONFIG_ERRORS_MAX when there is none left. */
static size_t
slot_for(struct config_errors *errs, int line)
{
	size_t at = errs->count;

	while (at > 0 && errs->list[at - 1].line > line)
		at--;
	errs->more = errs->more || errs->count == CONFIG_ERRORS_MAX;
	if (at == CONFIG_ERRORS_MAX)
		return at;
	if (errs->count < CONFIG_ERRORS_MAX)
		errs->count++;
	memmove(&errs->list[at + 1], &errs->list[at],
	    (errs->count - 1 - at) * sizeof(errs->list[0]));
	return at;
}
