/* supervisor/dropin.c - finds the program that is meant, reads its flags, writes them as configuration. */
#include "dropin.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/schema.h"
#include "err.h"
#include "log.h"
#include "obj.h"

enum { EXIT_USAGE = 2 };

static const struct dropin_program *const programs[] = {
	&dropin_node_state, &dropin_capa_annotator, &dropin_vip_allocator,
};

static enum dropin_end check_values(struct dropin *);
static int print_error(const struct dropin *, FILE *);
static const char *advice(const struct dropin *);
static void usage(const struct dropin_program *, FILE *);
static void note_idle(struct dropin *);
static void write_yaml(struct dropin *);
static void write_section(const struct dropin *, enum section, FILE *);
static void write_setting(enum section, const char *, const char *, FILE *, bool *);

const struct dropin_program *
dropin_find(int argc, char *const *argv, int *first)
{
	const char *const slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *const names[] = {
		argc == 0 ? "" : slash != NULL ? slash + 1 : argv[0],
		argc > 1 ? argv[1] : "",
	};

	for (size_t n = 0; n < NITEMS(names); n++) {
		for (size_t i = 0; i < NITEMS(programs); i++) {
			*first = (int)n + 1;
			if (strcmp(programs[i]->name, names[n]) == 0)
				return programs[i];
		}
	}
	return NULL;
}

int
dropin_read(const struct dropin_program *p, int nargs, char *const *args, struct dropin *d, FILE *out,
    FILE *err)
{
	*d = (struct dropin){ .program = p };
	enum dropin_end end = dropin_flags_read(p->flags, p->nflags, nargs, args, &d->flags);
	if (end == DROPIN_HELP) {
		usage(p, out);
		return 0;
	}
	if (end == DROPIN_OK)
		end = p->adapt(d);
	if (end == DROPIN_OK)
		end = check_values(d);
	if (end == DROPIN_REFUSED) {
		fprintf(err, "%s: %s\n", p->name, d->flags.error);
		return EXIT_CONFIG;
	}
	if (end != DROPIN_OK)
		return print_error(d, err);
	note_idle(d);
	write_yaml(d);
	if (strcmp(d->flags.values[p->print_flag].text, "true") != 0)
		return DROPIN_RUN;
	fputs(d->yaml, out);
	dropin_close(d);
	return 0;
}

void
dropin_log_notes(const struct dropin *d)
{
	log_info("in the place of another program: its flags are the configuration",
	    KV_S(FROM, d->program->name));
	for (size_t i = 0; i < d->nnotes; i++) {
		const struct dropin_note *const n = &d->notes[i];

		log_emit(n->warn ? LEVEL_WARN : LEVEL_INFO, 0, n->text,
		    LOG_KVS(KV_S(KEY, n->about), KV_S(HINT, n->hint)));
	}
}

void
dropin_close(struct dropin *d)
{
	free(d->yaml);
	d->yaml = NULL;
}

/* ---- For the programs ---- */

void
dropin_note(struct dropin *d, struct dropin_note note)
{
	MUST(d->nnotes < DROPIN_NOTES_MAX);
	d->notes[d->nnotes++] = note;
}

void
dropin_set(struct dropin *d, const char *section, const char *key, const char *value)
{
	MUST(d->nsettings < DROPIN_SETTINGS_MAX);
	d->settings[d->nsettings++] =
	    (struct dropin_setting){ .section = section, .key = key, .value = value };
}

enum dropin_end
dropin_refuse(struct dropin *d, enum dropin_end end, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->flags.error, sizeof(d->flags.error), fmt, ap);
	va_end(ap);
	return end;
}

bool
dropin_on(const struct dropin *d, size_t flag)
{
	return strcmp(dropin_text(d, flag), "true") == 0;
}

const char *
dropin_text(const struct dropin *d, size_t flag)
{
	return d->flags.values[flag].text;
}

