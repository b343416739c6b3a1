/* sim/kube/store/sim_watch_event.c - one line per event, and what faults do to events. */
#include <event2/buffer.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim_watch_private.h"

static void emit(struct sim_watch *, const char *, const struct sim_blob *, uint64_t);
static const struct sim_fault *hit(struct sim_watch *, enum sim_fault_kind, const char *, const char *);
static void write_line(struct sim_watch *, struct evbuffer *, const char *, const struct sim_blob *,
    uint64_t);
static void line_done(struct sim_watch *);

/*
 * Seen through a selection: an object that enters it is added, one that leaves it is deleted, with
 * its last state in the selection and the resourceVersion of the change (as the apiserver's watch
 * cache has it).
 */
void
sim_watch_event_change(struct sim_watch *w, const struct sim_change *c)
{
	const bool was = c->before != NULL && sim_selection_matches(&w->selection, c->before);
	const bool is = c->after != NULL && sim_selection_matches(&w->selection, c->after);

	if (is)
		emit(w, was ? "MODIFIED" : "ADDED", c->after, 0);
	else if (was)
		emit(w, "DELETED", c->before, c->rv);
}

void
sim_watch_event_initial(struct sim_watch *w, const struct sim_blob *b)
{
	if (sim_selection_matches(&w->selection, b))
		emit(w, "ADDED", b, 0);
}

void
sim_watch_event_bookmark(struct sim_watch *w, uint64_t rv, bool end)
{
	struct evbuffer *const out = sim_stream_buffer(w->stream);

	if (sim_stream_request(w->stream)->plan.of[FAULT_NO_BOOKMARKS] != NULL)
		return;
	evbuffer_add_printf(out, "{\"type\":\"BOOKMARK\",\"object\":");
	sim_view_bookmark(&w->view, rv, end, out);
	evbuffer_add(out, "}\n", 2);
	line_done(w);
}

void
sim_watch_event_error(struct sim_watch *w, int code, const char *reason, const char *message)
{
	json_auto_t *status = sim_semantics_failure(code, reason, "%s", message);
	struct evbuffer *const out = sim_stream_buffer(w->stream);

	evbuffer_add_printf(out, "{\"type\":\"ERROR\",\"object\":");
	sim_buf_json_into(out, status);
	evbuffer_add(out, "}\n", 2);
	line_done(w);
	w->failing = true;
}

void
sim_watch_event_fault(struct sim_watch *w, const struct sim_fault *f)
{
	if (f->kind == FAULT_GONE_IN_STREAM) {
		sim_watch_event_error(w, 410, "Expired", "too old resource version: 1 (2)");
	} else if (f->kind == FAULT_ERROR_IN_STREAM) {
		sim_watch_event_error(w, f->code, f->reason, f->text != NULL ? f->text : "injected fault");
	} else {
		const char *const text = f->text != NULL ? f->text : "{\"type\":\"ADDED\",\"object\":";

		evbuffer_add(sim_stream_buffer(w->stream), text, strlen(text));
		evbuffer_add(sim_stream_buffer(w->stream), "\n", 1);
		line_done(w);
	}
}

static void
emit(struct sim_watch *w, const char *type, const struct sim_blob *b, uint64_t rv)
{
	static const enum sim_fault_kind fatal[] = { FAULT_GONE_IN_STREAM, FAULT_ERROR_IN_STREAM };
	struct evbuffer *const out = sim_stream_buffer(w->stream);
	const char *const name = sim_blob_name(b);
	const struct sim_fault *f;

	for (size_t i = 0; i < NITEMS(fatal); i++) {
		if ((f = hit(w, fatal[i], type, name)) != NULL) {
			sim_watch_event_fault(w, f);
			return;
		}
	}
	if (hit(w, FAULT_DROP_EVENT, type, name) != NULL)
		return;
	if ((f = hit(w, FAULT_MALFORMED, type, name)) != NULL) {
		sim_watch_event_fault(w, f);
		return;
	}
	if (w->held == NULL && hit(w, FAULT_SWAP_EVENTS, type, name) != NULL) {
		w->held = evbuffer_new();
		write_line(w, w->held, type, b, rv);
		return;
	}
	write_line(w, out, type, b, rv);
	line_done(w);
	if (hit(w, FAULT_DUPLICATE_EVENT, type, name) != NULL) {
		write_line(w, out, type, b, rv);
		line_done(w);
	}
	if (w->held != NULL) {
		evbuffer_add_buffer(out, w->held);
		evbuffer_free(w->held);
		w->held = NULL;
		line_done(w);
	}
}

static const struct sim_fault *
hit(struct sim_watch *w, enum sim_fault_kind kind, const char *event, const char *name)
{
	char qualified[512];
	const struct sim_fault_subject subject = sim_watch_subject(w, event, name, qualified,
	    sizeof(qualified));

	return sim_faults_hit(w->sim->faults, kind, &subject);
}

static void
write_line(struct sim_watch *w, struct evbuffer *out, const char *type, const struct sim_blob *b, uint64_t rv)
{
	evbuffer_add_printf(out, "{\"type\":\"%s\",\"object\":", type);
	sim_view_object(&w->view, b, rv, out);
	evbuffer_add(out, "}\n", 2);
}

static void
line_done(struct sim_watch *w)
{
	if (w->members)
		sim_stream_flush(w->stream);
}
