/*
 * kube/project_tree.c - makes the field tree from the paths of kinds.h: a node has a JSON name and a
 * protobuf number. Both paths of a field have the same parts, so they are read side by side.
 *
 * The table is part of the program: an error in it ends the process before anything is read.
 */
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "project_private.h"

/* The two paths of one field. */
struct path_pair {
	const char	*json, *proto;
	bool		 both;
};

/* What stands at the end of a path, by the field's type and the letter behind the number. */
static const struct {
	const char	*type;
	char		 letter;
	enum field_node_type	 what;
} leaves[] = {
	{ "str",  '\0', NODE_TEXT },
	{ "str",  't',  NODE_TIME },
	{ "str",  'q',  NODE_QUANTITY },
	{ "str",  'i',  NODE_INT },
	{ "str",  'b',  NODE_FLAG },
	{ "i64",  '\0', NODE_INT },
	{ "i64",  'i',  NODE_INT },
	{ "flag", '\0', NODE_FLAG },
	{ "flag", 'b',  NODE_FLAG },
	{ "map",  '\0', NODE_MAP },
	{ "map",  'q',  NODE_MAP_QUANTITY },
};

static void add_list(struct field_tree *, struct path_pair *, struct field_node *);
static void skip_selection(const char *, struct path_pair *);
static enum field_node_type leaf(const char *, struct path_pair *);
static struct field_node *descend(struct field_tree *, struct field_node *, struct path_pair *);
static struct field_node *child_of(struct field_tree *, struct field_node *, const char *, size_t, uint32_t);
static bool accept(struct path_pair *, char);
static uint32_t read_number(struct path_pair *);
static const char *for_version(const char *, const char *);
static bool is_new(const struct field_node *);

void
field_tree_init(struct field_tree *w)
{
	*w = (struct field_tree){ .nnodes = 1 };
	w->nodes[0] = (struct field_node){ .name = "", .what = NODE_OBJECT, .slot = SLOT_NONE,
	    .column = COLUMN_NONE };
}

uint16_t
field_tree_add(struct field_tree *w, const char *type, const char *json, const char *proto,
    const char *version)
{
	struct path_pair r = { .json = for_version(json, version), .proto = for_version(proto, version) };

	if (r.json == NULL)
		return SLOT_NONE;
	r.both = r.proto != NULL && r.proto[0] != '\0';
	struct field_node *s = descend(w, &w->nodes[0], &r);
	const bool fresh = is_new(s);

	if (fresh || (s->what == NODE_OBJECT && *r.json == '!' && s->slot == SLOT_NONE)) {
		MUST(w->nslots < TREE_SLOTS_MAX);
		s->slot = (uint16_t)w->nslots++;
	}
	MUST(s->slot != SLOT_NONE);
	if (accept(&r, '[')) {
		MUST(fresh && strcmp(type, "rows") == 0);
		add_list(w, &r, s);
	} else if (*r.json == '!') {
		MUST(s->what == NODE_OBJECT && strcmp(type, "str") == 0 && !r.both);
		r.json++;
	} else {
		skip_selection(type, &r);
		const enum field_node_type what = leaf(type, &r);
		MUST(fresh || s->what == what);		/* two fields of one place share its slot */
		s->what = (uint8_t)what;
	}
	MUST(*r.json == '\0' || *r.json == '|');
	MUST(!r.both || *r.proto == '\0' || *r.proto == '|');
	return s->slot;
}

const struct field_node *
field_tree_by_name(const struct field_tree *w, const struct field_node *parent, const char *name, size_t len)
{
	for (uint16_t i = parent->child; i != NODE_NONE; i = w->nodes[i].next) {
		const struct field_node *s = &w->nodes[i];

		if (s->name_len == len && memcmp(s->name, name, len) == 0)
			return s;
	}
	return NULL;
}

const struct field_node *
field_tree_by_number(const struct field_tree *w, const struct field_node *parent, uint32_t number)
{
	for (uint16_t i = parent->child; i != NODE_NONE; i = w->nodes[i].next) {
		if (w->nodes[i].number == number)
			return &w->nodes[i];
	}
	return NULL;
}

