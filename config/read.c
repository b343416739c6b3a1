/*
 * config/read.c - from YAML events to values, with every mistake told where it stands.
 *
 * After a mistake reading goes on behind the value that has it, so that one run tells them all.
 * Every function that reads a node finds its first event in ev->now and leaves its last one there.
 */
#include <string.h>

#include "events.h"
#include "nearest.h"
#include "obj.h"
#include "private.h"

struct reader {
	struct events		 ev;
	struct config		*c;
	struct config_errors	*errs;
	int			 actors_line;
};

/* A key while its value is read. */
struct key {
	const char	*text;
	size_t		 len;
	int		 line;
};

/* The mapping that is being read: its name for errors, and who reads the value of a key. */
struct place {
	const char	 *name;
	enum section	  section;	/* only for on_setting */
	void		(*on_key)(struct reader *, const struct place *, const struct key *);
};

static void on_root(struct reader *, const struct place *, const struct key *);
static void on_actor(struct reader *, const struct place *, const struct key *);
static void on_setting(struct reader *, const struct place *, const struct key *);
static void read_document(struct reader *);
static void read_mapping(struct reader *, const struct place *);
static void read_section(struct reader *, enum section, const struct key *);
static void read_value(struct reader *, size_t, const struct key *);
static void read_enabled(struct reader *, struct config_section *, const struct key *);
static bool take_key(struct reader *, yaml_event_t *);
static bool is_first(struct reader *, int *, const struct key *);
static bool is_scalar(struct reader *, const struct setting *, const struct key *);
static void tell_fault(struct reader *, const struct setting *, const struct key *,
    enum value_fault);
static void tell_misplaced(struct reader *, const struct key *, const char *);
static void tell_unknown(struct reader *, const struct key *, const char *, const char *const *,
    size_t);

static bool
equals(const struct key *k, const char *name)
{
	return strlen(name) == k->len && memcmp(name, k->text, k->len) == 0;
}

bool
read_yaml(struct config *c, const char *text, size_t len, struct config_errors *errs)
{
	struct reader r = { .c = c, .errs = errs };

	if (!events_open(&r.ev, text, len, errs))
		return false;
	read_document(&r);
	events_close(&r.ev);
	return errs->count == 0;
}

static void
read_document(struct reader *r)
{
	static const struct place root = { .name = "the file", .on_key = on_root };

	/* the start of the stream, then that of a document or, in an empty file, the end */
	if (!events_next(&r->ev) || !events_next(&r->ev) || r->ev.now.type == YAML_STREAM_END_EVENT)
		return;
	if (!events_next(&r->ev))
		return;
	read_mapping(r, &root);
	/* the end of the document, then that of the stream */
	if (!events_next(&r->ev) || !events_next(&r->ev))
		return;
	if (r->ev.now.type != YAML_STREAM_END_EVENT)
		errors_add(r->errs, events_line(&r->ev),
		    "a second document starts here; one file holds one document");
}

static void
on_root(struct reader *r, const struct place *at, const struct key *k)
{
	static const struct place actors = { .name = "actors", .on_key = on_actor };
	static const char *const allowed[] = { "supervisor", "actors" };

	(void)at;
	if (equals(k, "supervisor"))
		read_section(r, SECTION_SUPERVISOR, k);
	else if (schema_section(k->text, k->len) != SECTION_NONE)
		tell_misplaced(r, k, "is an actor; its section stands under actors");
	else if (!equals(k, "actors"))
		tell_unknown(r, k, "key", allowed, NITEMS(allowed));
	else if (is_first(r, &r->actors_line, k))
		read_mapping(r, &actors);
}

static void
on_actor(struct reader *r, const struct place *at, const struct key *k)
{
	const enum section s = schema_section(k->text, k->len);
	const char *names[SECTION_MAX];
	size_t n = 0;

	(void)at;
	if (s == SECTION_SUPERVISOR) {
		tell_misplaced(r, k, "is not an actor; its section stands beside actors");
		return;
	}
	if (s != SECTION_NONE) {
		read_section(r, s, k);
		return;
	}
	while ((names[n] = config_actor_name(n)) != NULL)
		n++;
	tell_unknown(r, k, "actor", names, n);
}

static void
on_setting(struct reader *r, const struct place *at, const struct key *k)
{
	const bool actor = at->section != SECTION_SUPERVISOR;
	const size_t i = schema_setting(at->section, k->text, k->len);
	const char *names[SETTING_MAX + 1];
	char what[64];
	size_t n = 0;

	if (i < SETTING_MAX) {
		read_value(r, i, k);
		return;
	}
	if (actor && equals(k, schema_enabled.key)) {
		read_enabled(r, &r->c->sections[at->section], k);
		return;
	}
	if (actor)
		names[n++] = schema_enabled.key;
	for (size_t j = 0; j < SETTING_MAX; j++) {
		if (schema_settings[j].section == at->section)
			names[n++] = schema_settings[j].key;
	}
	snprintf(what, sizeof(what), "%s key", at->name);
	tell_unknown(r, k, what, names, n);
}

/* Nothing at all is an empty mapping: people leave a section with all its keys commented out. */
static void
read_mapping(struct reader *r, const struct place *at)
{
	if (r->ev.now.type != YAML_MAPPING_START_EVENT) {
		if (r->ev.now.type != YAML_ALIAS_EVENT && !events_null(&r->ev))
			errors_add(r->errs, events_line(&r->ev),
			    "%s must be a mapping of keys to values, not %s", at->name,
			    events_kind(&r->ev));
		events_skip(&r->ev);
		return;
	}
	while (events_next(&r->ev) && r->ev.now.type != YAML_MAPPING_END_EVENT) {
		yaml_event_t key;

		if (!take_key(r, &key)) {
			if (events_next(&r->ev))
				events_skip(&r->ev);
			continue;
		}
		const struct key k = {
			.text = (const char *)key.data.scalar.value,
			.len = key.data.scalar.length,
			.line = (int)key.start_mark.line + 1,
		};
		if (events_next(&r->ev))
			at->on_key(r, at, &k);
		yaml_event_delete(&key);
	}
}

