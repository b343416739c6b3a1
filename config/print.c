/* config/print.c - the schema for people: the annotated default file and the reference. */
#include "private.h"

static const char defaults_head[] =
    "# muster.yaml - every setting with its default; written by `muster check --print-defaults`.\n"
    "# Keep the lines that you change; a key that is left out has its default.\n"
    "# `muster check FILE` prints every mistake with its line.\n";

static const char defaults_actors[] =
    "\n# One section per actor. A section enables its actor, unless it has `enabled: false`.\n"
    "actors:\n";

static const char reference_head[] =
    "# Configuration\n"
    "\n"
    "One YAML file: a section `supervisor`, and under `actors` a section per actor. Every key has\n"
    "a default, so an empty file is a good one. `muster check FILE` reads it as `musterd` does and\n"
    "prints every mistake as `file:line: what is wrong and what is allowed`. With a mistake in it\n"
    "`musterd` does not start (exit 100), and a reload keeps what is running. `deploy/muster.yaml`\n"
    "has every key with its default and a comment.\n"
    "\n"
    "```yaml\n"
    "supervisor:\n"
    "  log-level: info\n"
    "actors:\n"
    "  metrics:\n"
    "    enabled: true\n"
    "    metrics-bind-address: \":8080\"\n"
    "```\n"
    "\n"
    "- **Actors.** A section enables its actor; `enabled: false` keeps it off. What an enabled\n"
    "  actor needs is enabled with it, and the log has the reason.\n"
    "- **Durations** are numbers with a unit: `500ms`, `10s`, `2m`, `1h30m`, or `0`. No sign, no\n"
    "  fraction, no blank; units in lower case, largest first.\n"
    "- **Numbers and booleans** are not quoted; booleans are `true` and `false` only.\n"
    "- **Addresses** are `:port`, `host:port` or `[IPv6]:port`. Port 0 takes any free one. `\"0\"` or\n"
    "  `off` instead of an address: nothing is served there.\n"
    "- **Secrets** never stand in this file: a setting that needs one names the file that holds it.\n"
    "- One document of at most 1 MiB in UTF-8. No anchors, aliases, merge keys or tags; no key twice.\n";

static const char reference_foot[] =
    "\nThis page is written by `muster check --print-reference` from `config/settings.h`.\n";

typedef void print_fn(const struct setting *, FILE *);
static print_fn print_setting, print_row;
static void print_section(enum section, FILE *);
static void print_table(enum section, FILE *);
static void each_setting(enum section, print_fn *, FILE *);
static const char *initial_of(const struct setting *, char *, size_t);

void
config_print_defaults(FILE *out)
{
	fputs(defaults_head, out);
	for (enum section s = 0; s < SECTION_MAX; s++) {
		if (s == SECTION_SUPERVISOR + 1)
			fputs(defaults_actors, out);
		if (!schema_sections[s].test)
			print_section(s, out);
	}
}

void
config_print_reference(FILE *out)
{
	fputs(reference_head, out);
	for (enum section s = 0; s < SECTION_MAX; s++) {
		if (!schema_sections[s].test)
			print_table(s, out);
	}
	fputs(reference_foot, out);
}

static void
print_section(enum section s, FILE *out)
{
	const char *indent = s != SECTION_SUPERVISOR ? "  " : "";

	fprintf(out, "\n%s# %s\n", indent, schema_sections[s].help);
	fprintf(out, "%s%s:\n", indent, schema_section_name(s));
	each_setting(s, print_setting, out);
}

static void
print_setting(const struct setting *row, FILE *out)
{
	const char *indent = row->section == SECTION_SUPERVISOR ? "  " : "    ";
	char allowed[VALUE_ALLOWED_MAX], initial[128];

	value_allowed(&row->rule, allowed, sizeof(allowed));
	fprintf(out, "%s# %s\n%s# Allowed: %s.\n", indent, row->help, indent, allowed);
	fprintf(out, "%s%s: %s\n", indent, row->key, initial_of(row, initial, sizeof(initial)));
}

static void
print_table(enum section s, FILE *out)
{
	fprintf(out, "\n## %s\n\n%s\n\n", schema_section_name(s), schema_sections[s].help);
	fputs("| key | default | allowed | meaning |\n|---|---|---|---|\n", out);
	each_setting(s, print_row, out);
}

static void
each_setting(enum section s, print_fn *print, FILE *out)
{
	if (s != SECTION_SUPERVISOR)
		print(&schema_enabled, out);
	for (size_t i = 0; i < SETTING_MAX; i++) {
		if (schema_settings[i].section == s)
			print(&schema_settings[i], out);
	}
}

static void
print_row(const struct setting *row, FILE *out)
{
	char allowed[VALUE_ALLOWED_MAX], initial[128];

	value_allowed(&row->rule, allowed, sizeof(allowed));
	initial_of(row, initial, sizeof(initial));
	fprintf(out, "| `%s` | `%s` | %s | %s |\n", row->key, initial, allowed, row->help);
}

/* The default as it is written in the file: texts in quotes, which YAML needs for some of them. */
static const char *
initial_of(const struct setting *row, char *buf, size_t size)
{
	static const bool quoted[VALUE_TYPE_MAX] = {
		[VALUE_STR] = true,
		[VALUE_PATH] = true,
		[VALUE_CREDENTIAL] = true,
		[VALUE_FILE] = true,
		[VALUE_ADDR] = true,
		[VALUE_DOMAIN] = true,
		[VALUE_LABEL] = true,
		[VALUE_URL] = true,
	};

	snprintf(buf, size, quoted[row->rule.type] ? "\"%s\"" : "%s", row->initial);
	return buf;
}
