/*
 * actors/runtime/explain.c - answers a request about one object: what this actor holds and has decided
 * (`explain`), and the hops of the object's last changes (`trace`).
 *
 * The answer is one record of at most LIFELINE_MAX bytes: the oldest hops are left out, and counted in
 * `hops_left_off`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor_private.h"
#include "json.h"
#include "kinds.h"
#include "lifeline.h"
#include "log.h"
#include "obj.h"

enum { HEAD_BYTES = 64, TAIL_BYTES = 256, OWN_KEYS = 2 };

/* The object of the request, and the object that reports on it (kind_report). */
struct object {
	char		resource[64];
	const char	*name;
	char		keys[OWN_KEYS][OBJECT_KEY_MAX + 1];
	uint32_t	hashes[OWN_KEYS];
	size_t		nkeys;
};

struct key_name {
	uint32_t	hash;
	struct wire_str	key;		/* empty: no store and no mirror holds it any more */
};

/* The hops of an answer, and the names of their keys. */
struct hop_list {
	const struct hop *hops[HOP_LOG_HOPS];
	size_t		  nhops;
	struct key_name  names[HOP_LOG_HOPS];	/* sorted by hash */
	size_t		  nnames;
	size_t		  others;		/* hops of other objects of the same kind, left out */
};

typedef bool put_fn(struct actor *, const struct object *, struct hop_list *, struct json *);
static put_fn put_explanation, put_trace;

static const struct {
	const char	*verb;
	put_fn		*put;
} verbs[] = {
	{ "explain", put_explanation },
	{ "trace",   put_trace },
};

static bool object_open(struct object *, const char *);
static void object_add(struct object *, const char *);
static bool put_facts(struct actor *, const struct object *, struct json *);
static void keep_latest(struct hop_list *, const struct object *);
static void keep_related(struct hop_list *, const struct object *);
static bool same_step(const struct hop *, const struct hop *);
static bool same_kind(const struct object *, struct wire_str);
static void find_names(struct actor *, const struct object *, struct hop_list *);
static void add_name(struct wire_str, void *);
static struct key_name *find_name(struct hop_list *, uint32_t);
static int by_hash(const void *, const void *);
static void put_hops(struct hop_list *, struct json *);
static void put_hop(struct hop_list *, const struct hop *, struct json *);

void
explain_answer(struct actor *a, const char *record)
{
	static char text[LIFELINE_MAX - HEAD_BYTES];
	struct json j = { .buf = text, .size = sizeof(text) - TAIL_BYTES };
	struct object o = { .nkeys = 0 };
	char verb[16];
	uint64_t id;
	int used = 0;
	size_t v = 0;

	if (sscanf(record, "query %" SCNu64 " %15s %n", &id, verb, &used) != 2 || used == 0
	    || !object_open(&o, record + used)) {
		log_warnx("lifeline record ignored", KV_S(REASON, "malformed request about an object"));
		return;
	}
	while (v < NITEMS(verbs) && strcmp(verbs[v].verb, verb) != 0)
		v++;
	if (v == NITEMS(verbs) || !a->running)
		return;
	struct hop_list *list = obj_alloc(sizeof(*list));
	json_open(&j, NULL, '{');
	json_int(&j, "incarnation", (int64_t)a->boot.incarnation);
	json_int(&j, "started_us", a->started_us);
	const bool known = verbs[v].put(a, &o, list, &j);
	j.size = sizeof(text);
	json_int(&j, "hops_since_us", hop_log_since_us(bus_hop_log(a->bus)));
	json_bool(&j, "known", known);
	json_close(&j, '}');
	free(list);
	if (json_end(&j) == 0)
		snprintf(text, sizeof(text), "{\"error\":\"the answer is too large\"}");
	lifeline_send(LIFELINE_FD, "answer %" PRIu64 " %s", id, text);
}

static bool
put_explanation(struct actor *a, const struct object *o, struct hop_list *s, struct json *j)
{
	bool known = put_facts(a, o, j);

	json_open(j, "held", '[');
	for (size_t i = 0; i < o->nkeys; i++)
		known = bus_held(a->bus, wire_str_of(o->keys[i]), j) || known;
	json_close(j, ']');
	s->nhops = hop_log_find(bus_hop_log(a->bus), o->hashes, o->nkeys, s->hops);
	keep_latest(s, o);
	find_names(a, o, s);
	put_hops(s, j);
	return known;
}

static bool
put_trace(struct actor *a, const struct object *o, struct hop_list *s, struct json *j)
{
	struct json discarded = { .size = 0 };

	s->nhops = hop_log_find(bus_hop_log(a->bus), o->hashes, o->nkeys, s->hops);
	const bool known = s->nhops > 0 || bus_held(a->bus, wire_str_of(o->keys[0]), &discarded);
	find_names(a, o, s);
	keep_related(s, o);
	put_hops(s, j);
	json_int(j, "hops_of_others", (int64_t)s->others);
	return known;
}

/* True: the actor added something. More than EXPLAIN_MAX bytes are replaced by an error. */
static bool
put_facts(struct actor *a, const struct object *o, struct json *j)
{
	struct json with = *j;

	if (a->spec->explain == NULL)
		return false;
	with.size = j->size - j->len < EXPLAIN_MAX ? j->size : j->len + EXPLAIN_MAX;
	json_open(&with, "facts", '{');
	const size_t empty = with.len;
	a->spec->explain(a, a->self, o->resource, o->name, &with);
	const bool added = with.len > empty;
	json_close(&with, '}');
	if (with.full) {
		json_str(j, "error", "the explanation is larger than an answer may be");
		return true;
	}
	with.size = j->size;
	*j = with;
	return added;
}

