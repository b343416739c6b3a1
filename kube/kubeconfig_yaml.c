/*
 * kube/kubeconfig_yaml.c - libyaml's documents behind a few typed questions.
 *
 * An alias is only another reference to a node: nothing is copied, and only known keys are
 * followed, so that documents made to explode do not. yaml_json, which follows everything, counts.
 * Depth and anchors are counted before: libyaml's time grows with their square (measured: 88 s for
 * 1 MB of anchors, more for brackets).
 */
#include "kubeconfig_yaml.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "obj.h"
#include "utf8.h"

enum { DEPTH_MAX = 32, ANCHORS_MAX = 256, JSON_DEPTH_MAX = 16, JSON_NODES_MAX = 4096 };

#define NO_LINE	SIZE_MAX

static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

/* YAML 1.1, as kubectl reads it. */
static const struct {
	const char	*text;
	bool		 value;
} flags[] = {
	{ "true", true }, { "True", true }, { "TRUE", true },
	{ "yes", true }, { "Yes", true }, { "YES", true }, { "on", true }, { "On", true }, { "ON", true },
	{ "false", false }, { "False", false }, { "FALSE", false },
	{ "no", false }, { "No", false }, { "NO", false }, { "off", false }, { "Off", false }, { "OFF", false },
};

static void refuse_at(struct yaml_file *, size_t, const char *, ...) __attribute__((format(printf, 3, 4)));
static void complain(struct yaml_file *, size_t, const char *, va_list) __attribute__((format(printf, 3, 0)));
static char *folder_of(const char *);
static bool within_limits(struct yaml_file *, yaml_parser_t *);
static bool load(struct yaml_file *, yaml_parser_t *);
static bool run(struct yaml_file *, const char *, size_t, bool (*)(struct yaml_file *, yaml_parser_t *));
static void tell_syntax(struct yaml_file *, const yaml_parser_t *);
static const yaml_node_t *node_at(struct yaml_file *, int);
static bool is_plain(const yaml_node_t *);
static bool is_null(const yaml_node_t *);
static bool is_key(const yaml_node_t *, const char *);
static json_t *to_json(struct yaml_file *, const yaml_node_t *, int, int *);
static json_t *scalar_to_json(const yaml_node_t *);

bool
yaml_file_open(struct yaml_file *f, const char *path, const char *text, size_t len, char *err,
    size_t size, bool *failed)
{
	*f = (struct yaml_file){ .path = obj_strdup(path), .folder = folder_of(path), .err = err,
		.size = size, .failed = failed };
	return run(f, text, len, within_limits) && run(f, text, len, load);
}

void
yaml_file_close(struct yaml_file *f)
{
	if (f->loaded) {
		for (yaml_node_t *n = f->doc.nodes.start; n < f->doc.nodes.top; n++) {
			if (n->type == YAML_SCALAR_NODE)
				explicit_bzero(n->data.scalar.value, n->data.scalar.length);
		}
		yaml_document_delete(&f->doc);
	}
	free(f->path);
	free(f->folder);
	*f = (struct yaml_file){ .path = NULL };
}

const yaml_node_t *
yaml_file_root(struct yaml_file *f)
{
	const yaml_node_t *const root = f->loaded ? yaml_document_get_root_node(&f->doc) : NULL;

	if (root == NULL || is_null(root))
		return NULL;
	if (root->type != YAML_MAPPING_NODE)
		yaml_refuse(f, root, "a kubeconfig is a mapping (apiVersion, clusters, users, contexts)");
	return *f->failed ? NULL : root;
}

const yaml_node_t *
yaml_get(struct yaml_file *f, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *found = NULL;

	if (map == NULL || *f->failed)
		return NULL;
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *const name = node_at(f, p->key);

		if (is_key(name, "<<"))
			yaml_refuse(f, name, "a merge key (<<) is not supported; write the values out");
		if (!is_key(name, key))
			continue;
		if (found != NULL)
			yaml_refuse(f, name, "%s stands here a second time", key);
		found = node_at(f, p->value);
	}
	return *f->failed || found == NULL || is_null(found) ? NULL : found;
}

const yaml_node_t *
yaml_get_map(struct yaml_file *f, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *const n = yaml_get(f, map, key);

	if (n != NULL && n->type != YAML_MAPPING_NODE)
		yaml_refuse(f, n, "%s must be a mapping", key);
	return *f->failed ? NULL : n;
}

const yaml_node_t *
yaml_get_list(struct yaml_file *f, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *const n = yaml_get(f, map, key);

	if (n != NULL && n->type != YAML_SEQUENCE_NODE)
		yaml_refuse(f, n, "%s must be a list", key);
	return *f->failed ? NULL : n;
}

