/* kube/project.c - one object in, one packed body per role out, and the identity of the object. */
#include "project.h"

#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "json_span.h"
#include "obj.h"
#include "project_pack.h"
#include "project_private.h"

#define PROJECTION_MAGIC	0x9a11ec70u
#define PARTIAL			"PartialObjectMetadata"

enum { FIELDS_MAX = 48 };

/* What is read of every object. */
enum { SLOT_KIND, SLOT_NAME, SLOT_NS, SLOT_UID, SLOT_RV, IDENTITY_SLOTS };
static const struct {
	const char	*json, *proto;
	size_t		 max, at;	/* in struct projected */
	bool		 needed;
} identity_fields[IDENTITY_SLOTS] = {
#define MEMBER(name)								\
	.max = sizeof(((struct projected *)0)->name) - 1, .at = offsetof(struct projected, name)
	[SLOT_KIND] = { .json = "kind", .proto = "" },
	[SLOT_NAME] = { .json = "metadata.name", .proto = "1.1", MEMBER(name), .needed = true },
	[SLOT_NS]   = { .json = "metadata.namespace", .proto = "1.3", MEMBER(ns) },
	[SLOT_UID]  = { .json = "metadata.uid", .proto = "1.5", MEMBER(uid), .needed = true },
	[SLOT_RV]   = { .json = "metadata.resourceVersion", .proto = "1.6", MEMBER(rv), .needed = true },
};

struct projection {
	uint32_t		 magic;
	const struct kind_row	*kind;
	struct field_tree	 tree;
	struct extract		 extract;
	struct field_tree	 identity_tree;	/* what is read of every object, and nothing else */
	struct extract		 identity;
	struct pack_field	 fields[FIELDS_MAX];
	enum role		 roles[PROJECT_READERS_MAX];
	size_t			 nroles;
	msgpack_sbuffer		 bodies;
};

static void add_fields(struct projection *, const char *, uint64_t);
static void add_roles(struct projection *, uint64_t);
static bool read_object(struct projection *, enum project_form, const void *, size_t, size_t);
static bool read_pb(struct projection *, const void *, size_t);
static bool is_our_kind(struct projection *, const char *, size_t);
static void add_identity(struct field_tree *, enum kind_form, const char *);
static void walk_identity(struct projection *, enum project_form, const void *, size_t, size_t);
static bool identify(const struct extract *, struct projected *);
static bool pack(struct projection *, struct projected *);
static bool is_name(const char *, size_t);

struct projection *
projection_new(enum kind k, const char *version, uint64_t readers)
{
	struct projection *p;

	MUST((unsigned)k < KIND_MAX);
	OBJ_NEW(p, PROJECTION_MAGIC);
	p->kind = &kind_table[k];
	add_identity(&p->tree, p->kind->form, version);
	add_identity(&p->identity_tree, p->kind->form, version);
	add_fields(p, version, readers);
	add_roles(p, readers);
	extract_init(&p->extract, &p->tree);
	extract_init(&p->identity, &p->identity_tree);
	msgpack_sbuffer_init(&p->bodies);
	return p;
}

void
projection_free(struct projection **pp)
{
	struct projection *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, PROJECTION_MAGIC);
	extract_end(&p->extract);
	extract_end(&p->identity);
	msgpack_sbuffer_destroy(&p->bodies);
	OBJ_FREE(p);
}

bool
projection_metadata_only(const struct projection *p)
{
	OBJ_CHECK(p, PROJECTION_MAGIC);
	const struct field_node *kind = &p->tree.nodes[p->tree.nodes[0].child],
	    *metadata = &p->tree.nodes[kind->next];

	return metadata->next == NODE_NONE;
}

bool
project(struct projection *p, enum project_form form, const void *bytes, size_t len, size_t padding,
    struct projected *out)
{
	OBJ_CHECK(p, PROJECTION_MAGIC);
	out->name[0] = out->ns[0] = out->uid[0] = out->rv[0] = out->error[0] = '\0';
	out->nvalues = 0;
	extract_begin(&p->extract);
	if (read_object(p, form, bytes, len, padding))
		return identify(&p->extract, out) && pack(p, out);
	/*
	 * The walk ended at what cannot be read, which may stand before the name: the server sends the
	 * members of an object in the order of the alphabet, labels first.
	 */
	extract_begin(&p->identity);
	walk_identity(p, form, bytes, len, padding);
	identify(&p->identity, out);
	memcpy(out->error, p->extract.error, sizeof(out->error));
	return false;
}

static void
add_identity(struct field_tree *w, enum kind_form form, const char *version)
{
	field_tree_init(w);
	for (unsigned i = 0; i < IDENTITY_SLOTS; i++) {
		const uint16_t slot = field_tree_add(
		    w, "str", identity_fields[i].json,
		    form == FORM_PROTO ? identity_fields[i].proto : "", version);

		MUST(slot == i);
	}
}

