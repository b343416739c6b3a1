/* tests/dst/cluster.c - the objects of the modelled API server. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"

/* Of one version of an object: it is read by every role in every tree. */
struct cluster_copies {
	uint64_t		 rv;
	char			*text;			/* NULL: not needed yet */
	struct projected	*views[ROLE_MAX];
};

static struct cluster_copies *copies_of(const struct cluster_object *);
static void drop_copies(struct cluster_copies *);
static struct cluster_answer answer(enum outcome, unsigned, const char *);
static struct cluster_answer create(struct cluster *, const struct cluster_request *);
static struct cluster_answer update(
    struct cluster *, const struct cluster_request *, struct cluster_object *);
static struct cluster_answer patch(
    struct cluster *, const struct cluster_request *, struct cluster_object *);
static struct cluster_answer evict(struct cluster *, struct cluster_object *);
static bool precondition_failed(const struct cluster_object *, const struct cluster_request *);
static struct cluster_object *add_object(struct cluster *, enum kind, const char *);
static json_t *new_json(struct cluster *, enum kind, const char *);
static void changed(struct cluster *, struct cluster_object *);
static const char *split_name(enum kind, const char *, char[CLUSTER_NAME_MAX]);
static void copy_metadata(const struct cluster *, json_t *, const json_t *);
static void count_generation(json_t *, const json_t *);
static json_t *metadata(const struct cluster_object *);
static const char *meta_text(const struct cluster_object *, const char *);

void
cluster_init(struct cluster *c, struct sim *sim)
{
	*c = (struct cluster){ .sim = sim, .rv = 1000, .holder = -1 };
	LIST_INIT(&c->flights);
}

void
cluster_free(struct cluster *c)
{
	struct flight *f;

	while ((f = LIST_FIRST(&c->flights)) != NULL) {
		LIST_REMOVE(f, next);
		free(f->request.body);
		free(f);
	}
	for (unsigned i = 0; i < c->count; i++) {
		json_decref(c->objects[i].json);
		drop_copies(c->objects[i].copies);
		free(c->objects[i].copies);
	}
}

struct cluster_object *
cluster_find(struct cluster *c, enum kind k, const char *name)
{
	for (unsigned i = 0; i < c->count; i++) {
		if (c->objects[i].kind == k && strcmp(c->objects[i].name, name) == 0)
			return &c->objects[i];
	}
	return NULL;
}

bool
cluster_in_flight(const struct cluster *c)
{
	const struct flight *f;

	LIST_FOREACH(f, &c->flights, next) {
		const bool waited_for = !f->answered && f->watcher->node.up
		    && actor_incarnation(&f->watcher->actor) == f->incarnation;

		if (waited_for || (f->sent && !f->arrived))
			return true;
	}
	return false;
}

/* ---- What readers get ---- */

/* Those of another version are made anew. */
static struct cluster_copies *
copies_of(const struct cluster_object *o)
{
	if (o->copies->rv != o->rv)
		drop_copies(o->copies);
	o->copies->rv = o->rv;
	return o->copies;
}

static void
drop_copies(struct cluster_copies *all)
{
	free(all->text);
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (all->views[r] != NULL)
			free((void *)(uintptr_t)all->views[r]->values[0].bytes);
		free(all->views[r]);
	}
	*all = (struct cluster_copies){ .text = NULL };
}

const char *
cluster_text(const struct cluster_object *o)
{
	struct cluster_copies *const all = copies_of(o);

	if (all->text == NULL)
		all->text = json_dumps(o->json, JSON_COMPACT);
	MUST(all->text != NULL);
	return all->text;
}

bool
cluster_project(const struct cluster_object *o, enum role reader, struct projected *out)
{
	static struct projection *projections[KIND_MAX][ROLE_MAX];
	struct projection **const p = &projections[o->kind][reader];
	struct cluster_copies *const all = copies_of(o);

	if (all->views[reader] != NULL) {
		*out = *all->views[reader];
		return true;
	}
	if (*p == NULL)
		*p = projection_new(o->kind, cluster_version(o->kind), UINT64_C(1) << reader);
	const char *const text = cluster_text(o);
	if (!project(*p, PROJECT_JSON, text, strlen(text), 0, out))
		return false;
	MUST(out->nvalues == 1);
	out->values[0].bytes = obj_memdup(out->values[0].bytes, out->values[0].len);
	all->views[reader] = obj_memdup(out, sizeof(*out));
	return true;
}

