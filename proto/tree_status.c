/* proto/tree_status.c - the supervisor's JSON into a struct: two tables of fields, all of it checked. */
#include "tree_status.h"

#include <jansson.h>
#include <string.h>

#include "err.h"
#include "obj.h"

#define TREE_STATUS_MAGIC	0x524f5354u

enum member_type { FIELD_STR, FIELD_INT, FIELD_FLAG };
enum need { REQUIRED, NULLABLE, OPTIONAL };

struct member {
	const char	*key;
	enum member_type	 type;
	enum need	 need;
	size_t		 offset;
};

static const struct member supervisor_fields[] = {
	{ "pid",      FIELD_INT, REQUIRED, offsetof(struct tree_status, pid) },
	{ "state",    FIELD_STR, REQUIRED, offsetof(struct tree_status, state) },
	{ "uptime_s", FIELD_INT, REQUIRED, offsetof(struct tree_status, uptime_s) },
	{ "version",  FIELD_STR, REQUIRED, offsetof(struct tree_status, version) },
};

static const struct member actor_fields[] = {
	{ "name",          FIELD_STR,  REQUIRED, offsetof(struct tree_status_actor, name) },
	{ "pid",           FIELD_INT,  REQUIRED, offsetof(struct tree_status_actor, pid) },
	{ "state",         FIELD_STR,  REQUIRED, offsetof(struct tree_status_actor, state) },
	{ "incarnation",   FIELD_INT,  REQUIRED, offsetof(struct tree_status_actor, incarnation) },
	{ "restarts",      FIELD_INT,  REQUIRED, offsetof(struct tree_status_actor, restarts) },
	{ "last_exit",     FIELD_STR,  NULLABLE, offsetof(struct tree_status_actor, last_exit) },
	{ "uptime_s",      FIELD_INT,  REQUIRED, offsetof(struct tree_status_actor, uptime_s) },
	{ "rss_kib",       FIELD_INT,  REQUIRED, offsetof(struct tree_status_actor, rss_kib) },
	{ "synced",        FIELD_FLAG, REQUIRED, offsetof(struct tree_status_actor, synced) },
	{ "mailbox",       FIELD_INT,  REQUIRED, offsetof(struct tree_status_actor, mailbox) },
	{ "status",        FIELD_STR,  OPTIONAL, offsetof(struct tree_status_actor, status) },
	{ "next_start_ms", FIELD_INT,  OPTIONAL, offsetof(struct tree_status_actor, next_start_ms) },
	{ "beat_age_ms",   FIELD_INT,  OPTIONAL, offsetof(struct tree_status_actor, beat_age_ms) },
	{ "deaths",        FIELD_INT,  OPTIONAL, offsetof(struct tree_status_actor, deaths) },
	{ "core",          FIELD_FLAG, OPTIONAL, offsetof(struct tree_status_actor, core) },
	{ "enabled",       FIELD_FLAG, OPTIONAL, offsetof(struct tree_status_actor, enabled) },
};

static bool read_fields(const json_t *, const char *, const struct member *, size_t, void *, char *, size_t);
static bool read_field(const json_t *, const struct member *, void *);
static bool read_actor(const json_t *, struct tree_status *, char *, size_t);
static void read_words(const json_t *, struct tree_status_actor *);
static void read_deaths(const json_t *, struct tree_status *);

struct tree_status *
tree_status_parse(const char *json, size_t len, char *why, size_t size)
{
	struct tree_status *t = NULL;
	json_error_t error;

	json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL) {
		err_refuse(why, size, "not JSON: %s", error.text);
		return NULL;
	}
	const json_t *list = json_object_get(root, "actors");
	const size_t n = json_array_size(list);
	if (!json_is_array(list) || n > TREE_STATUS_ACTORS_MAX) {
		err_refuse(why, size, "`actors` is missing, not a list, or longer than %d",
		    TREE_STATUS_ACTORS_MAX);
		json_decref(root);
		return NULL;
	}
	t = obj_alloc(sizeof(*t) + n * sizeof(t->actors[0]));
	t->magic = TREE_STATUS_MAGIC;
	t->json = root;
	const json_t *supervisor = json_object_get(root, "supervisor");
	bool ok = read_fields(supervisor, "supervisor", supervisor_fields, NITEMS(supervisor_fields), t, why,
	    size);
	read_deaths(json_object_get(supervisor, "deaths_by_cause"), t);
	for (size_t i = 0; ok && i < n; i++)
		ok = read_actor(json_array_get(list, i), t, why, size);
	if (!ok)
		tree_status_free(&t);
	return t;
}

