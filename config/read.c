/*
 * config/read.c - from a YAML tree to values, with every mistake reported where it is.
 *
 * After a mistake reading goes on behind the value that has it, so that one run reports them all.
 * Anchors, aliases and tags are refused: they only let two readers see two things.
 */
#include <string.h>

#include "nearest.h"
#include "obj.h"
#include "private.h"
#include "utf8.h"
#include "yaml_tree.h"

struct config_reader {
	struct config		*c;
	struct config_errors	*errs;
	int			 actors_line;
};

/* Reads the value of a key in the mapping that is being read; the section is only for on_setting. */
typedef void on_key(struct config_reader *, enum section, const struct yaml_member *);
static on_key on_root, on_actor, on_setting;

static bool check_text(const char *, size_t, struct config_errors *);
static void refuse_extras(struct config_reader *, const struct yaml_tree *);
static void report_mistake(struct config_reader *, const struct yaml_tree *, const char *, size_t);
static bool tab_indents(const char *, const char *, int);
static void read_mapping(
    struct config_reader *, const char *, enum section, on_key *, const struct yaml_value *);
static void read_section(struct config_reader *, enum section, const struct yaml_member *);
static void read_setting(struct config_reader *, size_t, const struct yaml_member *);
static void read_enabled(struct config_reader *, struct config_section *, const struct yaml_member *);
static bool is_key(struct config_reader *, const struct yaml_value *);
static bool is_first(struct config_reader *, int *, const struct yaml_value *);
static bool is_scalar(struct config_reader *, const struct setting *, const struct yaml_member *);
static const char *kind_of(const struct yaml_value *);
static void report_fault(struct config_reader *, const struct setting *, const struct yaml_member *,
    enum value_fault);
static void report_unknown(
    struct config_reader *, const struct yaml_value *, const char *, const char *const *, size_t);

static bool
equals(const struct yaml_value *v, const char *name)
{
	return strlen(name) == v->len && memcmp(name, v->text, v->len) == 0;
}

bool
read_yaml(struct config *c, const char *text, size_t len, struct config_errors *errs)
{
	static const struct yaml_limits limits = { .depth = CONFIG_DEPTH_MAX };
	struct config_reader r = { .c = c, .errs = errs };

	if (!check_text(text, len, errs))
		return false;
	struct yaml_tree *tree = yaml_tree_read(text, len, &limits);
	refuse_extras(&r, tree);
	if (tree->ndocuments > 0 && tree->documents[0].root != NULL)
		read_mapping(&r, "the file", SECTION_NONE, on_root, tree->documents[0].root);
	if (tree->ndocuments > 1)
		errors_add(errs, tree->documents[1].line,
		    "a second document starts here; one file holds one document");
	else
		report_mistake(&r, tree, text, len);
	yaml_tree_free(&tree);
	return errs->count == 0;
}

static void
refuse_extras(struct config_reader *r, const struct yaml_tree *tree)
{
	const size_t end = tree->ndocuments > 1 ? tree->documents[1].first : tree->nvalues;

	for (size_t i = 0; i < end; i++) {
		const struct yaml_value *const v = tree->values[i];

		if (v->kind == YAML_ALIAS)
			errors_add(r->errs, v->line, "an alias (*name) is not allowed; write the value out");
		if (v->anchored)
			errors_add(r->errs, v->line,
			    "an anchor (&name) is not allowed; write the value where it is needed");
		if (v->tagged)
			errors_add(r->errs, v->line,
			    "a tag (!name) is not allowed; every key has its own type");
	}
}

static void
report_mistake(struct config_reader *r, const struct yaml_tree *tree, const char *text, size_t len)
{
	const int line = tree->mistake_line;

	if (tree->mistake == YAML_TOO_DEEP)
		errors_add(r->errs, line, "nested deeper than %d levels; the settings need three",
		    CONFIG_DEPTH_MAX);
	else if (tree->mistake != YAML_FINE && tab_indents(text, text + len, line))
		errors_add(r->errs, line, "a tab stands in the indentation; YAML takes only spaces there");
	else if (tree->mistake != YAML_FINE)
		errors_add(r->errs, line, "not YAML: %s", tree->mistake_text);
}

/* libyaml's words for it, "found character that cannot start any token", help nobody. */
static bool
tab_indents(const char *p, const char *end, int line)
{
	for (; line > 1 && p != NULL; line--) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p == NULL ? NULL : p + 1;
	}
	while (p != NULL && p < end && *p == ' ')
		p++;
	return p != NULL && p < end && *p == '\t';
}