/* ---- Requests ---- */

struct cluster_answer
cluster_execute(struct cluster *c, const struct cluster_request *r)
{
	if (r->op == OP_EVENT)
		return answer(OUTCOME_OK, 201, "");
	if (r->kind == KIND_MAX || c->absent[r->kind])
		return answer(OUTCOME_NOT_FOUND, 404, "the server has no such resource");
	struct cluster_object *const o = cluster_find(c, r->kind, r->name);
	const bool exists = o != NULL && o->json != NULL;
	if (r->op != OP_GET && c->forbidden[r->kind])
		return answer(OUTCOME_FORBIDDEN, 403, "RBAC");
	if (r->op == OP_LIST)
		return answer(OUTCOME_OK, 200, "");
	if (r->op == OP_CREATE)
		return exists ? answer(OUTCOME_EXISTS, 409, "already exists") : create(c, r);
	if (!exists)
		return answer(OUTCOME_NOT_FOUND, 404, "not found");
	if (precondition_failed(o, r))
		return answer(OUTCOME_CONFLICT, 409, "the object has been modified");
	struct cluster_answer a = answer(OUTCOME_OK, 200, "");
	switch (r->op) {
	case OP_GET:
		break;
	case OP_UPDATE:
		a = update(c, r, o);
		break;
	case OP_MERGE:
	case OP_JSON:
		a = patch(c, r, o);
		break;
	case OP_EVICT:
		a = evict(c, o);
		break;
	case OP_DELETE:
		if (r->kind == KIND_POD)
			cluster_end_pod(c, o);
		else
			cluster_remove(c, o);
		break;
	default:
		a = answer(OUTCOME_INVALID, 400, "not modelled");
		break;
	}
	a.rv = o->rv;
	return a;
}

static struct cluster_answer
answer(enum outcome outcome, unsigned status, const char *why)
{
	return (struct cluster_answer){ .outcome = outcome, .status = status, .why = why };
}

/* The status subresource is enabled: a status in the body is dropped. */
static struct cluster_answer
create(struct cluster *c, const struct cluster_request *r)
{
	const char *const refusal = c->refusal != NULL ? c->refusal(c, r) : NULL;
	json_t *const body = json_loadb(r->body, r->len, 0, NULL);

	if (refusal != NULL || body == NULL) {
		json_decref(body);
		return answer(OUTCOME_INVALID, 422, refusal != NULL ? refusal : "not JSON");
	}
	struct cluster_object *const o = add_object(c, r->kind, r->name);
	o->json = new_json(c, r->kind, r->name);
	json_object_set(o->json, "spec", json_object_get(body, "spec"));
	copy_metadata(c, metadata(o), json_object_get(body, "metadata"));
	json_decref(body);
	changed(c, o);
	struct cluster_answer a = answer(OUTCOME_OK, 201, "");
	a.rv = o->rv;
	return a;
}

/* What its maker may set, and what the server adds. */
static void
copy_metadata(const struct cluster *c, json_t *to, const json_t *from)
{
	static const char *const members[] = { "labels", "annotations", "finalizers", "ownerReferences" };
	char now[TIME_TEXT_MAX];

	for (size_t i = 0; i < NITEMS(members); i++) {
		if (json_object_get(from, members[i]) != NULL)
			json_object_set(to, members[i], json_object_get(from, members[i]));
	}
	time_format(cluster_time_us(c) / 1000000 * 1000000, now, sizeof(now));
	json_object_set_new(to, "creationTimestamp", json_string(now));
	json_object_set_new(to, "generation", json_integer(1));
}

/* What changes nothing keeps its resourceVersion. */
static struct cluster_answer
update(struct cluster *c, const struct cluster_request *r, struct cluster_object *o)
{
	const char *const part = strcmp(r->subresource, "status") == 0 ? "status" : "spec";
	const char *const refusal = c->refusal != NULL ? c->refusal(c, r) : NULL;
	json_t *const body = json_loadb(r->body, r->len, 0, NULL);
	json_t *const value = json_object_get(body, part);

	if (refusal != NULL || value == NULL) {
		json_decref(body);
		return answer(OUTCOME_INVALID, 422, refusal != NULL ? refusal : "nothing in it to update");
	}
	if (!json_equal(json_object_get(o->json, part), value)) {
		json_object_set(o->json, part, value);
		changed(c, o);
	}
	json_decref(body);
	return answer(OUTCOME_OK, 200, "");
}