void
dropin_make_absolute(struct dropin *d, size_t flag)
{
	static char path[PATH_MAX * 2];		/* as long as the flags */
	char here[PATH_MAX];
	struct dropin_value *const v = &d->flags.values[flag];

	if (v->text[0] == '\0' || v->text[0] == '/' || getcwd(here, sizeof(here)) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/%s", here, v->text);
	v->text = path;
}

void
dropin_default_addresses(struct dropin *d, size_t metrics_flag, size_t health_flag)
{
	struct dropin_value *const metrics = &d->flags.values[metrics_flag];
	struct dropin_value *const health = &d->flags.values[health_flag];

	if (metrics->text[0] == '\0')
		metrics->text = ":8080";
	if (health->text[0] == '\0')
		health->text = "0";
}

/* ---- Values ---- */

static const struct value_rule *
rule_of(const char *section, const char *key)
{
	const size_t i = schema_setting(schema_section(section, strlen(section)), key, strlen(key));

	MUST(i < SETTING_MAX);
	return &schema_settings[i].rule;
}

/* A flag that is a setting of ours may have what the setting may have. */
static enum dropin_end
check_values(struct dropin *d)
{
	for (size_t i = 0; i < d->program->nflags; i++) {
		const struct dropin_flag *const flag = &d->program->flags[i];
		const char *const text = d->flags.values[i].text;
		char allowed[VALUE_ALLOWED_MAX];
		int64_t num;

		if (flag->key == NULL)
			continue;
		const struct value_rule *const rule = rule_of(flag->section, flag->key);
		const enum value_fault f = value_parse(rule, text, strlen(text), &num);
		if (f != VALUE_FAULT_NONE)
			return dropin_refuse(d, DROPIN_WRONG,
			    "invalid value \"%.200s\" for flag -%s: it %s; allowed: %s", text, flag->name,
			    value_fault_text(f), value_allowed(rule, allowed, sizeof(allowed)));
	}
	return DROPIN_OK;
}

static void
note_idle(struct dropin *d)
{
	for (size_t i = 0; i < d->program->nflags; i++) {
		const struct dropin_flag *const flag = &d->program->flags[i];

		if (flag->idle != NULL && d->flags.values[i].given)
			dropin_note(d, (struct dropin_note){ .text = "a flag changes nothing here",
			    .about = flag->name, .hint = flag->idle });
	}
	if (d->flags.rest != NULL)
		dropin_note(d, (struct dropin_note){ .warn = true,
		    .text = "the flags end at a word, as in the original; what follows is not read",
		    .about = d->flags.rest,
		    .hint = "write --flag=value; a boolean takes no word behind it" });
}

/* ---- What people read ---- */

static int
print_error(const struct dropin *d, FILE *err)
{
	fprintf(err, "%s\n", d->flags.error);
	if (d->flags.unknown[0] != '\0')
		fprintf(err, "%s: %s\n", d->program->name, advice(d));
	usage(d->program, err);
	return EXIT_USAGE;
}

static const char *
advice(const struct dropin *d)
{
	for (size_t i = 0; i < d->program->ngone; i++) {
		if (strcmp(d->program->gone[i].name, d->flags.unknown) == 0)
			return d->program->gone[i].advice;
	}
	return "leave it out; docs/migration.md lists each flag of the original";
}

/* As Go prints it. */
static void
usage(const struct dropin_program *p, FILE *out)
{
	fprintf(out, "Usage of %s:\n", p->name);
	for (size_t i = 0; i < p->nflags; i++) {
		const struct dropin_flag *const f = &p->flags[i];
		const char *const mark = f->boolean ? "" : "\"";

		fprintf(out, "  -%s%s\n    \t%s", f->name, f->boolean ? "" : " string", f->help);
		if (f->initial[0] != '\0' && strcmp(f->initial, "false") != 0)
			fprintf(out, " (default %s%s%s)", mark, f->initial, mark);
		fputc('\n', out);
	}
}

/* ---- The configuration ---- */

static void
write_yaml(struct dropin *d)
{
	size_t len;
	FILE *const f = open_memstream(&d->yaml, &len);

	MUST(f != NULL);
	fprintf(f, "# What the flags of %s mean as muster.yaml; docs/configuration.md has every key.\n",
	    d->program->name);
	write_section(d, SECTION_SUPERVISOR, f);
	fputs("actors:\n", f);
	for (enum section s = SECTION_SUPERVISOR + 1; s < SECTION_MAX; s++)
		write_section(d, s, f);
	MUST(fclose(f) == 0);
}

static void
write_section(const struct dropin *d, enum section s, FILE *out)
{
	const char *const name = schema_section_name(s);
	bool opened = false;

	for (size_t i = 0; i < d->program->nflags; i++) {
		const struct dropin_flag *const flag = &d->program->flags[i];

		if (flag->key != NULL && strcmp(flag->section, name) == 0)
			write_setting(s, flag->key, d->flags.values[i].text, out, &opened);
	}
	for (size_t i = 0; i < d->nsettings; i++) {
		if (strcmp(d->settings[i].section, name) == 0)
			write_setting(s, d->settings[i].key, d->settings[i].value, out, &opened);
	}
}

/* Control characters were refused by the rule of the setting; a double quoted scalar takes the rest. */
static void
write_setting(enum section s, const char *key, const char *value, FILE *out, bool *opened)
{
	const char *const indent = s == SECTION_SUPERVISOR ? "" : "  ";
	const char *const section = schema_section_name(s);
	const enum value_type type = rule_of(section, key)->type;

	if (!*opened)
		fprintf(out, "%s%s:\n", indent, section);
	*opened = true;
	fprintf(out, "%s  %s: ", indent, key);
	if (type == VALUE_BOOL || type == VALUE_INT) {
		fprintf(out, "%s\n", value);
		return;
	}
	fputc('"', out);
	for (const char *p = value; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', out);
		fputc(*p, out);
	}
	fputs("\"\n", out);
}
