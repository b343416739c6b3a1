/*
 * sim/kube/semantics/sim_field_errors.c - field errors in the words of apimachinery, and the Status
 * that carries them.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_field_errors.h"
#include "sim_semantics.h"
#include "utf8.h"

static const struct {
	const char	*reason, *words;
	bool		 shows_value;
} kinds[FIELD_MAX] = {
	[FIELD_INVALID]		= { "FieldValueInvalid",	"Invalid value",	true },
	[FIELD_TYPE]		= { "FieldValueTypeInvalid",	"Invalid value",	true },
	[FIELD_UNSUPPORTED]	= { "FieldValueNotSupported",	"Unsupported value",	true },
	[FIELD_DUPLICATE]	= { "FieldValueDuplicate",	"Duplicate value",	true },
	[FIELD_TOO_MANY]		= { "FieldValueTooMany",	"Too many",		true },
	[FIELD_TOO_LONG]		= { "FieldValueTooLong",	"Too long",		false },
	[FIELD_REQUIRED]		= { "FieldValueRequired",	"Required value",	false },
	[FIELD_FORBIDDEN]	= { "FieldValueForbidden",	"Forbidden",		false },
};

static void add(json_t *errors, enum sim_field_error what, const char *field, const json_t *value,
    const char *format, va_list args) __attribute__((format(printf, 5, 0)));
static void write_go(struct sim_buf *out, const json_t *value);
static char *texts(const json_t *errors);
static char *number(double real);

void
sim_field_error(json_t *errors, enum sim_field_error what, const char *field, const json_t *value,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(errors, what, field, value, format, args);
	va_end(args);
}

void
sim_field_error_text(json_t *errors, enum sim_field_error what, const char *field,
    const char *value, const char *format, ...)
{
	json_t *text = sim_json_utf8(value);
	va_list args;

	va_start(args, format);
	add(errors, what, field, text, format, args);
	va_end(args);
	json_decref(text);
}

json_t *
sim_field_errors_status(json_t *errors, const char *group, const char *kind, const char *name)
{
	if (json_array_size(errors) == 0) {
		json_decref(errors);
		return NULL;
	}

	const struct sim_resource r = { .group = group, .plural = kind };
	char *all = texts(errors);
	json_t *status = sim_semantics_failure_of(422, "Invalid", &r, name, errors,
	    "%s%s%s \"%s\" is invalid: %s", kind, *group == '\0' ? "" : ".", group, name, all);

	free(all);
	return status;
}

char *
sim_field_error_value(const json_t *value)
{
	if (json_is_string(value))
		return sim_go_quote(json_string_value(value));
	if (json_is_real(value))
		return number(json_real_value(value));
	if (value == NULL)
		return obj_strdup("null");

	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	MUST(text != NULL);
	return text;
}

char *
sim_go_quote(const char *text)
{
	static const char short_names[] = {
		['\a'] = 'a', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
		['\v'] = 'v', ['"'] = '"', ['\\'] = '\\',
	};
	const char *const end = text + strlen(text);
	struct sim_buf quoted = { 0 };

	sim_buf_puts(&quoted, "\"");
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		const size_t n = utf8_length((const char *)p, (size_t)(end - (const char *)p));

		if (*p < sizeof(short_names) && short_names[*p] != '\0')
			sim_buf_printf(&quoted, "\\%c", short_names[*p]);
		else if (*p < ' ' || *p == 0x7f || n == 0)
			sim_buf_printf(&quoted, "\\x%02x", *p);
		else
			sim_buf_add(&quoted, p, n);
		p += n > 1 ? n - 1 : 0;
	}
	sim_buf_puts(&quoted, "\"");
	return quoted.bytes;
}

char *
sim_go_format(const json_t *value)
{
	struct sim_buf text = { 0 };

	write_go(&text, value);
	return text.bytes;
}

static void
write_go(struct sim_buf *out, const json_t *value)
{
	json_t *child;
	size_t i;

	if (json_is_object(value)) {
		const char **names;
		const size_t n = sim_schema_keys(NULL, value, &names);

		sim_buf_puts(out, "map[");
		for (i = 0; i < n; i++) {
			sim_buf_printf(out, "%s%s:", i == 0 ? "" : " ", names[i]);
			write_go(out, json_object_get(value, names[i]));
		}
		sim_buf_puts(out, "]");
		free(names);
	} else if (json_is_array(value)) {
		sim_buf_puts(out, "[");
		json_array_foreach(value, i, child) {
			sim_buf_puts(out, i == 0 ? "" : " ");
			write_go(out, child);
		}
		sim_buf_puts(out, "]");
	} else if (json_is_string(value)) {
		sim_buf_puts(out, json_string_value(value));
	} else {
		char *plain = json_is_null(value) ? obj_strdup("<nil>") : sim_field_error_value(value);

		sim_buf_puts(out, plain);
		free(plain);
	}
}

static void
add(json_t *errors, enum sim_field_error what, const char *field, const json_t *value,
    const char *format, va_list args)
{
	char *detail, *message;
	char *shown = kinds[what].shows_value ? sim_field_error_value(value) : obj_strdup("");

	MUST(vasprintf(&detail, format, args) >= 0);
	MUST(asprintf(&message, "%s%s%s%s%s", kinds[what].words, kinds[what].shows_value ? ": " : "", shown,
	    *detail == '\0' ? "" : ": ", detail) > 0);
	json_array_append_new(errors, json_pack("{s:s, s:s, s:s}", "reason", kinds[what].reason, "message",
	    message, "field", field));
	free(message);
	free(detail);
	free(shown);
}

/* One as it is, several in brackets; the same text only once. */
static char *
texts(const json_t *errors)
{
	json_auto_t *seen = json_object();
	struct sim_buf all = { 0 };
	const char *line;
	json_t *cause;
	size_t i;

	json_array_foreach(errors, i, cause) {
		json_auto_t *text = json_sprintf("%s: %s", sim_json_text(cause, "field"),
		    sim_json_text(cause, "message"));

		json_object_set_new(seen, json_string_value(text), json_true());
	}
	const bool several = json_object_size(seen) > 1;
	JSON_EACH(seen, line, cause)
		sim_buf_printf(&all, "%s%s", all.len > 0 ? ", " : several ? "[" : "", line);
	sim_buf_puts(&all, several ? "]" : "");
	return all.bytes;
}

/* The shortest digits that read back as the same number, with an exponent from 1e21 on: as Go's %v. */
static char *
number(double real)
{
	char digits[64];

	for (int precision = 1; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	if (strpbrk(digits, "e") != NULL && fabs(real) >= 1e-4 && fabs(real) < 1e21)
		snprintf(digits, sizeof(digits), "%.0f", real);
	return obj_strdup(digits);
}
