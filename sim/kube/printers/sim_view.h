/*
 * sim/kube/printers/sim_view.h - stored objects in the form that the client accepts: whole, metadata
 * only, or as rows of a Table.
 */
#ifndef MUSTER_SIM_VIEW_H
#define MUSTER_SIM_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/http/sim_request.h"
#include "sim/kube/store/sim_blob.h"

enum sim_shape { SHAPE_OBJECT, SHAPE_PARTIAL, SHAPE_TABLE };

struct sim_view {
	const struct sim_resource	*resource;
	enum sim_shape			 shape;
	const char			*meta_version;	/* of meta.k8s.io: v1 or v1beta1 */
	enum { WITH_METADATA, WITH_NOTHING, WITH_OBJECT } row_object;
	bool				 columns_sent;	/* the Tables of a watch name them once */
};

/* From Accept and the query. False: the request is answered already (406). */
bool sim_view_read(struct sim_view *v, struct sim_request *c);

/* One object by itself. rv: see sim_blob_write. */
void sim_view_object(struct sim_view *v, const struct sim_blob *b, uint64_t rv, struct evbuffer *out);
/*
 * An object that carries only a resourceVersion, and with `end` the mark that the initial events
 * are complete.
 */
void sim_view_bookmark(struct sim_view *v, uint64_t rv, bool end, struct evbuffer *out);

/* An object that is not stored, as an answer. */
void sim_view_json(const struct sim_resource *r, const json_t *object, struct evbuffer *out);

/* A list is head, items with commas between them, tail. */
struct sim_list_meta {
	uint64_t	 rv;
	const char	*next;		/* the continue token; "": none */
	int64_t		 remaining;	/* -1: left out */
};
void sim_view_list_head(const struct sim_view *v, const struct sim_list_meta *m, struct evbuffer *out);
void sim_view_list_item(const struct sim_view *v, const struct sim_blob *b, struct evbuffer *out);
void sim_view_list_tail(const struct sim_view *v, const struct sim_list_meta *m, struct evbuffer *out);

#endif
