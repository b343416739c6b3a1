/*
 * sim/kube/printers/sim_view.c - the forms of an answer. Whole objects and metadata are joined
 * bytes; only Tables need a parser.
 */
#include "sim_view.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/http/sim_accept.h"
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
static void write_table_head(const struct sim_view *, const struct sim_list_meta *, bool, struct evbuffer *);
static void write_list_meta(const struct sim_list_meta *, struct evbuffer *);
static bool is_map(const struct sim_view *);

bool
sim_view_read(struct sim_view *v, struct sim_request *c)
{
	const int i = sim_accept_choose(sim_request_header(c, "Accept"), forms, NITEMS(forms));
	const char *const include = sim_request_param(c, "includeObject");

	if (i < 0) {
		sim_request_fail(c, 406, "NotAcceptable",
		    "only the following media types are accepted: application/json");
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
		write_table_head(v, &(struct sim_list_meta){ rv != 0 ? rv : b->rv, "", -1 },
		    !v->columns_sent, out);
		write_row(v, b, rv, out);
		evbuffer_add(out, "]}", 2);
		v->columns_sent = true;
		return;
	}
}

void
sim_view_bookmark(struct sim_view *v, uint64_t rv, bool end, struct evbuffer *out)
{
	static const char end_annotation[] = "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}";
	const char *const annotations = end ? end_annotation : "", *const comma = end ? "," : "";
	char version[256];

	if (v->shape == SHAPE_TABLE) {
		write_table_head(v, &(struct sim_list_meta){ rv, "", -1 }, !v->columns_sent, out);
		v->columns_sent = true;
		evbuffer_add_printf(out,
		    "{\"cells\":[],\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":"
		    "\"meta.k8s.io/%s\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s%s}}}",
		    v->meta_version, rv, comma, annotations);
		evbuffer_add(out, "]}", 2);
		return;
	}
	if (is_map(v)) {
		evbuffer_add_printf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{%s%s"
		    "\"resourceVersion\":\"%" PRIu64 "\"}}",
		    sim_resource_api_version(v->resource, version, sizeof(version)), v->resource->kind,
		    annotations, comma, rv);
		return;
	}
	if (v->shape == SHAPE_PARTIAL)
		evbuffer_add_printf(out,
		    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\"",
		    v->meta_version);
	else
		evbuffer_add_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", v->resource->kind,
		    sim_resource_api_version(v->resource, version, sizeof(version)));
	evbuffer_add_printf(out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s%s}}", rv, comma,
	    annotations);
}

void
sim_view_json(const struct sim_resource *r, const json_t *object, struct evbuffer *out)
{
	struct sim_blob *b = sim_blob_new(object, r,
	    strtoull(sim_json_text_at(object, "metadata.resourceVersion"), NULL, 10));

	sim_blob_write(out, b, r, true, 0);
	sim_blob_unref(&b);
}

void
sim_view_list_head(const struct sim_view *v, const struct sim_list_meta *m, struct evbuffer *out)
{
	char version[256];

	sim_resource_api_version(v->resource, version, sizeof(version));
	if (is_map(v)) {
		evbuffer_add_printf(out, "{\"apiVersion\":\"%s\",\"items\":[", version);
		return;
	}
	if (v->shape == SHAPE_TABLE) {
		write_table_head(v, m, true, out);
		return;
	}
	if (v->shape == SHAPE_PARTIAL)
		evbuffer_add_printf(out,
		    "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/%s\"",
		    v->meta_version);
	else
		evbuffer_add_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", v->resource->list_kind,
		    version);
	write_list_meta(m, out);
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
sim_view_list_tail(const struct sim_view *v, const struct sim_list_meta *m, struct evbuffer *out)
{
	evbuffer_add(out, "]", 1);
	if (is_map(v)) {
		evbuffer_add_printf(out, ",\"kind\":\"%s\",\"metadata\":{\"continue\":\"%s\",",
		    v->resource->list_kind, m->next);
		if (m->remaining >= 0)
			evbuffer_add_printf(out, "\"remainingItemCount\":%" PRId64 ",", m->remaining);
		evbuffer_add_printf(out, "\"resourceVersion\":\"%" PRIu64 "\"}", m->rv);
	}
	evbuffer_add(out, "}", 1);
}

/* A list of custom resources is a map to Go: its keys are sorted, so that metadata comes last. */
static bool
is_map(const struct sim_view *v)
{
	return v->shape == SHAPE_OBJECT && !v->resource->builtin;
}

static void
write_whole(const struct sim_view *v, const struct sim_blob *b, uint64_t rv, bool typed, struct evbuffer *out)
{
	if (!sim_blob_needs_conversion(v->resource)) {
		sim_blob_write(out, b, v->resource, typed, rv);
		return;
	}
	json_auto_t *object = sim_blob_parse(b, v->resource);
	struct sim_blob *converted = sim_blob_new(object, v->resource, rv != 0 ? rv : b->rv);
	sim_blob_write(out, converted, v->resource, true, 0);
	sim_blob_unref(&converted);
}

static void
write_partial(const struct sim_view *v, const struct sim_blob *b, uint64_t rv, struct evbuffer *out)
{
	evbuffer_add_printf(out,
	    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
	    v->meta_version != NULL && v->meta_version[0] != '\0' ? v->meta_version : "v1");
	sim_blob_write_metadata(out, b, v->resource, rv);
	evbuffer_add(out, "}", 1);
}

static void
write_row(const struct sim_view *v, const struct sim_blob *b, uint64_t rv, struct evbuffer *out)
{
	/* The columns of events are those of the stored form, whatever version is requested. */
	json_auto_t *object = sim_blob_parse(b, v->resource->builtin ? v->resource->storage->form
	    : v->resource);
	json_auto_t *cells = sim_table_cells(v->resource, object, clock_wall_ms() * 1000);

	evbuffer_add_printf(out, "{\"cells\":");
	sim_buf_json_into(out, cells);
	if (v->row_object != WITH_NOTHING)
		evbuffer_add_printf(out, ",\"object\":");
	if (v->row_object == WITH_METADATA)
		write_partial(v, b, rv, out);
	else if (v->row_object == WITH_OBJECT)
		write_whole(v, b, rv, true, out);
	evbuffer_add(out, "}", 1);
}

static void
write_table_head(const struct sim_view *v, const struct sim_list_meta *m, bool columns, struct evbuffer *out)
{
	json_auto_t *definitions = columns ? sim_table_columns(v->resource) : json_array();

	evbuffer_add_printf(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\"", v->meta_version);
	write_list_meta(m, out);
	evbuffer_add_printf(out, ",\"columnDefinitions\":");
	sim_buf_json_into(out, definitions);
	evbuffer_add_printf(out, ",\"rows\":[");
}

static void
write_list_meta(const struct sim_list_meta *m, struct evbuffer *out)
{
	evbuffer_add_printf(out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", m->rv);
	if (m->next[0] != '\0')
		evbuffer_add_printf(out, ",\"continue\":\"%s\"", m->next);
	if (m->remaining >= 0)
		evbuffer_add_printf(out, ",\"remainingItemCount\":%" PRId64, m->remaining);
	evbuffer_add(out, "}", 1);
}