static void
add_fields(struct projection *p, const char *version, uint64_t readers)
{
	MUST(p->kind->nfields <= FIELDS_MAX);
	for (unsigned i = 0; i < p->kind->nfields; i++) {
		const struct kind_field *f = &p->kind->fields[i];
		const bool read = (f->readers & readers) != 0;
		const uint16_t slot =
		    read ? field_tree_add(&p->tree, f->type, f->json, f->proto, version) : SLOT_NONE;

		p->fields[i] = pack_field_of(f, &p->tree, slot);
	}
}

static void
add_roles(struct projection *p, uint64_t readers)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (((p->kind->readers | p->kind->live_readers) & readers) >> r & 1) {
			MUST(p->nroles < PROJECT_READERS_MAX);
			p->roles[p->nroles++] = (enum role)r;
		}
	}
}

static bool
read_object(struct projection *p, enum project_form form, const void *bytes, size_t len, size_t padding)
{
	if (form == PROJECT_PROTO)
		return read_pb(p, bytes, len);
	if (!walk_json(&p->extract, bytes, len, padding))
		return false;
	const struct text_span kind = p->extract.slots[SLOT_KIND].text;
	return is_our_kind(p, kind.p, kind.len);
}

static bool
read_pb(struct projection *p, const void *bytes, size_t len)
{
	const struct field_node *root = &p->tree.nodes[0];
	struct frames_object o;

	if (p->kind->form != FORM_PROTO)
		return extract_fail(&p->extract, root, NULL, 0, "protobuf, of a kind that has none");
	const char *wrong = frames_unwrap(bytes, len, &o);
	if (wrong != NULL)
		return extract_fail(&p->extract, root, NULL, 0, wrong);
	return is_our_kind(p, o.kind, o.kind_len)
	    && walk_pb(&p->extract, o.message.p, (size_t)(o.message.end - o.message.p));
}

/* Best effort: an object that is broken at some place may have its name before it. */
static void
walk_identity(struct projection *p, enum project_form form, const void *bytes, size_t len, size_t padding)
{
	struct frames_object o;

	if (form == PROJECT_JSON)
		walk_json(&p->identity, bytes, len, padding);
	else if (frames_unwrap(bytes, len, &o) == NULL)
		walk_pb(&p->identity, o.message.p, (size_t)(o.message.end - o.message.p));
}

/* The items of a list often have no kind; an object of another kind is refused. */
static bool
is_our_kind(struct projection *p, const char *kind, size_t len)
{
	char why[100];

	if (len == 0 || span_is(kind, len, p->kind->kind) || span_is(kind, len, PARTIAL))
		return true;
	snprintf(why, sizeof(why), "not a %s", p->kind->kind);
	return extract_fail(&p->extract, &p->tree.nodes[p->tree.nodes[0].child], kind, len, why);
}

/* The object's names: what cannot be part of a key, a path or a log line is refused. */
static bool
identify(const struct extract *t, struct projected *out)
{
	const char *wrong = NULL, *where = "";

	for (unsigned i = SLOT_NAME; i < IDENTITY_SLOTS; i++) {
		const struct text_span v = t->slots[i].text;

		if (v.len <= identity_fields[i].max && is_name(v.p, v.len)) {
			memcpy((char *)out + identity_fields[i].at, v.len > 0 ? v.p : "", v.len);
			((char *)out + identity_fields[i].at)[v.len] = '\0';
		}
		if (wrong == NULL
		    && (v.len > identity_fields[i].max || !is_name(v.p, v.len)
			|| (v.len == 0 && identity_fields[i].needed))) {
			wrong = v.len == 0 ? "missing"
			    : v.len > identity_fields[i].max ? "too long" : "not a name";
			where = identity_fields[i].json;
		}
	}
	if (wrong != NULL)
		snprintf(out->error, sizeof(out->error), "%s: %s", where, wrong);
	return wrong == NULL;
}

/* One body after the other; pointers only after the last one, as the buffer may move. */
static bool
pack(struct projection *p, struct projected *out)
{
	size_t ends[PROJECT_READERS_MAX];

	pack_sort_maps(&p->extract);
	msgpack_sbuffer_clear(&p->bodies);
	for (size_t i = 0; i < p->nroles; i++) {
		const size_t begin = p->bodies.size;

		pack_body(&p->bodies, &p->extract, p->fields, p->kind->nfields, UINT64_C(1) << p->roles[i]);
		ends[i] = p->bodies.size;
		if (ends[i] - begin > PACK_BODY_MAX) {
			snprintf(out->error, sizeof(out->error),
			    "what %s reads of it is %zu bytes, the limit is %d",
			    role_name(p->roles[i]), ends[i] - begin, PACK_BODY_MAX);
			return false;
		}
	}
	for (size_t i = 0, begin = 0; i < p->nroles; begin = ends[i++])
		out->values[i] = (struct projected_value){ .role = p->roles[i],
			.bytes = (const uint8_t *)p->bodies.data + begin, .len = ends[i] - begin };
	out->nvalues = p->nroles;
	return true;
}

static bool
is_name(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] <= ' ' || p[i] >= 0x7f || p[i] == '/' || p[i] == '%')
			return false;
	}
	return true;
}
