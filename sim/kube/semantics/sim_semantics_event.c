/*
 * sim/kube/semantics/sim_semantics_event.c - the rules of Events and Leases: small objects that are
 * written often.
 *
 * An Event is judged by its stored (core) form whatever form it was sent in: so do the field names
 * in the texts.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

/* stored: as the texts call it; the other two: as the forms call it. */
static const struct event_field {
	const char	*stored, *core, *new;
	size_t		 max;		/* 0: no limit */
	bool		 required;
} fields[] = {
	{ "reportingInstance",	"reportingInstance",	"reportingInstance",	128,	true	},
	{ "action",		"action",		"action",		128,	true	},
	{ "reason",		"reason",		"reason",		128,	true	},
	{ "message",		"message",		"note",			1024,	false	},
};

/* In the order of the real server, which requires the reason twice. */
static const struct {
	const char	*stored, *new;
} immutable[] = {
	{ "involvedObject",	"regarding"			},
	{ "reason",		"reason"			},
	{ "message",		"note"				},
	{ "source",		"deprecatedSource"		},
	{ "firstTimestamp",	"deprecatedFirstTimestamp"	},
	{ "lastTimestamp",	"deprecatedLastTimestamp"	},
	{ "count",		"deprecatedCount"		},
	{ "reason",		"reason"			},
	{ "type",		"type"				},
	{ "eventTime",		"eventTime"			},
	{ "action",		"action"			},
	{ "related",		"related"			},
	{ "reportingController", "reportingController"		},
	{ "reportingInstance",	"reportingInstance"		},
};

static void check_any(json_t *errors, bool is_new, const json_t *event);
static void check_new(json_t *errors, const json_t *event);
static void check_series(json_t *errors, const json_t *series);
static void check_namespace(json_t *errors, const char *namespace, const char *of_object, bool dated);
static bool is_set(const json_t *object, const char *key);

void
sim_event_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const bool is_new = strcmp(a->resource->group, "events.k8s.io") == 0;

	check_any(errors, is_new, object);
	if (!is_new)
		return;
	if (old == NULL) {
		check_new(errors, object);
		return;
	}
	if (!same_member(object, old, "series"))
		check_series(errors, json_object_get(object, "series"));
	for (size_t i = 0; i < NITEMS(immutable); i++)
		if (!same_member(object, old, immutable[i].new))
			sim_field_error(errors, FIELD_INVALID, immutable[i].stored,
			    json_object_get(object, immutable[i].new), "field is immutable");
}

void
sim_lease_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const json_t *spec = json_object_get(object, "spec");
	const json_t *seconds = json_object_get(spec, "leaseDurationSeconds"),
	    *moves = json_object_get(spec, "leaseTransitions");

	(void)a;
	(void)old;
	if (seconds != NULL && json_integer_value(seconds) <= 0)
		sim_field_error(errors, FIELD_INVALID, "spec.leaseDurationSeconds", seconds,
		    "must be greater than 0");
	if (moves != NULL && json_integer_value(moves) < 0)
		sim_field_error(errors, FIELD_INVALID, "spec.leaseTransitions", moves,
		    "must be greater than or equal to 0");
}

/* What holds in both forms; an Event with eventTime is one of the new kind. */
static void
check_any(json_t *errors, bool is_new, const json_t *event)
{
	const bool dated = is_set(event, "eventTime");
	const char *controller = is_new ? "reportingController" : "reportingComponent";

	check_namespace(errors, meta_text(event, "namespace"),
	    sim_json_text(json_object_get(event, is_new ? "regarding" : "involvedObject"),
	    "namespace"), dated);
	if (!dated)
		return;
	if (*sim_json_text(event, controller) == '\0')
		sim_field_error(errors, FIELD_REQUIRED, controller, NULL, "%s", "");
	sim_name_check_qualified(errors, controller, sim_json_text(event, controller),
	    sim_json_text(event, controller));
	for (size_t i = 0; i < NITEMS(fields); i++) {
		const size_t len = strlen(sim_json_text(event, is_new ? fields[i].new : fields[i].core));

		if (len == 0 && fields[i].required)
			sim_field_error(errors, FIELD_REQUIRED, fields[i].stored, NULL, "%s", "");
		if (len > fields[i].max)
			sim_field_error_text(errors, FIELD_INVALID, fields[i].stored, "",
			    "can have at most %zu characters", fields[i].max);
	}
}

static void
check_new(json_t *errors, const json_t *event)
{
	static const struct {
		const char *stored, *new;
	} unset[] = {
		{ "firstTimestamp", "deprecatedFirstTimestamp" }, { "lastTimestamp", "deprecatedLastTimestamp" },
		{ "count", "deprecatedCount" },
	};
	const char *type = sim_json_text(event, "type");
	const json_t *source = json_object_get(event, "deprecatedSource");

	check_series(errors, json_object_get(event, "series"));
	if (!is_set(event, "eventTime"))
		sim_field_error(errors, FIELD_REQUIRED, "eventTime", NULL, "%s", "");
	if (strcmp(type, "Normal") != 0 && strcmp(type, "Warning") != 0)
		sim_field_error_text(errors, FIELD_INVALID, "type", "", "has invalid value: %s", type);
	for (size_t i = 0; i < NITEMS(unset); i++)
		if (is_set(event, unset[i].new))
			sim_field_error_text(errors, FIELD_INVALID, unset[i].stored, "", "needs to be unset");
	if (json_object_size(source) > 0)
		sim_field_error_text(errors, FIELD_INVALID, "source", "", "needs to be unset");
}

static void
check_series(json_t *errors, const json_t *series)
{
	if (series == NULL)
		return;
	if (json_integer_value(json_object_get(series, "count")) < 2)
		sim_field_error_text(errors, FIELD_INVALID, "series.count", "", "should be at least 2");
	if (!is_set(series, "lastObservedTime"))
		sim_field_error(errors, FIELD_REQUIRED, "series.lastObservedTime", NULL, "%s", "");
}

/*
 * An Event lives where its object does; of an object without a namespace it lives in default (or
 * kube-system).
 */
static void
check_namespace(json_t *errors, const char *namespace, const char *of_object, bool dated)
{
	const bool at_home = strcmp(namespace, "default") == 0
	    || (dated && strcmp(namespace, "kube-system") == 0);
	const bool fits = *of_object == '\0' ? at_home : dated || strcmp(namespace, of_object) == 0;

	if (!fits)
		sim_field_error_text(errors, FIELD_INVALID, "involvedObject.namespace", of_object,
		    "does not match event.namespace");
}

static bool
is_set(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return value != NULL && !json_is_null(value);
}
