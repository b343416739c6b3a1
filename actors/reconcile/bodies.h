/*
 * actors/reconcile/bodies.h - the parts of JSON bodies that every actor writes. Pure.
 *
 * A condition keeps its stored time while its status stays. One whose status changed, that is new, or that
 * has no valid time gets the time of its cause, else now. So times survive every restart: they are in the
 * object and nowhere else.
 */
#ifndef MUSTER_BODIES_H
#define MUSTER_BODIES_H

#include <stdbool.h>

#include "json.h"
#include "msg.h"

enum { EVENT_BODY_MAX = 8 * 1024 };

struct status_condition {
	struct wire_str	type, status, reason, message;
	struct wire_str	time;		/* stored: lastTransitionTime; desired: that of its cause, or "" */
};

/* Sets the time of each desired condition. */
void conditions_set_times(struct status_condition *desired, uint32_t n,
    const struct status_condition *stored, uint32_t nstored, struct wire_str now);
bool conditions_equal(
    const struct status_condition *a, uint32_t na, const struct status_condition *b, uint32_t nb);
/* Member "conditions" of the open object. */
void conditions_put(struct json *j, const struct status_condition *c, uint32_t n);

/* Opens an object with apiVersion, kind and metadata.name. api: "group/version" as the cluster has it. */
struct json body_begin(char *buf, size_t size, const char *api, const char *kind, struct wire_str name);
void body_text(struct json *j, const char *name, struct wire_str s);
/* The body of an OP_EVENT: its length. The note is cut to what the API accepts. */
size_t event_body(char buf[EVENT_BODY_MAX], const char *type, const char *reason, const char *action,
    struct wire_str note);

/* Rows of type, status, reason, message, time (kinds.h): at most `most`. Returns how many. */
static inline uint32_t
conditions_read(struct wire_rows rows, struct status_condition *out, uint32_t most)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];
	uint32_t n = 0;

	while (n < most && rows_next(&rows, cells)) {
		out[n++] = (struct status_condition){ .type = cells[0], .status = cells[1],
			.reason = cells[2], .message = cells[3], .time = cells[4] };
	}
	return n;
}

/* Member "finalizers" of the open metadata: those of others stay, in their order; ours if it is kept. */
static inline void
body_finalizers(struct json *j, struct wire_rows stored, const char *ours, bool keep)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	json_open(j, "finalizers", '[');
	while (rows_next(&stored, cells)) {
		if (!wire_str_is(cells[0], ours))
			body_text(j, NULL, cells[0]);
	}
	if (keep)
		json_str(j, NULL, ours);
	json_close(j, ']');
}

#endif
