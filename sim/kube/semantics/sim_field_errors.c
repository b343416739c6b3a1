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
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics.h"

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
static void write_go(FILE *out, const json_t *value);
static const char **sorted_names(const json_t *object);
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
	json_t *text = json_string(value);
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
	char *message;

	MUST(asprintf(&message, "%s%s%s \"%s\" is invalid: %s", kind, *group == '\0' ? "" : ".", group,
	    name, all) > 0);
	json_t *status = sim_semantics_failure(422, "Invalid", message, &r, name, errors);

	free(message);
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
	char *quoted = NULL;
	size_t size;
	FILE *out = open_memstream(&quoted, &size);

	MUST(out != NULL);
	fputc('"', out);
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
		if (*p < sizeof(short_names) && short_names[*p] != '\0')
			fprintf(out, "\\%c", short_names[*p]);
		else if (*p < ' ' || *p == 0x7f)
			fprintf(out, "\\x%02x", *p);
		else
			fputc(*p, out);
	}
	fputc('"', out);
	fclose(out);
	return quoted;
}

char *
sim_go_format(const json_t *value)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	MUST(out != NULL);
	write_go(out, value);
	fclose(out);
	return text;
}

static void
write_go(FILE *out, const json_t *value)
{
	json_t *child;
	size_t i;

	if (json_is_object(value)) {
		const char **names = sorted_names(value);

		fputs("map[", out);
		for (i = 0; names[i] != NULL; i++) {
			fprintf(out, "%s%s:", i == 0 ? "" : " ", names[i]);
			write_go(out, json_object_get(value, names[i]));
		}
		fputc(']', out);
		free(names);
	} else if (json_is_array(value)) {
		fputc('[', out);
		json_array_foreach(value, i, child) {
			fputs(i == 0 ? "" : " ", out);
			write_go(out, child);
		}
		fputc(']', out);
	} else if (json_is_string(value)) {
		fputs(json_string_value(value), out);
	} else {
		char *plain = json_is_null(value) ? obj_strdup("<nil>") : sim_field_error_value(value);

		fputs(plain, out);
		free(plain);
	}
}

/* Ends in NULL. Free it, not the names. */
static const char **
sorted_names(const json_t *object)
{
	const size_t n = json_object_size(object);
	const char **names = obj_alloc((n + 1) * sizeof(*names));
	const char *key;
	json_t *value;
	size_t i = 0;

	JSON_EACH(object, key, value)
		names[i++] = key;
	qsort(names, n, sizeof(*names), sim_json_compare_texts);
	return names;
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
	json_t *seen = json_object();
	size_t i;
	json_t *cause;

	json_array_foreach(errors, i, cause) {
		char *line;

		MUST(asprintf(&line, "%s: %s", sim_json_text(cause, "field"),
		    sim_json_text(cause, "message")) > 0);
		json_object_set_new(seen, line, json_true());
		free(line);
	}

	const bool several = json_object_size(seen) > 1;
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);
	const char *line, *between = several ? "[" : "";
	json_t *unused;

	MUST(out != NULL);
	JSON_EACH(seen, line, unused) {
		fprintf(out, "%s%s", between, line);
		between = ", ";
	}
	if (several)
		fputc(']', out);
	fclose(out);
	json_decref(seen);
	return all;
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