const char *
yaml_get_text(struct yaml_file *f, const yaml_node_t *map, const char *key, size_t *len)
{
	const yaml_node_t *const n = yaml_get(f, map, key);

	if (n == NULL) {
		*len = 0;
		return NULL;
	}
	return yaml_text(f, n, key, len);
}

bool
yaml_get_flag(struct yaml_file *f, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *const n = yaml_get(f, map, key);

	if (n == NULL)
		return false;
	for (size_t i = 0; is_plain(n) && i < NITEMS(flags); i++) {
		if (strcmp((const char *)n->data.scalar.value, flags[i].text) == 0)
			return flags[i].value;
	}
	yaml_refuse(f, n, "%s must be true or false", key);
	return false;
}

const yaml_node_t *
yaml_item(struct yaml_file *f, const yaml_node_t *list, size_t i)
{
	if (list == NULL || *f->failed
	    || i >= (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
		return NULL;
	return node_at(f, list->data.sequence.items.start[i]);
}

const char *
yaml_text(struct yaml_file *f, const yaml_node_t *node, const char *key, size_t *len)
{
	*len = 0;
	if (node->type != YAML_SCALAR_NODE) {
		yaml_refuse(f, node, "%s must be a text", key);
		return NULL;
	}
	const char *const text = (const char *)node->data.scalar.value;
	*len = node->data.scalar.length;
	for (size_t i = 0, n; i < *len; i += n) {
		n = utf8_length(text + i, *len - i);
		const unsigned char c = (unsigned char)text[i];
		const bool c1 = n == 2 && c == 0xc2 && (unsigned char)text[i + 1] < 0xa0;
		if (n == 0 || c < ' ' || c == 0x7f || c1) {
			yaml_refuse(f, node, "%s holds a line break or a control character", key);
			*len = 0;
			return NULL;
		}
	}
	return text;
}

json_t *
yaml_json(struct yaml_file *f, const yaml_node_t *node)
{
	int budget = JSON_NODES_MAX;

	return *f->failed ? NULL : to_json(f, node, JSON_DEPTH_MAX, &budget);
}

void
yaml_refuse(struct yaml_file *f, const yaml_node_t *node, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(f, node == NULL ? NO_LINE : node->start_mark.line, fmt, ap);
	va_end(ap);
}

static void
refuse_at(struct yaml_file *f, size_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(f, line, fmt, ap);
	va_end(ap);
}

/* Lines count from 0 here. */
static void
complain(struct yaml_file *f, size_t line, const char *fmt, va_list ap)
{
	if (*f->failed)
		return;
	*f->failed = true;
	const int n = line == NO_LINE ? snprintf(f->err, f->size, "%s: ", f->path)
				      : snprintf(f->err, f->size, "%s:%zu: ", f->path, line + 1);
	if (n >= 0 && (size_t)n < f->size)
		vsnprintf(f->err + n, f->size - (size_t)n, fmt, ap);
}

static char *
folder_of(const char *path)
{
	char *const copy = obj_strdup(path);
	const char *const folder = dirname(copy);
	char *const here = folder[0] == '/' ? NULL : getcwd(NULL, 0);
	char *absolute = NULL;

	MUST(asprintf(&absolute, "%s%s%s", here == NULL ? "" : here, here == NULL ? "" : "/", folder) != -1);
	free(here);
	free(copy);
	return absolute;
}

static bool
run(struct yaml_file *f, const char *text, size_t len, bool (*read)(struct yaml_file *, yaml_parser_t *))
{
	yaml_parser_t parser;

	MUST(yaml_parser_initialize(&parser) == 1);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	const bool ok = read(f, &parser);
	/* What the scanner has buffered are secrets too. */
	explicit_bzero(parser.raw_buffer.start, (size_t)(parser.raw_buffer.end - parser.raw_buffer.start));
	explicit_bzero(parser.buffer.start, (size_t)(parser.buffer.end - parser.buffer.start));
	yaml_parser_delete(&parser);
	return ok;
}

static bool
within_limits(struct yaml_file *f, yaml_parser_t *parser)
{
	int depth = 0, anchors = 0;
	bool ended = false;

	while (!ended && !*f->failed) {
		yaml_event_t e;

		if (yaml_parser_parse(parser, &e) == 0) {
			tell_syntax(f, parser);
			break;
		}
		depth += e.type == YAML_MAPPING_START_EVENT || e.type == YAML_SEQUENCE_START_EVENT;
		depth -= e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT;
		anchors += (e.type == YAML_SCALAR_EVENT && e.data.scalar.anchor != NULL)
		    || (e.type == YAML_MAPPING_START_EVENT && e.data.mapping_start.anchor != NULL)
		    || (e.type == YAML_SEQUENCE_START_EVENT && e.data.sequence_start.anchor != NULL);
		if (depth > DEPTH_MAX || anchors > ANCHORS_MAX)
			refuse_at(f, e.start_mark.line, "more than %d levels or %d anchors", DEPTH_MAX,
			    ANCHORS_MAX);
		ended = e.type == YAML_STREAM_END_EVENT;
		if (e.type == YAML_SCALAR_EVENT)
			explicit_bzero(e.data.scalar.value, e.data.scalar.length);
		yaml_event_delete(&e);
	}
	return !*f->failed;
}

static bool
load(struct yaml_file *f, yaml_parser_t *parser)
{
	yaml_document_t second;

	f->loaded = yaml_parser_load(parser, &f->doc) == 1;
	const bool more = f->loaded && yaml_document_get_root_node(&f->doc) != NULL
	    && yaml_parser_load(parser, &second) == 1;
	if (more) {
		const yaml_node_t *const root = yaml_document_get_root_node(&second);

		if (root != NULL)
			yaml_refuse(f, root, "a second document starts here; a kubeconfig is one");
		yaml_document_delete(&second);
	}
	if (parser->error != YAML_NO_ERROR)
		tell_syntax(f, parser);
	return !*f->failed;
}

/* libyaml's complaints are constant texts: they hold nothing of the file. */
static void
tell_syntax(struct yaml_file *f, const yaml_parser_t *parser)
{
	refuse_at(f, parser->problem_mark.line, "not YAML: %s%s%s",
	    parser->problem == NULL ? "unreadable" : parser->problem,
	    parser->context == NULL ? "" : " ", parser->context == NULL ? "" : parser->context);
}

static const yaml_node_t *
node_at(struct yaml_file *f, int index)
{
	const yaml_node_t *const n = yaml_document_get_node(&f->doc, index);

	MUST(n != NULL);
	return n;
}

static bool
is_plain(const yaml_node_t *n)
{
	return n->type == YAML_SCALAR_NODE && n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool
is_null(const yaml_node_t *n)
{
	for (size_t i = 0; is_plain(n) && i < NITEMS(nulls); i++) {
		if (strcmp((const char *)n->data.scalar.value, nulls[i]) == 0)
			return true;
	}
	return false;
}

static bool
is_key(const yaml_node_t *n, const char *key)
{
	return n->type == YAML_SCALAR_NODE && n->data.scalar.length == strlen(key)
	    && memcmp(n->data.scalar.value, key, n->data.scalar.length) == 0;
}

static json_t *
to_json(struct yaml_file *f, const yaml_node_t *n, int depth, int *budget)
{
	if (depth == 0 || --*budget < 0) {
		yaml_refuse(f, n, "too deep or too large (%d levels, %d values)", JSON_DEPTH_MAX,
		    JSON_NODES_MAX);
		return NULL;
	}
	if (n->type == YAML_SCALAR_NODE)
		return scalar_to_json(n);
	json_t *const out = n->type == YAML_SEQUENCE_NODE ? json_array() : json_object();
	if (n->type == YAML_SEQUENCE_NODE) {
		for (size_t i = 0; !*f->failed && yaml_item(f, n, i) != NULL; i++)
			json_array_append_new(out, to_json(f, yaml_item(f, n, i), depth - 1, budget));
	} else {
		for (const yaml_node_pair_t *p = n->data.mapping.pairs.start;
		     p < n->data.mapping.pairs.top && !*f->failed; p++) {
			size_t len;
			const char *const key = yaml_text(f, node_at(f, p->key), "a key", &len);

			if (key != NULL)
				json_object_setn_new(out, key, len,
				    to_json(f, node_at(f, p->value), depth - 1, budget));
		}
	}
	if (!*f->failed)
		return out;
	json_decref(out);
	return NULL;
}

/* A plain scalar that JSON would read as something else than text is that. */
static json_t *
scalar_to_json(const yaml_node_t *n)
{
	const char *const text = (const char *)n->data.scalar.value;
	json_t *value = NULL;

	if (is_null(n))
		return json_null();
	if (is_plain(n) && text[0] != '"' && text[0] != '[' && text[0] != '{')
		value = json_loadb(text, n->data.scalar.length, JSON_DECODE_ANY, NULL);
	return value != NULL ? value : json_stringn(text, n->data.scalar.length);
}
