/* sim/kube/verbs/sim_list.c - LIST. */
#include <errno.h>
#include <event2/buffer.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/http/sim_accept.h"
#include "sim/http/sim_stream.h"
#include "sim/kube/printers/sim_view.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/store/sim_selection.h"
#include "sim/kube/store/sim_store.h"
#include "sim_page.h"
#include "sim_verbs.h"

/* Answers above this are compressed for who accepts it; pieces of this size are handed over at a time. */
enum { GZIP_ABOVE = 128 * 1024, PIECE = 256 * 1024 };

/* The parameters of a list. */
struct list_params {
	struct sim_selection	 selection;
	struct sim_page		 page;		/* start NULL: from the first */
	uint64_t		 rv;		/* 0: now */
	int64_t			 limit;		/* 0: none */
};

/* A list that is being sent. */
struct list_stream {
	struct sim_stream	*stream;
	struct sim_view		 view;
	struct sim_snapshot	*snap;
	struct sim_list_meta	 meta;
	char			*next;		/* owns meta.next */
	size_t			 at;
};

static bool read_params(struct list_params *, struct sim_request *);
static bool read_state(struct list_params *, struct sim_request *);
static void free_params(struct list_params *);
static struct sim_snapshot *take_snapshot(const struct list_params *, struct sim_request *);
static char *choose(const struct list_params *, struct sim_snapshot *, int64_t *);
static void hand_over(struct sim_request *, const struct sim_view *, struct sim_snapshot *, char *, int64_t);
static size_t weight(const struct sim_snapshot *, enum sim_shape);
static void fill(void *);
static void gone(void *);

void
sim_list_serve(struct sim_request *c)
{
	struct list_params params = { .limit = 0 };
	struct sim_view view;
	int64_t remaining;

	if (!sim_view_read(&view, c) || !read_params(&params, c))
		return;
	struct sim_snapshot *const snap = take_snapshot(&params, c);
	if (snap != NULL) {
		char *const next = choose(&params, snap, &remaining);

		c->rv = snap->rv;
		hand_over(c, &view, snap, next, remaining);
	}
	free_params(&params);
}

