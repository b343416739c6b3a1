/* sim/base/sim_yaml.c - a YAML tree into jansson's values. */
#include "sim_yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml_tree.h"
#include "obj.h"

enum { DEPTH_MAX = 200 };

static json_t *parse(const char *, size_t, size_t, char *, size_t);
static json_t *to_json(const struct yaml_value *, char *, size_t);
static json_t *add_members(json_t *, const struct yaml_value *, char *, size_t);
static json_t *plain(const char *, size_t);
static json_t *number(const char *, size_t);
static json_t *fail(char *, size_t, int, const char *);

json_t *
sim_yaml_parse(const char *text, size_t len, char *err, size_t size)
{
	/* JSON first: libyaml does not read surrogate pairs and limits the length of keys. */
	json_t *const whole = json_loadb(text, len, 0, NULL);

	if (whole != NULL)
		return whole;
	json_auto_t *all = parse(text, len, 1, err, size);
	return all == NULL ? NULL
	    : json_array_size(all) == 0 ? json_null() : json_incref(json_array_get(all, 0));
}

json_t *
sim_yaml_parse_all(const char *text, size_t len, char *err, size_t size)
{
	return parse(text, len, 0, err, size);
}

/* Documents that are not empty: the first few of them, or all. */
static json_t *
parse(const char *text, size_t len, size_t documents, char *err, size_t size)
{
	const struct yaml_limits limits = { .depth = DEPTH_MAX, .documents = documents };
	struct yaml_tree *tree = yaml_tree_read(text, len, &limits);
	json_auto_t *all = json_array();
	bool fine = tree->mistake == YAML_FINE;

	if (!fine)
		fail(err, size, tree->mistake_line,
		    tree->mistake == YAML_SYNTAX ? tree->mistake_text : "nested too deep");
	for (size_t i = 0; fine && i < tree->ndocuments; i++) {
		json_auto_t *doc = to_json(tree->documents[i].root, err, size);

		fine = doc != NULL;
		if (fine && !json_is_null(doc))
			json_array_append(all, doc);
	}
	yaml_tree_free(&tree);
	return fine ? json_incref(all) : NULL;
}

static json_t *
to_json(const struct yaml_value *v, char *err, size_t size)
{
	json_t *value = NULL;

	if (v->kind == YAML_ALIAS)
		return fail(err, size, v->line, "anchors and aliases are not read here");
	if (v->kind != YAML_TEXT)
		return add_members(v->kind == YAML_MAP ? json_object() : json_array(), v, err, size);
	if (v->plain && !v->tagged)
		value = plain(v->text, v->len);
	if (value == NULL)
		value = json_stringn(v->text, v->len);
	return value != NULL ? value : fail(err, size, v->line, "a text is not UTF-8");
}

static json_t *
add_members(json_t *to, const struct yaml_value *v, char *err, size_t size)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct yaml_member *const m = &v->members[i];
		json_t *const value = m->key != NULL && m->key->kind != YAML_TEXT
		    ? fail(err, size, m->key->line, "a key must be a text") : to_json(m->value, err, size);

		if (value == NULL || (m->key == NULL ? json_array_append_new(to, value)
						     : json_object_set_new(to, m->key->text, value)) != 0) {
			json_decref(to);
			return NULL;
		}
	}
	return to;
}

/* NULL: just a text. */
static json_t *
plain(const char *text, size_t len)
{
	static const struct {
		const char	*word;
		char		 means;	/* n, t, f */
	} words[] = {
		{ "", 'n' }, { "~", 'n' }, { "null", 'n' }, { "Null", 'n' }, { "NULL", 'n' },
		{ "true", 't' }, { "True", 't' }, { "TRUE", 't' }, { "yes", 't' }, { "Yes", 't' }, { "YES", 't' },
		{ "on", 't' }, { "On", 't' }, { "ON", 't' },
		{ "false", 'f' }, { "False", 'f' }, { "FALSE", 'f' }, { "no", 'f' }, { "No", 'f' }, { "NO", 'f' },
		{ "off", 'f' }, { "Off", 'f' }, { "OFF", 'f' },
	};

	for (size_t i = 0; i < NITEMS(words); i++) {
		if (strcmp(text, words[i].word) == 0)
			return words[i].means == 'n' ? json_null() : json_boolean(words[i].means == 't');
	}
	return strchr("+-.0123456789", text[0]) != NULL ? number(text, len) : NULL;
}

static json_t *
number(const char *text, size_t len)
{
	char *end;

	if (strspn(text, "+-.0123456789eE") != len && strncmp(text, "0x", 2) != 0)
		return NULL;
	errno = 0;
	const long long whole = strtoll(text, &end, 0);
	if (end == text + len && errno == 0)
		return json_integer(whole);
	/* Hexadecimal floats, "infinity" and the like are texts. */
	if (strspn(text, "+-.0123456789eE") != len || strcspn(text, "0123456789") == len)
		return NULL;
	errno = 0;
	const double real = strtod(text, &end);
	return end == text + len && errno == 0 ? json_real(real) : NULL;
}

static json_t *
fail(char *err, size_t size, int line, const char *why)
{
	snprintf(err, size, "yaml: line %d: %s", line, why);
	return NULL;
}