/* Only what YAML allows, so that libyaml's reader, which reports no lines, finds no mistake. */
static bool
check_text(const char *text, size_t len, struct config_errors *errs)
{
	int line = 1;

	if (len > CONFIG_FILE_MAX) {
		errors_add(errs, 0, "is larger than %d bytes, the limit of a configuration",
		    CONFIG_FILE_MAX);
		return false;
	}
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length(text + i, len - i);
		if (n == 0) {
			errors_add(errs, line, "byte 0x%02x is not UTF-8; save the file as UTF-8",
			    (unsigned char)text[i]);
			return false;
		}
		const uint32_t code = utf8_code(text + i, n);
		const bool blank = code == '\t' || code == '\n' || code == '\r' || code == 0x85
		    || code == 0x2028 || code == 0x2029;
		const bool byte_order = code == 0xfeff && i == 0;
		if (value_control(code) && !blank && !byte_order) {
			errors_add(errs, line, "%s stands here (U+%04X); only text is allowed",
			    code == 0 ? "a NUL" : "a control character", code);
			return false;
		}
		line += code == '\n';
	}
	return true;
}

static void
on_root(struct config_reader *r, enum section at, const struct yaml_member *m)
{
	static const char *const allowed[] = { "supervisor", "actors" };

	(void)at;
	if (equals(m->key, "supervisor"))
		read_section(r, SECTION_SUPERVISOR, m);
	else if (schema_section(m->key->text, m->key->len) != SECTION_NONE)
		errors_add(r->errs, m->key->line, "%s is an actor; its section stands under actors",
		    errors_quote(m->key->text, m->key->len).text);
	else if (!equals(m->key, "actors"))
		report_unknown(r, m->key, "key", allowed, NITEMS(allowed));
	else if (is_first(r, &r->actors_line, m->key))
		read_mapping(r, "actors", SECTION_NONE, on_actor, m->value);
}

static void
on_actor(struct config_reader *r, enum section at, const struct yaml_member *m)
{
	const enum section s = schema_section(m->key->text, m->key->len);
	const char *names[SECTION_MAX];
	size_t n = 0;

	(void)at;
	if (s == SECTION_SUPERVISOR) {
		errors_add(r->errs, m->key->line, "%s is not an actor; its section stands beside actors",
		    errors_quote(m->key->text, m->key->len).text);
		return;
	}
	if (s != SECTION_NONE) {
		read_section(r, s, m);
		return;
	}
	while ((names[n] = config_actor_name(n)) != NULL)
		n++;
	report_unknown(r, m->key, "actor", names, n);
}

static void
on_setting(struct config_reader *r, enum section at, const struct yaml_member *m)
{
	const bool actor = at != SECTION_SUPERVISOR;
	const size_t i = schema_setting(at, m->key->text, m->key->len);
	const char *names[SETTING_MAX + 1];
	char what[64];
	size_t n = 0;

	if (i < SETTING_MAX) {
		read_setting(r, i, m);
		return;
	}
	if (actor && equals(m->key, schema_enabled.key)) {
		read_enabled(r, &r->c->sections[at], m);
		return;
	}
	if (actor)
		names[n++] = schema_enabled.key;
	for (size_t j = 0; j < SETTING_MAX; j++) {
		if (schema_settings[j].section == at)
			names[n++] = schema_settings[j].key;
	}
	snprintf(what, sizeof(what), "%s key", schema_section_name(at));
	report_unknown(r, m->key, what, names, n);
}

/* Nothing at all is an empty mapping: people leave a section with all its keys commented out. */
static void
read_mapping(
    struct config_reader *r, const char *name, enum section s, on_key *read, const struct yaml_value *v)
{
	if (v->kind != YAML_MAP && v->kind != YAML_ALIAS && !yaml_value_null(v))
		errors_add(r->errs, v->line, "%s must be a mapping of keys to values, not %s", name,
		    kind_of(v));
	for (size_t i = 0; v->kind == YAML_MAP && i < v->count; i++) {
		if (is_key(r, v->members[i].key))
			read(r, s, &v->members[i]);
	}
}

static void
read_section(struct config_reader *r, enum section s, const struct yaml_member *m)
{
	struct config_section *section = &r->c->sections[s];

	if (!is_first(r, &section->line, m->key))
		return;
	if (s != SECTION_SUPERVISOR)
		section->enabled = CONFIG_ON;
	read_mapping(r, schema_section_name(s), s, on_setting, m->value);
}