static struct cluster_answer
patch(struct cluster *c, const struct cluster_request *r, struct cluster_object *o)
{
	if (c->reads_versions && r->op == OP_MERGE && !cluster_merge_is_current(o, r->body, r->len))
		return answer(OUTCOME_CONFLICT, 409, "the object has been modified");
	const bool merges = r->op == OP_MERGE;
	json_t *const copy = merges ? json_copy(o->json) : json_deep_copy(o->json);
	const char *refusal = c->refusal != NULL ? c->refusal(c, r) : NULL;

	if (refusal == NULL)
		refusal = merges ? cluster_merge(copy, r->body, r->len)
				 : cluster_json_patch(copy, r->body, r->len);
	if (refusal != NULL) {
		json_decref(copy);
		return answer(OUTCOME_INVALID, 422, refusal);
	}
	if (merges)	/* its resourceVersion is not that of the object before */
		json_object_set_new(copy, "metadata", json_copy(json_object_get(copy, "metadata")));
	json_t *const finalizers = json_object_get(json_object_get(copy, "metadata"), "finalizers");
	if (finalizers != NULL && json_array_size(finalizers) == 0)
		json_object_del(json_object_get(copy, "metadata"), "finalizers");
	if (json_equal(copy, o->json)) {
		json_decref(copy);
		return answer(OUTCOME_OK, 200, "");
	}
	count_generation(copy, o->json);
	json_decref(o->json);
	o->json = copy;
	if (json_object_get(metadata(o), "deletionTimestamp") != NULL
	    && json_object_get(metadata(o), "finalizers") == NULL)
		cluster_drop(c, o);
	else
		changed(c, o);
	return answer(OUTCOME_OK, 200, "");
}

/* Changes of the spec are counted where there is a count. */
static void
count_generation(json_t *json, const json_t *before)
{
	json_t *const meta = json_object_get(json, "metadata");
	const json_t *const generation = json_object_get(meta, "generation");

	if (json_is_integer(generation)
	    && !json_equal(json_object_get(json, "spec"), json_object_get(before, "spec")))
		json_object_set_new(meta, "generation", json_integer(json_integer_value(generation) + 1));
}

static struct cluster_answer
evict(struct cluster *c, struct cluster_object *o)
{
	if (c->budgets && json_object_get(metadata(o), "deletionTimestamp") == NULL)
		return answer(OUTCOME_LIMITED, 429, "a PodDisruptionBudget does not allow it");
	cluster_end_pod(c, o);
	return answer(OUTCOME_OK, 201, "");
}

static bool
precondition_failed(const struct cluster_object *o, const struct cluster_request *r)
{
	return (r->uid[0] != '\0' && strcmp(r->uid, meta_text(o, "uid")) != 0)
	    || (r->rv[0] != '\0' && strcmp(r->rv, meta_text(o, "resourceVersion")) != 0);
}

/* ---- Other clients ---- */

void
cluster_put(struct cluster *c, enum kind k, const char *name, const char *part, json_t *value)
{
	struct cluster_object *o = cluster_find(c, k, name);

	if (c->absent[k]) {
		json_decref(value);
		return;
	}
	if (o == NULL || o->json == NULL) {
		o = add_object(c, k, name);
		o->json = new_json(c, k, name);
	}
	json_object_set_new(o->json, part, value);
	changed(c, o);
}

void
cluster_touch(struct cluster *c, struct cluster_object *o)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)c->rv);
	json_object_set_new(o->json, "touched", json_string(text));
	changed(c, o);
}

void
cluster_remove(struct cluster *c, struct cluster_object *o)
{
	if (o->json == NULL)
		return;
	if (json_object_get(metadata(o), "finalizers") != NULL) {
		if (json_object_get(metadata(o), "deletionTimestamp") != NULL)
			return;
		json_object_set_new(metadata(o), "deletionTimestamp", json_string("2026-01-01T00:00:00Z"));
		changed(c, o);
		return;
	}
	cluster_drop(c, o);
}

void
cluster_drop(struct cluster *c, struct cluster_object *o)
{
	if (o->json == NULL)
		return;
	json_decref(o->json);
	o->json = NULL;
	o->rv = ++c->rv;
	watcher_model_notify(c);
}