/* Behind the bracket: nothing, for a list of texts; or columns, which may lie deeper in a record. */
static void
add_list(struct field_tree *w, struct path_pair *r, struct field_node *list)
{
	list->columns = 1;
	if (accept(r, ']')) {
		list->what = NODE_TEXTS;
		return;
	}
	list->what = NODE_ROWS;
	for (uint8_t n = 0;; n++) {
		struct field_node *s = descend(w, list, r);

		MUST(n < TREE_COLUMNS_MAX && is_new(s));
		s->what = (uint8_t)leaf("str", r);
		s->column = n;
		list->columns = (uint8_t)(n + 1);
		if (accept(r, ']'))
			return;
		MUST(accept(r, ','));
	}
}

/*
 * Which entries of a map a field selects is decided in project_pack.c: another field may have all
 * of them.
 */
static void
skip_selection(const char *type, struct path_pair *r)
{
	if (*r->json != '{')
		return;
	MUST(strcmp(type, "map") == 0);
	r->json += strcspn(r->json, "}");
	MUST(*r->json++ == '}');
}

/* The letter stands in the protobuf path; where there is none, behind a colon in the other. */
static enum field_node_type
leaf(const char *type, struct path_pair *r)
{
	const char *at = r->both ? r->proto : *r->json == ':' ? r->json + 1 : "";
	const char letter = *at >= 'a' && *at <= 'z' ? *at : '\0';

	if (letter != '\0') {
		r->proto += r->both ? 1 : 0;
		r->json += r->both ? 0 : 2;
	}
	size_t i = 0;
	while (i < NITEMS(leaves) && (leaves[i].letter != letter || strcmp(leaves[i].type, type) != 0))
		i++;
	MUST(i < NITEMS(leaves));
	return leaves[i].what;
}

/* Along names and numbers to the last of the path. */
static struct field_node *
descend(struct field_tree *w, struct field_node *s, struct path_pair *r)
{
	do {
		const char *name = r->json;
		const size_t len = strcspn(name, ".,:[]{!|");

		r->json += len;
		s = child_of(w, s, name, len, r->both ? read_number(r) : 0);
	} while (accept(r, '.'));
	return s;
}

static struct field_node *
child_of(struct field_tree *w, struct field_node *parent, const char *name, size_t len, uint32_t number)
{
	uint16_t *link = &parent->child;

	MUST((parent->what == NODE_OBJECT || parent->what == NODE_ROWS) && len > 0 && len < 128);
	for (; *link != NODE_NONE; link = &w->nodes[*link].next) {
		struct field_node *s = &w->nodes[*link];

		if (s->name_len == len && memcmp(s->name, name, len) == 0) {
			MUST(s->number == number);
			return s;
		}
		MUST(number == 0 || s->number != number);
	}
	MUST(w->nnodes < TREE_NODES_MAX);
	struct field_node *s = &w->nodes[w->nnodes];
	*s = (struct field_node){ .name = name, .name_len = (uint8_t)len, .what = NODE_OBJECT,
	    .number = number,
		.slot = SLOT_NONE, .column = COLUMN_NONE, .parent = (uint16_t)(parent - w->nodes) };
	*link = (uint16_t)w->nnodes++;
	return s;
}

/* The same sign in both paths. */
static bool
accept(struct path_pair *r, char sign)
{
	if (*r->json != sign)
		return false;
	r->json++;
	if (r->both)
		MUST(*r->proto++ == sign);
	return true;
}

static uint32_t
read_number(struct path_pair *r)
{
	uint32_t n = 0;

	while (ascii_digit(*r->proto))
		n = n * 10 + (uint32_t)(*r->proto++ - '0');
	MUST(n > 0 && n < 1 << 29);
	return n;
}

/* "v1=a.b|v1beta1=a.c" at one version; a path without versions is every version's. NULL: not in this one. */
static const char *
for_version(const char *path, const char *version)
{
	const size_t len = strlen(version);

	if (strchr(path, '=') == NULL)
		return path;
	for (const char *at = path; at != NULL; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, version, len) == 0 && at[len] == '=')
			return at + len + 1;
	}
	return NULL;
}

static bool
is_new(const struct field_node *s)
{
	return s->what == NODE_OBJECT && s->slot == SLOT_NONE && s->column == COLUMN_NONE
	    && s->child == NODE_NONE;
}
