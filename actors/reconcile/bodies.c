/* actors/reconcile/bodies.c - conditions and their times, object heads, Events. Pure. */
#include "bodies.h"

#include "kube/time.h"
#include "utf8.h"

enum { NOTE_MAX = 1024 };	/* of the API; kube-watcher cuts the same way */

static const struct status_condition *find(const struct status_condition *, uint32_t, struct wire_str);
static bool is_time(struct wire_str);

void
conditions_set_times(struct status_condition *desired, uint32_t n,
    const struct status_condition *stored, uint32_t nstored, struct wire_str now)
{
	for (uint32_t i = 0; i < n; i++) {
		struct status_condition *const c = &desired[i];
		const struct status_condition *const old = find(stored, nstored, c->type);

		if (old != NULL && wire_str_same(old->status, c->status) && is_time(old->time))
			c->time = old->time;
		else if (!is_time(c->time))
			c->time = now;
	}
}

bool
conditions_equal(const struct status_condition *a, uint32_t na, const struct status_condition *b, uint32_t nb)
{
	bool equal = na == nb;

	for (uint32_t i = 0; equal && i < na; i++)
		equal = wire_str_same(a[i].type, b[i].type) && wire_str_same(a[i].status, b[i].status)
		    && wire_str_same(a[i].reason, b[i].reason) && wire_str_same(a[i].message, b[i].message)
		    && wire_str_same(a[i].time, b[i].time);
	return equal;
}

void
conditions_put(struct json *j, const struct status_condition *c, uint32_t n)
{
	json_open(j, "conditions", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		body_text(j, "type", c[i].type);
		body_text(j, "status", c[i].status);
		body_text(j, "reason", c[i].reason);
		body_text(j, "message", c[i].message);
		body_text(j, "lastTransitionTime", c[i].time);
		json_close(j, '}');
	}
	json_close(j, ']');
}

struct json
body_begin(char *buf, size_t size, const char *api, const char *kind, struct wire_str name)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_str(&j, "apiVersion", api);
	json_str(&j, "kind", kind);
	json_open(&j, "metadata", '{');
	body_text(&j, "name", name);
	json_close(&j, '}');
	return j;
}

void
body_text(struct json *j, const char *name, struct wire_str s)
{
	json_strn(j, name, s.len > 0 ? s.p : "", s.len);
}

size_t
event_body(char buf[EVENT_BODY_MAX], const char *type, const char *reason, const char *action,
    struct wire_str note)
{
	struct json j = { .buf = buf, .size = EVENT_BODY_MAX };

	note.len = (uint32_t)utf8_cut(note.p, note.len, NOTE_MAX, SIZE_MAX);
	json_open(&j, NULL, '{');
	json_str(&j, "type", type);
	json_str(&j, "reason", reason);
	json_str(&j, "action", action);
	body_text(&j, "note", note);
	json_close(&j, '}');
	return json_end(&j);
}

static const struct status_condition *
find(const struct status_condition *list, uint32_t n, struct wire_str type)
{
	for (uint32_t i = 0; i < n; i++) {
		if (wire_str_same(list[i].type, type))
			return &list[i];
	}
	return NULL;
}

static bool
is_time(struct wire_str text)
{
	int64_t us;

	return text.len > 0 && time_parse(text.p, text.len, &us) && us != TIME_UNSET_US;
}
