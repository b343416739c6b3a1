/* actors/kube-watcher/event_object.c - Event objects and the requests that write them. */
#include "event_object.h"

#include <stdio.h>
#include <string.h>

#include "groups.h"
#include "kinds.h"
#include "kube/time.h"
#include "obj.h"

enum { WORD_MAX = 128 };

static const char *kind_name(const struct call_params *, const json_t *);
static const char *word(const json_t *, const char *);

const char *
event_parse(const struct call_params *a, json_t **fields)
{
	json_t *const f = json_loadb(a->body, a->body_len, JSON_REJECT_DUPLICATES, NULL);
	const char *wrong = NULL;

	*fields = NULL;
	if (a->version[0] == '\0')
		wrong = "version: missing, and kube-watcher does not read this resource";
	else if (kind_name(a, f) == NULL)
		wrong = "body: an Event about a resource that kinds.h does not list needs a kind";
	else if (word(f, "type") == NULL || word(f, "reason") == NULL || word(f, "action") == NULL)
		wrong = "body: an Event has type, reason and action, each of 1 to 128 characters";
	else if (strcmp(word(f, "type"), "Normal") != 0 && strcmp(word(f, "type"), "Warning") != 0)
		wrong = "body: the type of an Event is Normal or Warning";
	if (wrong != NULL)
		json_decref(f);
	else
		*fields = f;
	return wrong;
}

void
event_build(struct event_object *e, const struct call_params *a, const json_t *fields, const char *instance,
    uint64_t unique, int64_t now_us)
{
	const json_t *const note = json_object_get(fields, "note");
	char now[TIME_TEXT_MAX], controller[64], group_version[320];

	json_decref(e->body);
	time_format_micro(now_us, now, sizeof(now));
	snprintf(controller, sizeof(controller), "muster-%s", role_name(a->sender));
	snprintf(group_version, sizeof(group_version), "%s%s%s", group_served(a->group),
	    a->group[0] == '\0' ? "" : "/", a->version);
	snprintf(e->ns, sizeof(e->ns), "%s", a->ns[0] == '\0' ? "default" : a->ns);
	event_name(a->name, unique, e->name);
	const size_t note_len = json_is_string(note)
	    ? event_note_length(json_string_value(note), json_string_length(note)) : 0;
	e->body = json_pack(
	    "{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:s, s:s%, s:{s:s, s:s, s:s}}",
	    "apiVersion", "events.k8s.io/v1", "kind", "Event",
	    "metadata", "name", e->name, "namespace", e->ns, "eventTime", now,
	    "reportingController", controller, "reportingInstance", instance,
	    "type", word(fields, "type"), "reason", word(fields, "reason"), "action", word(fields, "action"),
	    "note", json_is_string(note) ? json_string_value(note) : "", note_len,
	    "regarding", "apiVersion", group_version, "kind", kind_name(a, fields), "name", a->name);
	MUST(e->body != NULL);		/* write_check and event_parse let only text through */
	json_t *const regarding = json_object_get(e->body, "regarding");
	if (a->ns[0] != '\0')
		json_object_set_new(regarding, "namespace", json_string(a->ns));
	if (a->uid[0] != '\0')
		json_object_set_new(regarding, "uid", json_string(a->uid));
}

void
event_request(const struct event_object *e, int64_t count, int64_t last_us, struct call_http *out)
{
	char last[TIME_TEXT_MAX];
	json_t *series = NULL;

	*out = (struct call_http){ .method = count > 0 ? "PATCH" : "POST",
		.content_type = count > 0 ? "application/merge-patch+json" : "application/json" };
	MUST(path_make(out->path, sizeof(out->path), &(struct kube_path){
		.group = "events.k8s.io", .version = "v1", .resource = "events", .ns = e->ns,
		.name = count > 0 ? e->name : "",
	}));
	if (count > 0) {
		time_format_micro(last_us, last, sizeof(last));
		series = json_pack("{s:{s:I, s:s}}", "series", "count", (json_int_t)count,
		    "lastObservedTime", last);
	}
	out->body = json_dumps(count > 0 ? series : e->body, JSON_COMPACT);
	MUST(out->body != NULL);
	out->body_len = strlen(out->body);
	json_decref(series);
}

static const char *
kind_name(const struct call_params *a, const json_t *fields)
{
	const enum kind k = kind_find(a->group, a->resource);

	return k != KIND_MAX ? kind_table[k].kind : word(fields, "kind");
}

/* A text of 1 to WORD_MAX bytes; NULL: it is missing, or something else. */
static const char *
word(const json_t *fields, const char *key)
{
	const json_t *const v = json_object_get(fields, key);
	const size_t len = json_string_length(v);

	return json_is_string(v) && len > 0 && len <= WORD_MAX ? json_string_value(v) : NULL;
}