static void
read_section(struct reader *r, enum section s, const struct key *k)
{
	const char *name = schema_section_name(s);
	const struct place at = { .name = name, .section = s, .on_key = on_setting };
	struct config_section *section = &r->c->sections[s];

	if (!is_first(r, &section->line, k))
		return;
	if (s != SECTION_SUPERVISOR)
		section->enabled = CONFIG_ON;
	read_mapping(r, &at);
}

static void
read_value(struct reader *r, size_t setting, const struct key *k)
{
	const struct setting *row = &schema_settings[setting];

	if (!is_first(r, &r->c->values[setting].line, k) || !is_scalar(r, row, k))
		return;
	const char *text = (const char *)r->ev.now.data.scalar.value;
	const enum value_fault f = config_set(r->c, setting, text, r->ev.now.data.scalar.length);
	if (f != VALUE_FAULT_NONE)
		tell_fault(r, row, k, f);
}

static void
read_enabled(struct reader *r, struct config_section *section, const struct key *k)
{
	int64_t on = 0;

	if (!is_first(r, &section->enabled_line, k) || !is_scalar(r, &schema_enabled, k))
		return;
	const char *text = (const char *)r->ev.now.data.scalar.value;
	const enum value_fault f =
	    value_parse(&schema_enabled.rule, text, r->ev.now.data.scalar.length, &on);
	if (f != VALUE_FAULT_NONE)
		tell_fault(r, &schema_enabled, k, f);
	else
		section->enabled = on ? CONFIG_ON : CONFIG_OFF;
}

/* Moves the event of a key to the caller; false, with all of it read, when it cannot be one. */
static bool
take_key(struct reader *r, yaml_event_t *key)
{
	const yaml_event_t *now = &r->ev.now;

	if (now->type != YAML_SCALAR_EVENT) {
		if (now->type != YAML_ALIAS_EVENT)
			errors_add(r->errs, events_line(&r->ev), "a key must be a word, not %s",
			    events_kind(&r->ev));
		events_skip(&r->ev);
		return false;
	}
	if (now->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
	    && strcmp((const char *)now->data.scalar.value, "<<") == 0) {
		errors_add(r->errs, events_line(&r->ev),
		    "a merge key (<<) is not allowed; write the keys out");
		return false;
	}
	*key = *now;
	r->ev.now = (yaml_event_t){ .type = YAML_NO_EVENT };
	return true;
}

/* Notes where a key stands; a second one is told and its value passed over. */
static bool
is_first(struct reader *r, int *line, const struct key *k)
{
	if (*line == 0) {
		*line = k->line;
		return true;
	}
	errors_add(r->errs, k->line, "%s is given twice, first on line %d; keep one",
	    errors_quote(k->text, k->len).text, *line);
	events_skip(&r->ev);
	return false;
}

/* Quotes make text of anything: "5" is not a number, "true" not a boolean. */
static bool
is_scalar(struct reader *r, const struct setting *row, const struct key *k)
{
	const bool quoted = r->ev.now.type == YAML_SCALAR_EVENT
	    && r->ev.now.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	const bool bare = row->rule.type == VALUE_INT || row->rule.type == VALUE_BOOL;
	char allowed[VALUE_ALLOWED_MAX];

	value_allowed(&row->rule, allowed, sizeof(allowed));
	if (r->ev.now.type == YAML_ALIAS_EVENT) {
		return false;
	} else if (r->ev.now.type != YAML_SCALAR_EVENT) {
		errors_add(r->errs, k->line, "%s must be a single value, not %s; allowed: %s",
		    row->key, events_kind(&r->ev), allowed);
		events_skip(&r->ev);
		return false;
	} else if (events_null(&r->ev)) {
		errors_add(r->errs, k->line,
		    "%s has no value; leave the key out for its default, %s; allowed: %s", row->key,
		    row->initial[0] == '\0' ? "\"\"" : row->initial, allowed);
		return false;
	} else if (quoted && bare) {
		errors_add(r->errs, k->line, "%s is quoted, which makes it text; allowed: %s",
		    row->key, allowed);
		return false;
	}
	return true;
}

/* A secret pasted where its file should be named must not end up in a log: it is not shown. */
static void
tell_fault(struct reader *r, const struct setting *row, const struct key *k, enum value_fault f)
{
	const char *text = (const char *)r->ev.now.data.scalar.value;
	const bool hidden = row->rule.type == VALUE_CREDENTIAL;
	char allowed[VALUE_ALLOWED_MAX];

	errors_add(r->errs, k->line, "%s: %s %s; allowed: %s", row->key,
	    hidden ? "the value" : errors_quote(text, r->ev.now.data.scalar.length).text,
	    value_fault_text(f), value_allowed(&row->rule, allowed, sizeof(allowed)));
}

/* Like tell_unknown it passes over the value. */
static void
tell_misplaced(struct reader *r, const struct key *k, const char *where)
{
	errors_add(r->errs, k->line, "%s %s", errors_quote(k->text, k->len).text, where);
	events_skip(&r->ev);
}

/* Names what is meant, or else what there is; passes over the value. */
static void
tell_unknown(struct reader *r, const struct key *k, const char *what, const char *const *names,
    size_t n)
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
	events_skip(&r->ev);
}
