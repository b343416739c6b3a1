/* sim/base/sim_yaml.c - libyaml's events into jansson's values. */
#include "sim_yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "obj.h"

enum { DEPTH_MAX = 200 };

struct yaml_reader {
	yaml_parser_t	 yaml;
	yaml_event_t	 now;
	int		 depth;
	char		*err;
	size_t		 size;
};

static json_t *parse(const char *, size_t, bool, char *, size_t);
static bool next(struct yaml_reader *);
static json_t *read_node(struct yaml_reader *);
static json_t *read_mapping(struct yaml_reader *);
static json_t *read_sequence(struct yaml_reader *);
static json_t *read_scalar(struct yaml_reader *);
static json_t *plain(const char *, size_t);
static json_t *number(const char *, size_t);
static json_t *fail(struct yaml_reader *, const char *, ...) __attribute__((format(printf, 2, 3)));

json_t *
sim_yaml_parse(const char *text, size_t len, char *err, size_t size)
{
	json_t *const all = parse(text, len, true, err, size);

	if (all == NULL || json_array_size(all) == 0) {
		const bool failed = all == NULL;

		json_decref(all);
		return failed ? NULL : json_null();
	}
	json_t *const first = json_incref(json_array_get(all, 0));
	json_decref(all);
	return first;
}

json_t *
sim_yaml_parse_all(const char *text, size_t len, char *err, size_t size)
{
	return parse(text, len, false, err, size);
}

/* Documents that are not empty; with `one`, the first of them. */
static json_t *
parse(const char *text, size_t len, bool one, char *err, size_t size)
{
	struct yaml_reader r = { .err = err, .size = size };
	json_t *all = json_array();
	/* JSON first: libyaml knows no surrogate pairs and limits the length of keys. */
	json_t *const whole = one ? json_loadb(text, len, 0, NULL) : NULL;

	if (whole != NULL) {
		json_array_append_new(all, whole);
		return all;
	}
	MUST(yaml_parser_initialize(&r.yaml) == 1);
	yaml_parser_set_input_string(&r.yaml, (const unsigned char *)text, len);
	bool fine = next(&r);		/* the start of the stream */
	while (fine && (fine = next(&r)) && r.now.type == YAML_DOCUMENT_START_EVENT) {
		json_t *const doc = next(&r) ? read_node(&r) : NULL;

		fine = doc != NULL && next(&r);		/* the end of the document */
		if (fine && !json_is_null(doc))
			json_array_append(all, doc);
		json_decref(doc);
		if (one && json_array_size(all) > 0)
			break;
	}
	if (!fine) {
		json_decref(all);
		all = NULL;
	}
	yaml_event_delete(&r.now);
	yaml_parser_delete(&r.yaml);
	return all;
}

static bool
next(struct yaml_reader *r)
{
	yaml_event_delete(&r->now);
	if (yaml_parser_parse(&r->yaml, &r->now) == 1)
		return true;
	r->now.type = YAML_NO_EVENT;
	snprintf(r->err, r->size, "yaml: line %zu: %s", r->yaml.problem_mark.line + 1,
	    r->yaml.problem != NULL ? r->yaml.problem : "not YAML");
	return false;
}

/* The node whose first event is in r->now; its last event is there afterwards. */
static json_t *
read_node(struct yaml_reader *r)
{
	json_t *value;

	if (++r->depth > DEPTH_MAX)
		return fail(r, "nested deeper than %d", DEPTH_MAX);
	switch (r->now.type) {
	case YAML_MAPPING_START_EVENT:
		value = read_mapping(r);
		break;
	case YAML_SEQUENCE_START_EVENT:
		value = read_sequence(r);
		break;
	case YAML_SCALAR_EVENT:
		value = read_scalar(r);
		break;
	default:
		value = fail(r, "anchors and aliases are not read here");
		break;
	}
	r->depth--;
	return value;
}

static json_t *
read_mapping(struct yaml_reader *r)
{
	json_t *const object = json_object();

	while (next(r)) {
		if (r->now.type == YAML_MAPPING_END_EVENT)
			return object;
		if (r->now.type != YAML_SCALAR_EVENT) {
			fail(r, "a key must be a text");
			break;
		}
		char *const key = obj_strdup((const char *)r->now.data.scalar.value);
		json_t *const value = next(r) ? read_node(r) : NULL;
		const bool set = value != NULL && json_object_set_new(object, key, value) == 0;
		free(key);
		if (!set)
			break;
	}
	json_decref(object);
	return NULL;
}

static json_t *
read_sequence(struct yaml_reader *r)
{
	json_t *const array = json_array();

	while (next(r)) {
		if (r->now.type == YAML_SEQUENCE_END_EVENT)
			return array;
		json_t *const value = read_node(r);
		if (value == NULL)
			break;
		json_array_append_new(array, value);
	}
	json_decref(array);
	return NULL;
}

static json_t *
read_scalar(struct yaml_reader *r)
{
	const char *const text = (const char *)r->now.data.scalar.value;
	const size_t len = r->now.data.scalar.length;
	json_t *value = NULL;

	if (r->now.data.scalar.plain_implicit)
		value = plain(text, len);
	if (value == NULL)
		value = json_stringn(text, len);
	return value != NULL ? value : fail(r, "a text is not UTF-8");
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
fail(struct yaml_reader *r, const char *fmt, ...)
{
	va_list ap;
	const int n = snprintf(r->err, r->size, "yaml: line %zu: ", r->now.start_mark.line + 1);

	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < r->size)
		vsnprintf(r->err + n, r->size - (size_t)n, fmt, ap);
	va_end(ap);
	return NULL;
}