void
cluster_set_finalizer(struct cluster *c, struct cluster_object *o, bool set)
{
	if (o->json == NULL)
		return;
	if (set) {
		json_object_set_new(metadata(o), "finalizers", json_pack("[s]", "example.com/held"));
		changed(c, o);
		return;
	}
	json_object_del(metadata(o), "finalizers");
	if (json_object_get(metadata(o), "deletionTimestamp") != NULL)
		cluster_remove(c, o);
	else
		changed(c, o);
}

void
cluster_set_absent(struct cluster *c, enum kind k, bool absent)
{
	for (unsigned i = 0; absent && i < c->count; i++) {
		if (c->objects[i].kind != k || c->objects[i].json == NULL)
			continue;
		json_decref(c->objects[i].json);
		c->objects[i].json = NULL;
		c->objects[i].rv = ++c->rv;
	}
	c->absent[k] = absent;
	watcher_model_notify(c);
}

/* ---- Objects ---- */

static struct cluster_object *
add_object(struct cluster *c, enum kind k, const char *name)
{
	struct cluster_object *o = cluster_find(c, k, name);
	char own[CLUSTER_NAME_MAX];

	if (o != NULL)
		return o;
	MUST(c->count < CLUSTER_OBJECTS_MAX);
	o = &c->objects[c->count++];
	*o = (struct cluster_object){ .kind = k, .copies = obj_alloc(sizeof(*o->copies)) };
	snprintf(o->name, sizeof(o->name), "%s", name);
	const char *const namespace = split_name(k, name, own);
	MUST(object_key(o->key, sizeof(o->key), kind_table[k].resource, namespace, own));
	return o;
}

static json_t *
new_json(struct cluster *c, enum kind k, const char *name)
{
	char uid[32], api[320], own[CLUSTER_NAME_MAX];
	const char *const namespace = split_name(k, name, own);

	snprintf(uid, sizeof(uid), "uid-%llu", (unsigned long long)++c->uids);
	snprintf(api, sizeof(api), "%s%s%s", kind_table[k].group, kind_table[k].group[0] != '\0' ? "/" : "",
	    cluster_version(k));
	json_t *const json = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "apiVersion", api, "kind",
	    kind_table[k].kind, "metadata", "name", own, "uid", uid, "resourceVersion", "0");
	MUST(json != NULL);
	if (namespace[0] != '\0')
		json_object_set_new(json_object_get(json, "metadata"), "namespace", json_string(namespace));
	return json;
}

const char *
cluster_version(enum kind k)
{
	static char versions[KIND_MAX][16];

	snprintf(versions[k], sizeof(versions[k]), "%.*s", (int)strcspn(kind_table[k].versions, " "),
	    kind_table[k].versions);
	return versions[k];
}

/* The namespace; own: the name inside it. */
static const char *
split_name(enum kind k, const char *name, char own[CLUSTER_NAME_MAX])
{
	static char namespace[CLUSTER_NAME_MAX];
	const char *const slash = strchr(name, '/');

	snprintf(own, CLUSTER_NAME_MAX, "%s", slash != NULL ? slash + 1 : name);
	if (slash == NULL)
		return kind_table[k].scope == SCOPE_NAMESPACED ? "default" : "";
	snprintf(namespace, sizeof(namespace), "%.*s", (int)(slash - name), name);
	return namespace;
}

void
cluster_name(char buf[CLUSTER_NAME_MAX], const char *namespace, const char *name)
{
	const bool plain = namespace == NULL || namespace[0] == '\0' || strcmp(namespace, "default") == 0;

	MUST((size_t)snprintf(buf, CLUSTER_NAME_MAX, "%s%s%s", plain ? "" : namespace, plain ? "" : "/", name)
	    < CLUSTER_NAME_MAX);
}

static void
changed(struct cluster *c, struct cluster_object *o)
{
	char text[32];

	o->rv = ++c->rv;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)o->rv);
	json_object_set_new(metadata(o), "resourceVersion", json_string(text));
	watcher_model_notify(c);
}

static json_t *
metadata(const struct cluster_object *o)
{
	return json_object_get(o->json, "metadata");
}

static const char *
meta_text(const struct cluster_object *o, const char *name)
{
	const char *const text = json_string_value(json_object_get(metadata(o), name));

	return text != NULL ? text : "";
}
