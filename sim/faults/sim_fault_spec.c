/*
 * sim/faults/sim_fault_spec.c - one table of keys: which kind reads which, and what they are when
 * they are missing.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim_faults.h"

static const char *const names[FAULT_MAX] = {
#define FAULT_NAME(ID, name, point) [FAULT_##ID] = name,
	FAULTS(FAULT_NAME)
#undef FAULT_NAME
};

enum fault_key_type { TEXT, LONG_TEXT, FLAG, WHOLE,
    DIFFERENCE };		/* a difference may be negative */

#define OF(ID)		(1u << FAULT_##ID)
#define ANY		(~0u)
#define AT(member)	offsetof(struct sim_fault, member)

#define EVENTS		(OF(DROP_EVENT) | OF(DUPLICATE_EVENT) | OF(SWAP_EVENTS) | OF(GONE_IN_STREAM) \
			| OF(ERROR_IN_STREAM) | OF(MALFORMED))
#define AT_ONCE		(OF(CUT) | OF(STALL) | OF(THROTTLE) | OF(SHORT_WATCH) | OF(GONE_IN_STREAM) \
			| OF(ERROR_IN_STREAM) | OF(MALFORMED))

static const struct fault_key {
	const char		*name;
	enum fault_key_type	 type;
	bool			 wide;		/* a number: int64_t, else int */
	size_t			 offset;
	unsigned		 kinds;		/* that have it */
} keys[] = {
	{ "verb",        TEXT,      false, AT(verb),        ANY },
	{ "resource",    TEXT,      false, AT(resource),    ANY },
	{ "name",        TEXT,      false, AT(name),        ANY },
	{ "user_agent",  TEXT,      false, AT(user_agent),  ANY },
	{ "api",         TEXT,      false, AT(api),         ANY },
	{ "class",       TEXT,      false, AT(class),       ANY },
	{ "event",       TEXT,      false, AT(event),       EVENTS },
	{ "count",       WHOLE,     true,  AT(count),       ANY },
	{ "after",       WHOLE,     true,  AT(after),       ANY },
	{ "now",         FLAG,      false, AT(now),         AT_ONCE },
	{ "code",        WHOLE,     false, AT(code),        OF(STATUS) | OF(ERROR_IN_STREAM) },
	{ "reason",      TEXT,      false, AT(reason),      OF(STATUS) | OF(ERROR_IN_STREAM) },
	{ "message",     LONG_TEXT, false, AT(text),        OF(STATUS) | OF(ERROR_IN_STREAM) },
	{ "retry_after", TEXT,      false, AT(retry_after), OF(STATUS) },
	{ "body",        TEXT,      false, AT(mode),        OF(STATUS) },
	{ "ms",          WHOLE,     true,  AT(amount),      OF(LATENCY) | OF(LATE_ANSWER) | OF(LATE_EFFECT) },
	{ "seconds",     DIFFERENCE, true, AT(amount),      OF(DATE_OFFSET) },
	{ "rv",          WHOLE,     true,  AT(amount),      OF(STALE) },
	{ "behind",      WHOLE,     true,  AT(behind),      OF(STALE) },
	{ "bytes",       WHOLE,     true,  AT(amount),      OF(CUT) | OF(THROTTLE) | OF(HUGE_HEADERS) | OF(STALL) },
	{ "how",         TEXT,      false, AT(mode),        OF(CUT) },
	{ "mode",        TEXT,      false, AT(mode),        OF(NO_WATCHLIST) },
	{ "text",        LONG_TEXT, false, AT(text),        OF(MALFORMED) },
};

/* The default of each kind, and the values of its mode (the first is the default). */
static const struct given {
	int		 code;
	int64_t		 amount;
	const char	*reason, *modes[4];
} givens[FAULT_MAX] = {
	[FAULT_STATUS] = { .code = 503, .modes = { "status", "html", "empty", "text" } },
	[FAULT_ERROR_IN_STREAM] = { .code = 500, .reason = "InternalError" },
	[FAULT_LATENCY] = { .amount = 1000 },
	[FAULT_LATE_ANSWER] = { .amount = 1000 },
	[FAULT_LATE_EFFECT] = { .amount = 1000 },
	[FAULT_DATE_OFFSET] = { .amount = 3600 },
	[FAULT_HUGE_HEADERS] = { .amount = 256 * 1024 },
	[FAULT_THROTTLE] = { .amount = 1 },
	[FAULT_STALE] = { .amount = 1 },
	[FAULT_CUT] = { .modes = { "fin", "reset", "clean" } },
	[FAULT_NO_WATCHLIST] = { .modes = { "400", "422", "ignored", "error_event" } },
};

static bool take(struct sim_fault *, const char *, const json_t *, char *, size_t);
static bool store(struct sim_fault *, const struct fault_key *, const json_t *);
static bool check_mode(struct sim_fault *, char *, size_t);
static const struct fault_key *find(const char *, enum sim_fault_kind);