void
tree_status_free(struct tree_status **tp)
{
	struct tree_status *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TREE_STATUS_MAGIC);
	json_decref(t->json);
	OBJ_FREE(t);
}

bool
tree_status_running(const struct tree_status_actor *a)
{
	return strcmp(a->state, "running") == 0;
}

const struct tree_status_actor *
tree_status_find(const struct tree_status *t, const char *name)
{
	for (size_t i = 0; i < t->nactors; i++) {
		if (strcmp(t->actors[i].name, name) == 0)
			return &t->actors[i];
	}
	return NULL;
}

bool
tree_status_healthy(const struct tree_status *t)
{
	for (size_t i = 0; i < t->nactors; i++) {
		if (t->actors[i].enabled && !tree_status_running(&t->actors[i]))
			return false;
	}
	return strcmp(t->state, "running") == 0;
}

static bool
read_actor(const json_t *o, struct tree_status *t, char *why, size_t size)
{
	struct tree_status_actor *a = &t->actors[t->nactors];

	a->next_start_ms = a->beat_age_ms = a->deaths = -1;
	if (!read_fields(o, "an actor", actor_fields, NITEMS(actor_fields), a, why, size))
		return false;
	if (a->name[0] == '\0' || strlen(a->name) > TREE_STATUS_NAME_MAX
	    || tree_status_find(t, a->name) != NULL)
		return err_refuse(why, size, "the name of an actor is empty, too long, or there twice");
	read_words(json_object_get(o, "last_output"), a);
	if (!json_is_boolean(json_object_get(o, "enabled")))
		a->enabled = strcmp(a->state, "off") != 0;
	t->nactors++;
	return true;
}

static bool
read_fields(const json_t *o, const char *what, const struct member *fields, size_t n, void *out, char *why,
    size_t size)
{
	if (!json_is_object(o))
		return err_refuse(why, size, "%s is missing or not an object", what);
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_object_get(o, fields[i].key);
		const enum need need = fields[i].need;
		const bool may_lack = need == OPTIONAL || (need == NULLABLE && json_is_null(v));

		if (!read_field(v, &fields[i], out) && !may_lack)
			return err_refuse(why, size, "%s: `%s` is missing or of the wrong type", what,
			    fields[i].key);
	}
	return true;
}

static bool
read_field(const json_t *v, const struct member *f, void *out)
{
	void *to = (char *)out + f->offset;

	if (f->type == FIELD_STR && json_is_string(v))
		*(const char **)to = json_string_value(v);
	else if (f->type == FIELD_INT && json_is_integer(v) && json_integer_value(v) >= 0)
		*(int64_t *)to = json_integer_value(v);
	else if (f->type == FIELD_FLAG && json_is_boolean(v))
		*(bool *)to = json_is_true(v);
	else
		return false;
	return true;
}

/* ["line", "line"]: what is not so is left out. */
static void
read_words(const json_t *list, struct tree_status_actor *a)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list) && n < TREE_STATUS_OUTPUT_MAX; i++) {
		const char *line = json_string_value(json_array_get(list, i));

		if (line != NULL)
			a->last_output[n++] = line;
	}
}

/* {"signal": 2, "exit": 1}: what is not so is left out. */
static void
read_deaths(const json_t *o, struct tree_status *t)
{
	const char *cause;
	json_t *count;

	json_object_foreach((json_t *)(uintptr_t)o, cause, count) {
		const bool number = json_is_integer(count) && json_integer_value(count) >= 0;

		if (number && t->ndeaths < TREE_STATUS_DEATHS_MAX)
			t->deaths[t->ndeaths++] =
			    (struct tree_status_death){ cause, json_integer_value(count) };
	}
}