bool
sim_list_too_large(struct sim_request *c, uint64_t rv)
{
	const uint64_t current = c->sim->store->rv;

	if (rv <= current && c->plan.of[FAULT_RV_TOO_LARGE] == NULL)
		return false;
	json_t *const status = sim_semantics_failure_of(504, "Timeout", NULL, "",
	    json_pack("[{s:s, s:s}]", "reason", "ResourceVersionTooLarge", "message",
		"Too large resource version"),
	    "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, rv, current);
	json_object_set_new(json_object_get(status, "details"), "retryAfterSeconds", json_integer(1));
	sim_request_reply_status(c, status);
	return true;
}

bool
sim_list_read_rv(struct sim_request *c, const char *text, bool exact, uint64_t *rv)
{
	char *end;

	*rv = 0;
	if (text == NULL || text[0] == '\0')
		return true;
	errno = 0;
	*rv = strtoull(text, &end, 10);
	if (*end == '\0' && errno == 0 && text[0] >= '0' && text[0] <= '9')
		return true;
	const char *const why = errno == ERANGE ? "value out of range" : "invalid syntax";
	sim_request_fail(c, exact ? 400 : 500, exact ? "BadRequest" : "",
	    "%sresourceVersion: Invalid value: \"%.64s\": strconv.ParseUint: parsing \"%.64s\": %s",
	    exact ? "invalid resource version: " : "", text, text, why);
	return false;
}

static bool
read_params(struct list_params *params, struct sim_request *c)
{
	const char *const limit = sim_request_param(c, "limit");

	if (!sim_list_options_valid(c, false) || !sim_selection_read(&params->selection, c))
		return false;
	if (limit != NULL) {
		char *end;

		params->limit = strtoll(limit, &end, 10);
		if (*end != '\0' || limit[0] == '\0') {
			sim_selection_free(&params->selection);
			sim_request_fail(c, 400, "BadRequest",
			    "strconv.ParseInt: parsing \"%.64s\": invalid syntax", limit);
			return false;
		}
	}
	if (read_state(params, c))
		return true;
	free_params(params);
	return false;
}

/* Which resourceVersion is listed: the newest; that of a continue token; an exact one where requested. */
static bool
read_state(struct list_params *params, struct sim_request *c)
{
	const char *const rv = sim_request_param(c, "resourceVersion"),
			  *const match = sim_request_param(c, "resourceVersionMatch");
	const char *const next = sim_request_param(c, "continue");
	const bool exactly = match != NULL && strcmp(match, "Exact") == 0;
	char err[256];
	uint64_t asked;

	if (next != NULL && next[0] != '\0') {
		if (!sim_page_parse(&params->page, next, err, sizeof(err))) {
			sim_request_fail(c, 400, "BadRequest", "%s", err);
			return false;
		}
		if (rv != NULL && rv[0] != '\0' && strcmp(rv, "0") != 0) {
			sim_request_fail(c, 400, "BadRequest",
			    "specifying resource version is not allowed when using continue");
			return false;
		}
		params->rv = params->page.rv > 0 ? (uint64_t)params->page.rv : 0;
		return true;
	}
	if (!sim_list_read_rv(c, rv, exactly, &asked) || sim_list_too_large(c, asked))
		return false;
	/* From the watch cache, with any state allowed, there are no pages. */
	if (rv != NULL && strcmp(rv, "0") == 0)
		params->limit = 0;
	/* Without a match, a limit makes it exact: the old trap (KEP-2523). */
	if (exactly || ((match == NULL || match[0] == '\0') && params->limit > 0))
		params->rv = asked;
	return true;
}

static void
free_params(struct list_params *params)
{
	sim_selection_free(&params->selection);
	free(params->page.start);
}

/* NULL: the request is answered. */
static struct sim_snapshot *
take_snapshot(const struct list_params *params, struct sim_request *c)
{
	static const char expired[] = "The resourceVersion for the provided list is too old.";
	static const char page_expired[] =
	    "The provided continue parameter is too old to display a consistent list "
	    "result. You can start a new list without the continue parameter, or use the continue token "
	    "in this response to retrieve the remainder of the results. Continuing with the provided "
	    "token results in an inconsistent list - objects that were created, modified, or deleted "
	    "between the time the first chunk was returned and now may show up in the list.";
	const struct sim_fault *const stale = c->plan.of[FAULT_STALE];
	const uint64_t rv = stale != NULL ? (uint64_t)stale->amount : params->rv;
	struct sim_snapshot *const snap =
	    sim_store_snapshot(c->sim->store, c->resource->storage, params->selection.ns, rv);

	if (snap != NULL)
		return snap;
	json_t *const status = sim_semantics_failure(
	    410, "Expired", "%s", params->page.start != NULL ? page_expired : expired);
	if (params->page.start != NULL) {
		/* See sim_page_parse. */
		char *const key = obj_strdup(params->page.start);
		key[strcspn(key, "\1")] = '\0';
		char *const token = sim_page_token(-1, key);
		json_object_set_new(json_object_get(status, "metadata"), "continue", json_string(token));
		free(token);
		free(key);
	}
	sim_request_reply_status(c, status);
	return NULL;
}

/* Leaves in snap what this page shows. The token of the next page, to be freed; NULL: there is none. */
static char *
choose(const struct list_params *params, struct sim_snapshot *snap, int64_t *remaining)
{
	const bool all = sim_selection_is_all(&params->selection);
	size_t kept = 0, i = 0;
	char *next = NULL;

	*remaining = -1;
	for (; i < snap->n; i++) {
		struct sim_blob *b = snap->objects[i];
		const bool wanted = (params->page.start == NULL
		    || strcmp(sim_blob_key(b), params->page.start) >= 0)
		    && sim_selection_matches(&params->selection, b);

		if (wanted && params->limit > 0 && kept == (size_t)params->limit) {
			next = sim_page_token((int64_t)snap->rv, sim_blob_key(snap->objects[kept - 1]));
			*remaining = all ? (int64_t)(snap->n - i) : -1;
			break;
		}
		if (wanted)
			snap->objects[kept++] = b;
		else
			sim_blob_unref(&b);
	}
	for (; i < snap->n; i++)
		sim_blob_unref(&snap->objects[i]);
	snap->n = kept;
	return next;
}

/* Takes snap and next. */
static void
hand_over(struct sim_request *c, const struct sim_view *view, struct sim_snapshot *snap, char *next,
    int64_t remaining)
{
	const bool gzip = weight(snap, view->shape) > GZIP_ABOVE
	    && sim_accept_gzip(sim_request_header(c, "Accept-Encoding"));
	struct list_stream *const l = obj_alloc(sizeof(*l));

	l->view = *view;
	l->snap = snap;
	l->next = next;
	l->meta = (struct sim_list_meta){ snap->rv, next != NULL ? next : "", remaining };
	l->stream = sim_stream_open(&c, "application/json", gzip ? CODING_GZIP : CODING_NONE, fill, gone, l);
	sim_view_list_head(&l->view, &l->meta, sim_stream_buffer(l->stream));
	fill(l);
}

static size_t
weight(const struct sim_snapshot *snap, enum sim_shape shape)
{
	size_t sum = 0;

	for (size_t i = 0; i < snap->n; i++)
		sum += shape == SHAPE_OBJECT ? snap->objects[i]->len : snap->objects[i]->meta_len;
	return sum;
}

/* The next piece, or the end. */
static void
fill(void *arg)
{
	struct list_stream *const l = arg;
	struct evbuffer *const out = sim_stream_buffer(l->stream);

	for (; l->at < l->snap->n && evbuffer_get_length(out) < PIECE; l->at++) {
		if (l->at > 0)
			evbuffer_add(out, ",", 1);
		sim_view_list_item(&l->view, l->snap->objects[l->at], out);
	}
	const bool done = l->at == l->snap->n;
	if (done) {
		sim_view_list_tail(&l->view, &l->meta, out);
		evbuffer_add(out, "\n", 1);
	}
	sim_stream_flush(l->stream);
	if (done && !sim_stream_mute(l->stream)) {
		sim_stream_end(&l->stream, ENDING_CLEAN);
		gone(l);
	}
}

static void
gone(void *arg)
{
	struct list_stream *const l = arg;

	sim_snapshot_free(&l->snap);
	free(l->next);
	free(l);
}
