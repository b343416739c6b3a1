/*
 * sim/kube/printers/sim_view.c - the forms of an answer. Whole objects and metadata are joined
 * bytes; only Tables need a parser.
 */
#include "sim_view.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <string.h>

#include "sim/http/sim_accept.h"
#include "sim/base/sim_buf.h"
#include "clock.h"
#include "obj.h"
#include "sim/kube/store/sim_store.h"
#include "sim_table.h"

static const struct sim_media_form forms[] = {
	{ "", "", "" },
	{ "Table", "meta.k8s.io", "v1" },
	{ "Table", "meta.k8s.io", "v1beta1" },
	{ "PartialObjectMetadata", "meta.k8s.io", "v1" },
	{ "PartialObjectMetadata", "meta.k8s.io", "v1beta1" },
	{ "PartialObjectMetadataList", "meta.k8s.io", "v1" },
	{ "PartialObjectMetadataList", "meta.k8s.io", "v1beta1" },
};

static void write_whole(const struct sim_view *, const struct sim_blob *, uint64_t, bool, struct evbuffer *);
static void write_partial(const struct sim_view *, const struct sim_blob *, uint64_t, struct evbuffer *);
static void write_row(const struct sim_view *, const struct sim_blob *, uint64_t, struct evbuffer *);
static void write_table_head(const struct sim_view *, uint64_t, const char *, int64_t, bool,
    struct evbuffer *);
static void write_list_meta(uint64_t, const char *, int64_t, struct evbuffer *);
static void write_json(const json_t *, struct evbuffer *);

bool
sim_view_read(struct sim_view *v, struct sim_request *c)
{
	const int i = sim_accept_choose(sim_request_header(c, "Accept"), forms, NITEMS(forms));
	const char *const include = sim_request_param(c, "includeObject");

	if (i < 0) {
		sim_request_fail(c, 406, "NotAcceptable",
		    "only the following media types are accepted: application/json, "
		    "application/yaml, application/vnd.kubernetes.protobuf");
		return false;
	}
	*v = (struct sim_view){ .resource = c->resource, .meta_version = forms[i].version };
	if (strcmp(forms[i].as, "Table") == 0)
		v->shape = SHAPE_TABLE;
	else if (forms[i].as[0] != '\0')
		v->shape = SHAPE_PARTIAL;
	if (include != NULL && strcmp(include, "None") == 0)
		v->row_object = WITH_NOTHING;
	else if (include != NULL && strcmp(include, "Object") == 0)
		v->row_object = WITH_OBJECT;
	return true;
}

void
sim_view_object(struct sim_view *v, const struct sim_blob *b, uint64_t rv, struct evbuffer *out)
{
	switch (v->shape) {
	case SHAPE_OBJECT:
		write_whole(v, b, rv, true, out);
		return;
	case SHAPE_PARTIAL:
		write_partial(v, b, rv, out);
		return;
	case SHAPE_TABLE:
		write_table_head(v, rv != 0 ? rv : b->rv, "", -1, !v->columns_told, out);
		write_row(v, b, rv, out);
		sim_view_list_tail(out);
		v->columns_told = true;
		return;
	}
}

void
sim_view_bookmark(struct sim_view *v, uint64_t rv, bool end, struct evbuffer *out)
{
	static const char end_annotation[] = ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}";
	char version[256];

	if (v->shape == SHAPE_TABLE) {
		write_table_head(v, rv, "", -1, !v->columns_told, out);
		v->columns_told = true;
		evbuffer_add_printf(out,
		    "{\"cells\":[],\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":"
		    "\"meta.k8s.io/%s\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}}}",
		    v->meta_version, rv, end ? end_annotation : "");
		sim_view_list_tail(out);
		return;
	}
	if (v->shape == SHAPE_PARTIAL)
		evbuffer_add_printf(out,
		    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\"",
		    v->meta_version);
	else
		evbuffer_add_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", v->resource->kind,
		    sim_resource_api_version(v->resource, version, sizeof(version)));
	evbuffer_add_printf(out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}}", rv,
	    end ? end_annotation : "");
}

void
sim_view_list_head(const struct sim_view *v, uint64_t rv, const char *next, int64_t remaining,
    struct evbuffer *out)
{
	char version[256];