struct sim_fault *
sim_fault_from_json(const json_t *spec, char *err, size_t size)
{
	const char *const kind = json_string_value(json_object_get(spec, "kind"));
	struct sim_fault *x;
	const char *key;
	json_t *value;
	int k = 0;

	while (kind != NULL && k < FAULT_MAX && strcmp(names[k], kind) != 0)
		k++;
	if (kind == NULL || k == FAULT_MAX) {
		snprintf(err, size, "kind: %s", kind == NULL ? "is missing" : "is none of the known faults");
		return NULL;
	}
	x = obj_alloc(sizeof(*x));
	x->kind = (enum sim_fault_kind)k;
	x->count = 1;
	x->behind = 1;
	x->code = givens[k].code;
	x->amount = givens[k].amount;
	snprintf(x->reason, sizeof(x->reason), "%s", givens[k].reason != NULL ? givens[k].reason : "");
	json_object_foreach((json_t *)(uintptr_t)spec, key, value) {
		if (strcmp(key, "kind") != 0 && !take(x, key, value, err, size))
			goto refuse;
	}
	if (check_mode(x, err, size))
		return x;
refuse:
	free(x->text);
	free(x);
	return NULL;
}

json_t *
sim_fault_to_json(const struct sim_fault *x)
{
	json_t *const out = json_pack("{s:i, s:s}", "id", (int)x->id, "kind", names[x->kind]);

	for (size_t i = 0; i < NITEMS(keys); i++) {
		const char *const at = (const char *)x + keys[i].offset;
		const char *const text = keys[i].type == LONG_TEXT ? *(char *const *)(uintptr_t)at : at;

		if ((keys[i].kinds & 1u << x->kind) == 0)
			continue;
		if (keys[i].type == WHOLE || keys[i].type == DIFFERENCE)
			json_object_set_new(out, keys[i].name, json_integer(keys[i].wide
			    ? *(const int64_t *)(uintptr_t)at : *(const int *)(uintptr_t)at));
		else if (keys[i].type == FLAG)
			json_object_set_new(out, keys[i].name, json_boolean(*(const bool *)at));
		else if (text != NULL && text[0] != '\0')
			json_object_set_new(out, keys[i].name, json_string(text));
	}
	json_object_set_new(out, "seen", json_integer((json_int_t)x->seen));
	json_object_set_new(out, "hits", json_integer((json_int_t)x->hits));
	return out;
}

static bool
take(struct sim_fault *x, const char *name, const json_t *value, char *err, size_t size)
{
	const struct fault_key *const key = find(name, x->kind);

	if (key == NULL) {
		snprintf(err, size, "%s: not a key of a fault of kind %s", name, names[x->kind]);
		return false;
	}
	if (store(x, key, value))
		return true;
	snprintf(err, size, "%s: not a value for it", name);
	return false;
}

static bool
store(struct sim_fault *x, const struct fault_key *key, const json_t *value)
{
	char *const to = (char *)x + key->offset;
	const char *const text = json_string_value(value);

	switch (key->type) {
	case TEXT:
		return text != NULL && (size_t)snprintf(to, FAULT_TEXT_MAX, "%s", text) < FAULT_TEXT_MAX;
	case LONG_TEXT:
		if (text == NULL)
			return false;
		free(*(char **)(uintptr_t)to);
		*(char **)(uintptr_t)to = obj_strdup(text);
		return true;
	case FLAG:
		*(bool *)to = json_is_true(value);
		return json_is_boolean(value);
	case WHOLE:
	case DIFFERENCE:
		break;
	}
	if (!json_is_integer(value) || (key->type == WHOLE && json_integer_value(value) < -1))
		return false;
	if (key->wide)
		*(int64_t *)(uintptr_t)to = json_integer_value(value);
	else
		*(int *)(uintptr_t)to = (int)json_integer_value(value);
	return true;
}

static bool
check_mode(struct sim_fault *x, char *err, size_t size)
{
	const char *const *const modes = givens[x->kind].modes;

	if (modes[0] == NULL)
		return true;
	if (x->mode[0] == '\0')
		snprintf(x->mode, sizeof(x->mode), "%s", modes[0]);
	for (size_t i = 0; i < NITEMS(givens[0].modes) && modes[i] != NULL; i++) {
		if (strcmp(modes[i], x->mode) == 0)
			return true;
	}
	snprintf(err, size, "\"%s\" is none of the words it may be (docs/simulator.md)", x->mode);
	return false;
}

static const struct fault_key *
find(const char *name, enum sim_fault_kind kind)
{
	for (size_t i = 0; i < NITEMS(keys); i++) {
		if (strcmp(keys[i].name, name) == 0 && (keys[i].kinds & 1u << kind) != 0)
			return &keys[i];
	}
	return NULL;
}
