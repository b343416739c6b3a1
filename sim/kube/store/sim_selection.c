/* sim/kube/store/sim_selection.c - label and field selectors over blobs. */
#include "sim_selection.h"

#include <stdio.h>
#include <string.h>

#include "kube/selector.h"
#include "obj.h"

struct unknown_field {
	const struct sim_resource	*resource;
	char				 name[256];
};

static void find_unknown(const char *, void *);
static bool is_selectable(const struct sim_resource *, const char *);
static const char *get_field(const char *, const void *);
static const char *stored_name(const struct sim_resource *, const char *, char *, size_t);

/* get_field needs both. */
struct selected_blob {
	const struct sim_resource	*resource;
	const struct sim_blob		*blob;
};

bool
sim_selection_read(struct sim_selection *s, struct sim_request *c)
{
	const char *const labels = sim_request_param(c, "labelSelector"),
			  *const fields = sim_request_param(c, "fieldSelector");
	struct unknown_field unknown = { .resource = c->resource };
	char err[512];

	*s = (struct sim_selection){ .resource = c->resource };
	s->labels = selector_parse_labels(labels != NULL ? labels : "", err, sizeof(err));
	if (s->labels != NULL)
		s->fields = selector_parse_fields(fields != NULL ? fields : "", err, sizeof(err));
	if (s->fields == NULL) {
		sim_selection_free(s);
		sim_request_fail(c, 400, "BadRequest", "%s", err);
		return false;
	}
	selector_each_key(s->fields, find_unknown, &unknown);
	if (unknown.name[0] != '\0') {
		sim_selection_free(s);
		if (c->resource->builtin && c->resource->fields == NULL)
			sim_request_fail(c, 400, "BadRequest",
			    "\"%s\" is not a known field selector: only \"metadata.name\", "
			    "\"metadata.namespace\"",
			    unknown.name);
		else
			sim_request_fail(c, 400, "BadRequest", "field label not supported: %s", unknown.name);
		return false;
	}
	s->ns = obj_strdup(c->route.ns);
	return true;
}

void
sim_selection_free(struct sim_selection *s)
{
	selector_free(&s->labels);
	selector_free(&s->fields);
	free(s->ns);
	s->ns = NULL;
}

bool
sim_selection_matches(const struct sim_selection *s, const struct sim_blob *b)
{
	const struct selected_blob at = { s->resource, b };
	const size_t len = strlen(s->ns);

	if (len > 0 && (strncmp(sim_blob_key(b), s->ns, len) != 0 || sim_blob_key(b)[len] != '/'))
		return false;
	return selector_matches(s->labels, sim_blob_get_label, b)
	    && selector_matches(s->fields, get_field, &at);
}

bool
sim_selection_is_all(const struct sim_selection *s)
{
	return selector_empty(s->labels) && selector_empty(s->fields);
}

static void
find_unknown(const char *key, void *arg)
{
	struct unknown_field *const u = arg;

	if (u->name[0] == '\0' && !is_selectable(u->resource, key))
		snprintf(u->name, sizeof(u->name), "%s", key);
}

static bool
is_selectable(const struct sim_resource *r, const char *name)
{
	/* Nodes are the one kind without the selector metadata.namespace. */
	if (strcmp(name, "metadata.name") == 0
	    || (strcmp(name, "metadata.namespace") == 0 && strcmp(r->kind, "Node") != 0))
		return true;
	for (const struct sim_selectable *f = r->fields; f != NULL && f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0)
			return true;
	}
	return false;
}

static const char *
get_field(const char *key, const void *arg)
{
	const struct selected_blob *const at = arg;
	char name[256];
	const char *const value = sim_blob_field(at->blob,
	    stored_name(at->resource, key, name, sizeof(name)));

	return value != NULL ? value : "";
}

/* regarding.name is kept as involvedObject.name. */
static const char *
stored_name(const struct sim_resource *r, const char *key, char *buf, size_t size)
{
	const size_t n = strcspn(key, ".");

	for (const struct sim_rename *x = r->renames; x != NULL && x->served != NULL; x++) {
		if (strlen(x->served) == n && strncmp(x->served, key, n) == 0) {
			snprintf(buf, size, "%s%s", x->stored, key + n);
			return buf;
		}
	}
	return key;
}