/* ---- The object ---- */

/* "<resource>/<name>" or "<resource>/<namespace>/<name>". */
static bool
object_open(struct object *o, const char *text)
{
	const char *const slash = strchr(text, '/');

	if (slash == NULL || slash == text || (size_t)(slash - text) >= sizeof(o->resource)
	    || slash[1] == '\0' || strlen(text) > OBJECT_KEY_MAX)
		return false;
	snprintf(o->resource, sizeof(o->resource), "%.*s", (int)(slash - text), text);
	o->name = slash + 1;
	object_add(o, o->resource);
	if (kind_report(o->resource) != NULL)
		object_add(o, kind_report(o->resource));
	return true;
}

static void
object_add(struct object *o, const char *resource)
{
	char *const key = o->keys[o->nkeys];
	const int n = snprintf(key, sizeof(o->keys[0]), "%s/%s", resource, o->name);

	if (n < 0 || (size_t)n >= sizeof(o->keys[0]))
		return;		/* no key is that long */
	o->hashes[o->nkeys++] = hop_log_key(key, (size_t)n);
}

/* Whether the key is of the same kind as the object, or as its report. */
static bool
same_kind(const struct object *o, struct wire_str key)
{
	for (size_t i = 0; i < o->nkeys; i++) {
		const size_t len = strcspn(o->keys[i], "/") + 1;

		if (key.len > len && memcmp(key.p, o->keys[i], len) == 0)
			return true;
	}
	return false;
}

/* ---- Its hops ---- */

/* Keeps the latest of each step of the object itself. */
static void
keep_latest(struct hop_list *s, const struct object *o)
{
	const struct hop *kept[HOP_LOG_TRACES];
	size_t n = 0;

	for (size_t i = s->nhops; i > 0 && n < NITEMS(kept); i--) {
		const struct hop *const h = s->hops[i - 1];
		size_t k = 0;

		while (k < n && !same_step(kept[k], h))
			k++;
		if (k == n && hop_log_has(o->hashes, o->nkeys, h->key))
			kept[n++] = h;
	}
	for (size_t i = 0; i < n; i++)
		s->hops[i] = kept[n - 1 - i];
	s->nhops = n;
}

static bool
same_step(const struct hop *a, const struct hop *b)
{
	return a->what == b->what && a->link == b->link && a->peer == b->peer && a->key == b->key;
}

/*
 * Drops the hops of other objects of the same kind: one changed object can move a thousand of them under
 * one trace.
 */
static void
keep_related(struct hop_list *s, const struct object *o)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nhops; i++) {
		const struct hop *const h = s->hops[i];

		if (hop_log_has(o->hashes, o->nkeys, h->key) || !same_kind(o, find_name(s, h->key)->key))
			s->hops[n++] = h;
		else
			s->others++;
	}
	s->nhops = n;
}

/* The recorder has hashes: the names come from the object, and from the stores and mirrors. */
static void
find_names(struct actor *a, const struct object *o, struct hop_list *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nhops; i++)
		s->names[i] = (struct key_name){ .hash = s->hops[i]->key };
	qsort(s->names, s->nhops, sizeof(s->names[0]), by_hash);
	for (size_t i = 0; i < s->nhops; i++) {
		if (n == 0 || s->names[n - 1].hash != s->names[i].hash)
			s->names[n++] = s->names[i];
	}
	s->nnames = n;
	for (size_t i = 0; i < o->nkeys; i++)
		add_name(wire_str_of(o->keys[i]), s);
	if (n > 0)
		bus_keys(a->bus, add_name, s);
}

static void
add_name(struct wire_str key, void *arg)
{
	struct key_name *const name = find_name(arg, hop_log_key(key.p, key.len));

	if (name != NULL && name->key.len == 0)
		name->key = key;
}

static struct key_name *
find_name(struct hop_list *s, uint32_t hash)
{
	const struct key_name wanted = { .hash = hash };

	return bsearch(&wanted, s->names, s->nnames, sizeof(s->names[0]), by_hash);
}

static int
by_hash(const void *a, const void *b)
{
	const uint32_t x = ((const struct key_name *)a)->hash, y = ((const struct key_name *)b)->hash;

	return x < y ? -1 : x > y;
}

/* As many of the newest as fit. */
static void
put_hops(struct hop_list *s, struct json *j)
{
	size_t first = 0;

	for (;;) {
		struct json with = *j;

		json_open(&with, "hops", '[');
		for (size_t i = first; i < s->nhops; i++)
			put_hop(s, s->hops[i], &with);
		json_close(&with, ']');
		json_int(&with, "hops_left_off", (int64_t)first);
		if (!with.full || first == s->nhops) {
			*j = with;
			return;
		}
		first += (s->nhops - first + 3) / 4;
	}
}

static void
put_hop(struct hop_list *s, const struct hop *h, struct json *j)
{
	const struct wire_str key = find_name(s, h->key)->key;
	char trace[17];

	snprintf(trace, sizeof(trace), "%016" PRIx64, h->trace);
	json_open(j, NULL, '{');
	json_int(j, "at_us", h->at_us);
	json_str(j, "trace", trace);
	if (key.len > 0)
		json_strn(j, "key", key.p, key.len);
	json_str(j, "what", hop_name((enum hop_what)h->what));
	if (h->link != HOP_NONE)
		json_str(j, "link", link_table[h->link].name);
	if (h->peer != HOP_NONE)
		json_str(j, "peer", role_name((enum role)h->peer));
	if (h->text[0] != '\0')
		json_strn(j, "text", h->text, strnlen(h->text, HOP_TEXT));
	json_close(j, '}');
}
