/*
 * tests/fuzz/fuzz_config.c - any bytes as a configuration file.
 *
 * Rule: a file is refused, with errors that are sorted, one line each and free of control characters;
 * or it is accepted, and then what the actors get, written back as YAML, is read as the same again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "lifeline.h"
#include "obj.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct config_errors errs;

/* Errors go to a terminal or a log as they are. */
static void
check_errors(void)
{
	int line = 0;

	MUST(errs.count > 0 && errs.count <= CONFIG_ERRORS_MAX);
	for (size_t i = 0; i < errs.count; i++) {
		const struct config_error *e = &errs.list[i];
		const size_t len = strnlen(e->text, sizeof(e->text));

		MUST(e->line >= line && len > 0 && len < sizeof(e->text));
		line = e->line;
		for (size_t at = 0, n; at < len; at += n) {
			n = utf8_length(e->text + at, len - at);
			MUST(n > 0 && !value_control(utf8_code(e->text + at, n)));
		}
	}
}

static void
write_value(FILE *out, const struct value_rule *rule, const char *value)
{
	if (rule->type == VALUE_INT || rule->type == VALUE_BOOL) {
		fputs(value, out);
		return;
	}
	fputc('"', out);
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputs(rule->type == VALUE_DURATION ? "ms\"" : "\"", out);
}

/* From the flat text alone, as an actor would have to. */
static void
write_section(FILE *out, const struct config *c, enum section s)
{
	char *const flat = config_flat(c, schema_section_name(s));
	const char *indent = s == SECTION_SUPERVISOR ? "  " : "    ";

	MUST(strlen(flat) < LIFELINE_MAX);
	for (char *line = flat, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		char *value = strchr(line, '=');

		MUST(value != NULL && value < end);
		*end = *value++ = '\0';
		const size_t i = schema_setting(s, line, strlen(line));
		MUST(i < SETTING_MAX);
		fprintf(out, "%s%s: ", indent, line);
		write_value(out, &schema_settings[i].rule, value);
		fputc('\n', out);
	}
	free(flat);
}

static char *
write_back(const struct config *c, size_t *len)
{
	char *text;
	FILE *out = open_memstream(&text, len);

	MUST(out != NULL);
	fputs("supervisor:\n", out);
	write_section(out, c, SECTION_SUPERVISOR);
	fputs("actors:\n", out);
	for (enum section s = SECTION_SUPERVISOR + 1; s < SECTION_MAX; s++) {
		const char *name = schema_section_name(s);
		const enum config_enabled enabled = config_enabled(c, name);

		if (enabled == CONFIG_UNSET)
			continue;
		fprintf(out, "  %s:\n    enabled: %s\n", name, enabled == CONFIG_ON ? "true" : "false");
		write_section(out, c, s);
	}
	MUST(fclose(out) == 0);
	return text;
}

static void
check_same(const struct config *a, const struct config *b)
{
	for (enum section s = 0; s < SECTION_MAX; s++) {
		const char *name = schema_section_name(s);

		MUST(config_enabled(a, name) == config_enabled(b, name));
		char *const flat_a = config_flat(a, name), *const flat_b = config_flat(b, name);
		MUST(strcmp(flat_a, flat_b) == 0);
		free(flat_a);
		free(flat_b);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *c = config_parse("fuzz", (const char *)data, size, &errs);
	size_t len;

	if (c == NULL) {
		check_errors();
		return 0;
	}
	MUST(errs.count == 0);
	char *text = write_back(c, &len);
	struct config *again = config_parse("again", text, len, &errs);
	if (again == NULL)
		config_errors_print(&errs, stderr);
	MUST(again != NULL);
	check_same(c, again);
	config_free(&again);
	config_free(&c);
	free(text);
	return 0;
}