static void
read_setting(struct config_reader *r, size_t setting, const struct yaml_member *m)
{
	const struct setting *row = &schema_settings[setting];

	if (!is_first(r, &r->c->values[setting].line, m->key) || !is_scalar(r, row, m))
		return;
	const enum value_fault f = config_set(r->c, setting, m->value->text, m->value->len);
	if (f != VALUE_FAULT_NONE)
		report_fault(r, row, m, f);
}

static void
read_enabled(struct config_reader *r, struct config_section *section, const struct yaml_member *m)
{
	int64_t on = 0;

	if (!is_first(r, &section->enabled_line, m->key) || !is_scalar(r, &schema_enabled, m))
		return;
	const enum value_fault f = value_parse(&schema_enabled.rule, m->value->text, m->value->len, &on);
	if (f != VALUE_FAULT_NONE)
		report_fault(r, &schema_enabled, m, f);
	else
		section->enabled = on ? CONFIG_ON : CONFIG_OFF;
}

static bool
is_key(struct config_reader *r, const struct yaml_value *v)
{
	if (v->kind == YAML_TEXT && !(v->plain && strcmp(v->text, "<<") == 0))
		return true;
	if (v->kind == YAML_TEXT)
		errors_add(r->errs, v->line, "a merge key (<<) is not allowed; write the keys out");
	else if (v->kind != YAML_ALIAS)
		errors_add(r->errs, v->line, "a key must be a word, not %s", kind_of(v));
	return false;
}

/* Notes where a key stands; a second one is an error. */
static bool
is_first(struct config_reader *r, int *line, const struct yaml_value *key)
{
	if (*line == 0) {
		*line = key->line;
		return true;
	}
	errors_add(r->errs, key->line, "%s is given twice, first on line %d; keep one",
	    errors_quote(key->text, key->len).text, *line);
	return false;
}

/* Quotes make text of anything: "5" is not a number, "true" not a boolean. */
static bool
is_scalar(struct config_reader *r, const struct setting *row, const struct yaml_member *m)
{
	const struct yaml_value *const v = m->value;
	const bool bare = row->rule.type == VALUE_INT || row->rule.type == VALUE_BOOL;
	const int line = m->key->line;
	char allowed[VALUE_ALLOWED_MAX];

	value_allowed(&row->rule, allowed, sizeof(allowed));
	if (v->kind == YAML_ALIAS)
		return false;
	if (v->kind != YAML_TEXT)
		errors_add(r->errs, line, "%s must be a single value, not %s; allowed: %s", row->key,
		    kind_of(v), allowed);
	else if (yaml_value_null(v))
		errors_add(r->errs, line,
		    "%s has no value; leave the key out for its default, %s; allowed: %s", row->key,
		    row->initial[0] == '\0' ? "\"\"" : row->initial, allowed);
	else if (!v->plain && bare)
		errors_add(r->errs, line, "%s is quoted, which makes it text; allowed: %s", row->key,
		    allowed);
	else
		return true;
	return false;
}

static const char *
kind_of(const struct yaml_value *v)
{
	return v->kind == YAML_LIST ? "a list" : v->kind == YAML_MAP ? "a mapping" : "a single value";
}

/* A secret pasted where its file should be named must not end up in a log: it is not shown. */
static void
report_fault(struct config_reader *r, const struct setting *row, const struct yaml_member *m,
    enum value_fault f)
{
	const bool hidden = row->rule.type == VALUE_CREDENTIAL
	    || (row->rule.type == VALUE_URL && memchr(m->value->text, '@', m->value->len) != NULL);
	char allowed[VALUE_ALLOWED_MAX];

	errors_add(r->errs, m->key->line, "%s: %s %s; allowed: %s", row->key,
	    hidden ? "the value" : errors_quote(m->value->text, m->value->len).text,
	    value_fault_text(f), value_allowed(&row->rule, allowed, sizeof(allowed)));
}

/* Names what is meant, or else what there is. */
static void
report_unknown(struct config_reader *r, const struct yaml_value *k, const char *what,
    const char *const *names, size_t n)
{
	const char *guess = nearest_word(k->text, k->len, names, n);
	char hint[96] = "", list[480] = "";
	size_t used = 0;

	if (guess != NULL)
		snprintf(hint, sizeof(hint), " (did you mean \"%s\"?)", guess);
	for (size_t i = 0; i < n && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
		    i == 0 ? "" : ", ", names[i]);
	errors_add(r->errs, k->line, "unknown %s %s%s; allowed: %s%s", what,
	    errors_quote(k->text, k->len).text, hint, list, used < sizeof(list) ? "" : "...");
}