	if (v->shape == SHAPE_TABLE) {
		write_table_head(v, rv, next, remaining, true, out);
		return;
	}
	if (v->shape == SHAPE_PARTIAL)
		evbuffer_add_printf(out,
		    "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/%s\"",
		    v->meta_version);
	else
		evbuffer_add_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", v->resource->list_kind,
		    sim_resource_api_version(v->resource, version, sizeof(version)));
	write_list_meta(rv, next, remaining, out);
	evbuffer_add_printf(out, ",\"items\":[");
}

void
sim_view_list_item(const struct sim_view *v, const struct sim_blob *b, struct evbuffer *out)
{
	switch (v->shape) {
	case SHAPE_OBJECT:
		/* Items of built-in lists have no kind of their own, those of CRDs do. */
		write_whole(v, b, 0, !v->resource->builtin, out);
		return;
	case SHAPE_PARTIAL:
		write_partial(v, b, 0, out);
		return;
	case SHAPE_TABLE:
		write_row(v, b, 0, out);
		return;
	}
}

void
sim_view_list_tail(struct evbuffer *out)
{
	evbuffer_add(out, "]}", 2);
}

static void
write_whole(const struct sim_view *v, const struct sim_blob *b, uint64_t rv, bool typed, struct evbuffer *out)
{
	char version[256];

	if (sim_blob_needs_conversion(v->resource)) {
		json_t *const object = sim_blob_parse(b, v->resource);

		if (rv != 0)
			json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
			    json_sprintf("%" PRIu64, rv));
		write_json(object, out);
		json_decref(object);
		return;
	}
	if (typed)
		evbuffer_add_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", v->resource->kind,
		    sim_resource_api_version(v->resource, version, sizeof(version)));
	else
		evbuffer_add(out, "{", 1);
	sim_blob_write(out, b, rv);
}

static void
write_partial(const struct sim_view *v, const struct sim_blob *b, uint64_t rv, struct evbuffer *out)
{
	evbuffer_add_printf(out,
	    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
	    v->meta_version != NULL && v->meta_version[0] != '\0' ? v->meta_version : "v1");
	sim_blob_write_metadata(out, b, rv);
	evbuffer_add(out, "}", 1);
}

static void
write_row(const struct sim_view *v, const struct sim_blob *b, uint64_t rv, struct evbuffer *out)
{
	/* The columns of events are those of the stored form, whatever version is asked for. */
	json_t *const object = sim_blob_parse(b, v->resource->builtin ? v->resource->storage->form
	    : v->resource);
	json_t *const cells = sim_table_cells(v->resource, object, clock_wall_ms() * 1000);

	evbuffer_add_printf(out, "{\"cells\":");
	write_json(cells, out);
	if (v->row_object != WITH_NOTHING)
		evbuffer_add_printf(out, ",\"object\":");
	if (v->row_object == WITH_METADATA)
		write_partial(v, b, rv, out);
	else if (v->row_object == WITH_OBJECT)
		write_whole(v, b, rv, true, out);
	evbuffer_add(out, "}", 1);
	json_decref(cells);
	json_decref(object);
}

static void
write_table_head(const struct sim_view *v, uint64_t rv, const char *next, int64_t remaining, bool columns,
    struct evbuffer *out)
{
	json_t *const definitions = columns ? sim_table_columns(v->resource) : json_array();

	evbuffer_add_printf(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\"", v->meta_version);
	write_list_meta(rv, next, remaining, out);
	evbuffer_add_printf(out, ",\"columnDefinitions\":");
	write_json(definitions, out);
	evbuffer_add_printf(out, ",\"rows\":[");
	json_decref(definitions);
}

static void
write_list_meta(uint64_t rv, const char *next, int64_t remaining, struct evbuffer *out)
{
	evbuffer_add_printf(out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", rv);
	if (next[0] != '\0')
		evbuffer_add_printf(out, ",\"continue\":\"%s\"", next);
	if (remaining >= 0)
		evbuffer_add_printf(out, ",\"remainingItemCount\":%" PRId64, remaining);
	evbuffer_add(out, "}", 1);
}

static void
write_json(const json_t *value, struct evbuffer *out)
{
	struct sim_buf b = { 0 };

	sim_buf_json(&b, value);
	evbuffer_add(out, b.bytes, b.len);
	sim_buf_free(&b);
}
