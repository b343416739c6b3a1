/*
 * config/yaml_tree.c - libyaml's events made into a tree.
 *
 * Depth and anchors are counted while reading: libyaml's time grows with their square (measured: 88 s
 * for 1 MB of anchors, more for brackets).
 */
#include "yaml_tree.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "keytab.h"
#include "obj.h"

struct reader {
	struct yaml_tree		*tree;
	const struct yaml_limits	*limits;
	yaml_parser_t			 yaml;
	yaml_event_t			 now;
	int				 depth;
	struct keytab			*anchors;	/* the last const struct yaml_value * of each name */
	size_t				 nanchors;	/* also those of a name that came again */
};

static bool read_documents(struct reader *);
static bool next(struct reader *);
static bool read_value(struct reader *, const struct yaml_value **);
static bool read_members(struct reader *, struct yaml_value *, yaml_event_type_t);
static struct yaml_value *new_value(struct reader *, enum yaml_kind);
static bool note_anchor(struct reader *, const yaml_char_t *, const struct yaml_value *);
static const struct yaml_value *find_anchor(const struct reader *, const char *);
static bool fail(struct reader *, enum yaml_mistake, size_t);
static void *room_for(void *, size_t, size_t);

struct yaml_tree *
yaml_tree_read(const char *text, size_t len, const struct yaml_limits *limits)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t skipped = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
	struct reader r = { .tree = obj_alloc(sizeof(*r.tree)), .limits = limits,
		.anchors = keytab_new(sizeof(const struct yaml_value *)) };

	MUST(yaml_parser_initialize(&r.yaml) == 1);
	yaml_parser_set_input_string(&r.yaml, (const unsigned char *)text + skipped, len - skipped);
	read_documents(&r);
	yaml_event_delete(&r.now);
	/* What the scanner has buffered may be secrets, too. */
	explicit_bzero(r.yaml.raw_buffer.start, (size_t)(r.yaml.raw_buffer.end - r.yaml.raw_buffer.start));
	explicit_bzero(r.yaml.buffer.start, (size_t)(r.yaml.buffer.end - r.yaml.buffer.start));
	yaml_parser_delete(&r.yaml);
	keytab_free(&r.anchors);
	return r.tree;
}

void
yaml_tree_free(struct yaml_tree **tp)
{
	struct yaml_tree *const t = *tp;

	*tp = NULL;
	for (size_t i = 0; t != NULL && i < t->nvalues; i++) {
		if (t->values[i]->text != NULL)
			explicit_bzero(t->values[i]->text, t->values[i]->len);
		free(t->values[i]->text);
		free(t->values[i]->members);
		free(t->values[i]);
	}
	if (t != NULL) {
		free(t->values);
		free(t->documents);
	}
	free(t);
}

bool
yaml_value_null(const struct yaml_value *v)
{
	static const char *const names[] = { "", "~", "null", "Null", "NULL" };

	for (size_t i = 0; v->kind == YAML_TEXT && v->plain && i < NITEMS(names); i++) {
		if (strcmp(v->text, names[i]) == 0)
			return true;
	}
	return false;
}

static bool
read_documents(struct reader *r)
{
	struct yaml_tree *const t = r->tree;
	size_t found = 0;

	if (!next(r))		/* the start of the stream */
		return false;
	while (r->limits->documents == 0 || found < r->limits->documents) {
		if (!next(r) || r->now.type == YAML_STREAM_END_EVENT)
			return false;
		t->documents = room_for(t->documents, t->ndocuments, sizeof(*t->documents));
		struct yaml_document *const d = &t->documents[t->ndocuments++];
		*d = (struct yaml_document){ .line = (int)r->now.start_mark.line + 1, .first = t->nvalues };
		if (!next(r) || !read_value(r, &d->root) || !next(r))	/* the end of the document */
			return false;
		found += !yaml_value_null(d->root);
	}
	return true;
}

static bool
next(struct reader *r)
{
	yaml_event_delete(&r->now);
	if (yaml_parser_parse(&r->yaml, &r->now) == 1)
		return true;
	r->now.type = YAML_NO_EVENT;
	const char *const context = r->yaml.context;
	snprintf(r->tree->mistake_text, sizeof(r->tree->mistake_text), "%s%s%s",
	    r->yaml.problem == NULL ? "unreadable" : r->yaml.problem, context == NULL ? "" : " ",
	    context == NULL ? "" : context);
	return fail(r, YAML_SYNTAX, r->yaml.problem_mark.line);
}

