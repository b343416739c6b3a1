/*
 * sim/kube/printers/sim_view.h - stored objects as the client wants to see them: whole, metadata only, or as rows of
 * a Table.
 */
#ifndef MUSTER_SIM_VIEW_H
#define MUSTER_SIM_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/kube/store/sim_blob.h"
#include "sim/http/sim_request.h"

enum shape { SHAPE_OBJECT, SHAPE_PARTIAL, SHAPE_TABLE };

struct view {
	const struct resource	*resource;
	enum shape		 shape;
	const char		*meta_version;	/* of meta.k8s.io: v1, or the v1beta1 of old clients */
	enum { WITH_METADATA, WITH_NOTHING, WITH_OBJECT } row_object;
	bool			 columns_told;	/* the Tables of a watch name them once */
};

/* From Accept and the query. False: the call is answered already (406). */
bool view_read(struct view *v, struct call *c);

/* One object by itself. rv: see blob_write. */
void view_object(struct view *v, const struct blob *b, uint64_t rv, struct evbuffer *out);
/* An object that carries only a resourceVersion, and with `end` says that the initial events are over. */
void view_bookmark(struct view *v, uint64_t rv, bool end, struct evbuffer *out);

/* A list is head, items with commas between them, tail. remaining -1: not told. */
void view_list_head(
    const struct view *v, uint64_t rv, const char *next, int64_t remaining, struct evbuffer *out);
void view_list_item(const struct view *v, const struct blob *b, struct evbuffer *out);
void view_list_tail(struct evbuffer *out);

#endif