/* The value whose first event is in r->now, to *place at once; its last event is there afterwards. */
static bool
read_value(struct reader *r, const struct yaml_value **place)
{
	const yaml_event_t *const e = &r->now;
	const size_t line = e->start_mark.line;
	struct yaml_value *v;
	bool ok = true;

	switch (e->type) {
	case YAML_SCALAR_EVENT:
		*place = v = new_value(r, YAML_TEXT);
		v->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		v->tagged = e->data.scalar.tag != NULL;
		v->text = (char *)e->data.scalar.value;
		v->len = e->data.scalar.length;
		r->now.data.scalar.value = NULL;
		return note_anchor(r, e->data.scalar.anchor, v);
	case YAML_ALIAS_EVENT:
		*place = find_anchor(r, (const char *)e->data.alias.anchor);
		if (*place == NULL && r->limits->anchors > 0) {
			snprintf(r->tree->mistake_text, sizeof(r->tree->mistake_text),
			    "found undefined alias");
			return fail(r, YAML_SYNTAX, line);
		}
		if (*place == NULL)
			*place = new_value(r, YAML_ALIAS);
		return true;
	case YAML_MAPPING_START_EVENT:
		*place = v = new_value(r, YAML_MAP);
		v->tagged = e->data.mapping_start.tag != NULL;
		ok = note_anchor(r, e->data.mapping_start.anchor, v);
		break;
	default:
		MUST(e->type == YAML_SEQUENCE_START_EVENT);
		*place = v = new_value(r, YAML_LIST);
		v->tagged = e->data.sequence_start.tag != NULL;
		ok = note_anchor(r, e->data.sequence_start.anchor, v);
		break;
	}
	if (!ok)
		return false;
	if (++r->depth > r->limits->depth)
		return fail(r, YAML_TOO_DEEP, line);
	ok = read_members(r, v, v->kind == YAML_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
	r->depth--;
	return ok;
}

static bool
read_members(struct reader *r, struct yaml_value *v, yaml_event_type_t end)
{
	while (next(r)) {
		struct yaml_member m = { .key = NULL };

		if (r->now.type == end)
			return true;
		if (v->kind == YAML_MAP && (!read_value(r, &m.key) || !next(r)))
			return false;
		v->members = room_for(v->members, v->count, sizeof(*v->members));
		struct yaml_member *const place = &v->members[v->count++];
		*place = m;
		if (!read_value(r, &place->value)) {
			v->count -= place->value == NULL;
			return false;
		}
	}
	return false;
}

static struct yaml_value *
new_value(struct reader *r, enum yaml_kind kind)
{
	struct yaml_tree *const t = r->tree;
	struct yaml_value *const v = obj_alloc(sizeof(*v));

	*v = (struct yaml_value){ .kind = kind, .line = (int)r->now.start_mark.line + 1 };
	t->values = room_for(t->values, t->nvalues, sizeof(struct yaml_value *));
	t->values[t->nvalues++] = v;
	return v;
}

static bool
note_anchor(struct reader *r, const yaml_char_t *name, const struct yaml_value *v)
{
	if (name == NULL)
		return true;
	r->tree->values[r->tree->nvalues - 1]->anchored = true;
	if (r->limits->anchors == 0)
		return true;
	if (r->nanchors++ == r->limits->anchors)
		return fail(r, YAML_TOO_MANY_ANCHORS, r->now.start_mark.line);
	const uint32_t id = keytab_add(r->anchors, (const char *)name, strlen((const char *)name), NULL);
	*(const struct yaml_value **)keytab_value(r->anchors, id) = v;
	return true;
}

static const struct yaml_value *
find_anchor(const struct reader *r, const char *name)
{
	const uint32_t id = keytab_find(r->anchors, name, strlen(name));

	return id == KEYTAB_NONE ? NULL : *(const struct yaml_value **)keytab_value(r->anchors, id);
}

static bool
fail(struct reader *r, enum yaml_mistake mistake, size_t line)
{
	r->tree->mistake = mistake;
	r->tree->mistake_line = (int)line + 1;
	return false;
}

/* An array of n things with room for one more; grows at powers of two. */
static void *
room_for(void *array, size_t n, size_t size)
{
	return (n & (n - 1)) == 0 ? obj_realloc(array, (n == 0 ? 1 : 2 * n) * size) : array;
}
