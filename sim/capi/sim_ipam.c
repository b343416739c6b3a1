/* sim/capi/sim_ipam.c - fulfils IPAddressClaims: rounds by a timer, each reads what is in the store now. */
#include "sim_ipam.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "keytab.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/store/sim_objects.h"
#include "sim/kube/store/sim_store.h"
#include "sim_ip_ranges.h"

#define IPAM_GROUP	"ipam.cluster.x-k8s.io"
#define CAPI_GROUP	"cluster.x-k8s.io"
#define CLUSTER_LABEL	CAPI_GROUP "/cluster-name"
#define PAUSED		CAPI_GROUP "/paused"
#define FINALIZER	IPAM_GROUP "/ReleaseAddress"

enum { ROUND_MS = 10, KEY_MAX = 512, NEVER_MS = -1 };

/* An address that is given: of which pool, by the hash of its kind, namespace and name. */
struct held {
	uint64_t	pool;
	uint32_t	ip;
};

struct sim_ipam {
	uint32_t		 magic;
#define SIM_IPAM_MAGIC	0x4950414du
	struct simulator	*sim;
	struct event		*timer;
	struct sim_storage	*claims, *addresses, *clusters;
	struct sim_storage	*pools[2];	/* global, namespaced */
	struct keytab		*seen;		/* int64_t: when a claim was seen first, by its uid */
	size_t			 written;	/* of all storages when the last round read them */
	bool			 enabled, conditions, waits;
	int64_t			 delay_ms;	/* NEVER_MS */
	size_t			 given, released;
	struct held		*held;		/* read at the start of each round */
	size_t			 nheld;
};

static void on_round(evutil_socket_t, short, void *);
static void round_claims(struct sim_ipam *, int64_t);
static void round_pools(struct sim_ipam *);
static void count_pool(struct sim_ipam *, struct sim_storage *, struct sim_blob *);
static void serve(struct sim_ipam *, struct sim_blob *);
static void release(struct sim_ipam *, struct sim_blob *);
static bool due(struct sim_ipam *, const struct sim_blob *, int64_t);
static bool cluster_waits(const struct sim_ipam *, const json_t *);
static json_t *pool_of(const struct sim_ipam *, const json_t *);
static bool take_address(struct sim_ipam *, const json_t *, const json_t *, char[SIM_IP_TEXT]);
static void read_held(struct sim_ipam *);
static void hold(struct sim_ipam *, uint64_t, const char *);
static bool in_use(const struct sim_ipam *, uint64_t, uint32_t);
static uint64_t pool_id(const char *, const char *, const char *);
static bool make_address(struct sim_ipam *, const json_t *, const json_t *, const char *);
static void set_condition(json_t *, bool, const char *);
static size_t written(const struct sim_ipam *);

struct sim_ipam *
sim_ipam_new(struct simulator *s)
{
	struct sim_ipam *i;

	OBJ_NEW(i, SIM_IPAM_MAGIC);
	i->sim = s;
	i->claims = sim_store_storage(s->store, IPAM_GROUP, "ipaddressclaims");
	i->addresses = sim_store_storage(s->store, IPAM_GROUP, "ipaddresses");
	i->clusters = sim_store_storage(s->store, CAPI_GROUP, "clusters");
	i->pools[0] = sim_store_storage(s->store, IPAM_GROUP, "globalinclusterippools");
	i->pools[1] = sim_store_storage(s->store, IPAM_GROUP, "inclusterippools");
	i->seen = keytab_new(sizeof(int64_t));
	i->timer = event_new(s->base, -1, EV_PERSIST, on_round, i);
	MUST(i->timer != NULL);
	return i;
}

void
sim_ipam_free(struct sim_ipam **ip)
{
	struct sim_ipam *i;

	if (*ip == NULL)
		return;
	OBJ_TAKE(i, ip, SIM_IPAM_MAGIC);
	event_free(i->timer);
	keytab_free(&i->seen);
	free(i->held);
	OBJ_FREE(i);
}

json_t *
sim_ipam_command(struct sim_ipam *i, const json_t *command, char *why, size_t size)
{
	json_auto_t *copy = json_deep_copy(command);
	int enabled = 1, conditions = 0;
	json_int_t delay_ms = 0;
	const char *op;
	json_error_t wrong;

	if (json_unpack_ex(copy, &wrong, JSON_STRICT, "{s:s, s?b, s?b, s?I}", "op", &op, "enabled", &enabled,
		"conditions", &conditions, "delay_ms", &delay_ms) != 0) {
		snprintf(why, size, "ipam: %s", wrong.text);
		return NULL;
	}
	if (strcmp(op, "ipam") != 0 || delay_ms < NEVER_MS) {
		snprintf(why, size, "op is ipam; delay_ms is 0 or more, or -1: never");
		return NULL;
	}
	i->enabled = enabled;
	i->conditions = conditions;
	i->delay_ms = delay_ms;
	i->written = 0;
	event_del(i->timer);
	if (i->enabled)
		event_add(i->timer, &(struct timeval){ .tv_usec = ROUND_MS * 1000 });
	return sim_ipam_report(i);
}

json_t *
sim_ipam_report(const struct sim_ipam *i)
{
	return json_pack("{s:b, s:b, s:I, s:I, s:I}", "enabled", i->enabled, "conditions", i->conditions,
	    "delay_ms", (json_int_t)i->delay_ms, "given", (json_int_t)i->given, "released",
	    (json_int_t)i->released);
}

/* Nothing was written and nobody waits for a time: nothing to do. */
static void
on_round(evutil_socket_t fd, short what, void *arg)
{
	struct sim_ipam *const i = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(i, SIM_IPAM_MAGIC);
	if (i->claims->form == NULL || i->addresses->form == NULL
	    || (i->written == written(i) && !i->waits))
		return;
	i->waits = false;
	read_held(i);
	round_claims(i, clock_mono_ms());
	read_held(i);
	round_pools(i);
	i->written = written(i);
}

static void
round_claims(struct sim_ipam *i, int64_t now_ms)
{
	struct sim_snapshot *snap = sim_store_snapshot(i->sim->store, i->claims, "", 0);

	for (size_t n = 0; n < snap->n; n++) {
		if (sim_blob_is_marked(snap->objects[n]))
			release(i, snap->objects[n]);
		else if (due(i, snap->objects[n], now_ms))
			serve(i, snap->objects[n]);
	}
	sim_snapshot_free(&snap);
}

static bool
due(struct sim_ipam *i, const struct sim_blob *claim, int64_t now_ms)
{
	const char *const uid = sim_blob_uid(claim);
	bool added;
	int64_t *const first = keytab_value(i->seen, keytab_add(i->seen, uid, strlen(uid), &added));

	if (added)
		*first = now_ms;
	if (i->delay_ms == NEVER_MS)
		return false;
	if (now_ms - *first >= i->delay_ms)
		return true;
	i->waits = true;
	return false;
}

/* The claim gets its address, if there is one. */
static void
serve(struct sim_ipam *i, struct sim_blob *b)
{
	json_auto_t *claim = sim_blob_parse(b, i->claims->form);
	char address[SIM_IP_TEXT];

	if (sim_json_text_at(claim, "status.addressRef.name")[0] != '\0' || cluster_waits(i, claim))
		return;
	json_auto_t *pool = pool_of(i, claim);
	if (pool == NULL || json_object_get(sim_json_at(pool, "metadata.annotations"), PAUSED) != NULL)
		return;
	if (!take_address(i, claim, pool, address)) {
		json_t *const before = sim_json_at(claim, "status.conditions");

		if (i->conditions && json_array_size(before) == 0) {
			set_condition(claim, false, "PoolExhausted");
			sim_store_put(i->sim->store, i->claims, claim);
		}
		return;
	}
	if (!make_address(i, claim, pool, address))
		return;
	json_t *const status = sim_json_branch(claim, "status");
	json_object_set_new(status, "addressRef", json_pack("{s:s}", "name", meta_text(claim, "name")));
	if (i->conditions)
		set_condition(claim, true, "Ready");
	json_t *const finalizers = sim_json_list(sim_json_branch(claim, "metadata"), "finalizers");
	if (!has_text(finalizers, FINALIZER))
		json_array_append_new(finalizers, json_string(FINALIZER));
	sim_store_put(i->sim->store, i->claims, claim);
	i->given++;
}

/* The address goes first, then the claim that held it. */
static void
release(struct sim_ipam *i, struct sim_blob *claim)
{
	json_auto_t *object = sim_blob_parse(claim, i->claims->form);
	json_t *const finalizers = sim_json_at(object, "metadata.finalizers");
	struct sim_blob *const address = sim_storage_get(i->addresses, sim_blob_key(claim));
	size_t n;
	json_t *one;

	if (address != NULL) {
		sim_object_delete(i->sim, i->addresses, address, true);
		i->released++;
	}
	json_array_foreach(finalizers, n, one) {
		if (is_text(one, FINALIZER)) {
			json_array_remove(finalizers, n);
			break;
		}
	}
	if (json_array_size(finalizers) > 0)
		return;
	sim_store_remove(i->sim->store, i->claims, sim_blob_key(claim));
}

/* The claim names a Cluster that is missing or paused. */
static bool
cluster_waits(const struct sim_ipam *i, const json_t *claim)
{
	const json_t *const labels = sim_json_at(claim, "metadata.labels");
	const char *const named = sim_json_text_at(claim, "spec.clusterName");
	const char *const cluster = named[0] != '\0' ? named : sim_json_text(labels, CLUSTER_LABEL);
	char key[KEY_MAX];

	if (cluster[0] == '\0')
		return false;
	snprintf(key, sizeof(key), "%s/%s", meta_text(claim, "namespace"), cluster);
	const struct sim_blob *const b = sim_storage_get(i->clusters, key);
	if (b == NULL)
		return true;
	json_auto_t *object = sim_blob_parse(b, i->clusters->form);
	return json_is_true(sim_json_at(object, "spec.paused"))
	    || json_object_get(sim_json_at(object, "metadata.annotations"), PAUSED) != NULL;
}

/* A new reference; NULL: there is none. */
static json_t *
pool_of(const struct sim_ipam *i, const json_t *claim)
{
	const char *const kind = sim_json_text_at(claim, "spec.poolRef.kind");
	const bool global = strcmp(kind, "GlobalInClusterIPPool") == 0;
	const struct sim_storage *const st = i->pools[!global];
	const char *const name = sim_json_text_at(claim, "spec.poolRef.name");
	char key[KEY_MAX];

	if (global)
		snprintf(key, sizeof(key), "%s", name);
	else
		snprintf(key, sizeof(key), "%s/%s", meta_text(claim, "namespace"), name);
	const struct sim_blob *const b = st->form != NULL ? sim_storage_get(st, key) : NULL;
	return b != NULL ? sim_blob_parse(b, st->form) : NULL;
}

static bool
take_address(struct sim_ipam *i, const json_t *claim, const json_t *pool, char address[SIM_IP_TEXT])
{
	const uint64_t id = pool_id(sim_json_text_at(claim, "spec.poolRef.kind"),
	    meta_text(claim, "namespace"), meta_text(pool, "name"));
	bool found = false;
	size_t n;
	uint32_t *const all = sim_ip_ranges(json_object_get(pool, "spec"), &n);

	for (size_t k = 0; k < n && !found; k++) {
		found = !in_use(i, id, all[k]);
		if (found)
			sim_ip_print(all[k], address);
	}
	free(all);
	if (found)
		hold(i, id, address);
	return found;
}

static void
read_held(struct sim_ipam *i)
{
	i->nheld = 0;
	for (size_t n = 0; n < i->addresses->n; n++) {
		json_auto_t *a = sim_blob_parse(i->addresses->objects[n], i->addresses->form);

		hold(i, pool_id(sim_json_text_at(a, "spec.poolRef.kind"), meta_text(a, "namespace"),
		    sim_json_text_at(a, "spec.poolRef.name")), sim_json_text_at(a, "spec.address"));
	}
}

static void
hold(struct sim_ipam *i, uint64_t pool, const char *address)
{
	uint32_t ip;

	if (!sim_ip_parse(address, &ip))
		return;
	i->held = realloc(i->held, (i->nheld + 1) * sizeof(*i->held));
	MUST(i->held != NULL);
	i->held[i->nheld++] = (struct held){ .pool = pool, .ip = ip };
}

static bool
in_use(const struct sim_ipam *i, uint64_t pool, uint32_t ip)
{
	for (size_t n = 0; n < i->nheld; n++) {
		if (i->held[n].pool == pool && i->held[n].ip == ip)
			return true;
	}
	return false;
}

/* ns: of the claim, the address or the pool; a global pool has none. */
static uint64_t
pool_id(const char *kind, const char *ns, const char *name)
{
	const bool global = strcmp(kind, "GlobalInClusterIPPool") == 0;
	char key[KEY_MAX];

	const int n = snprintf(key, sizeof(key), "%s/%s/%s", kind, global ? "" : ns, name);
	return hash64(key, n > 0 && (size_t)n < sizeof(key) ? (size_t)n : 0);
}

static bool
make_address(struct sim_ipam *i, const json_t *claim, const json_t *pool, const char *address)
{
	char err[256];
	json_auto_t *object = json_pack("{s:s, s:s, s:{s:s, s:s, s:[{s:s, s:s, s:s, s:s, s:b}]},"
	    " s:{s:{s:s}, s:O, s:s, s:I}}",
	    "apiVersion", IPAM_GROUP "/v1beta2", "kind", "IPAddress",
	    "metadata", "name", meta_text(claim, "name"), "namespace", meta_text(claim, "namespace"),
	    "ownerReferences", "apiVersion", IPAM_GROUP "/v1beta2", "kind", "IPAddressClaim", "name",
	    meta_text(claim, "name"), "uid", meta_text(claim, "uid"), "controller", 1,
	    "spec", "claimRef", "name", meta_text(claim, "name"),
	    "poolRef", sim_json_at(claim, "spec.poolRef"), "address", address,
	    "prefix", (json_int_t)sim_json_int_at(pool, "spec.prefix", 24));
	const char *const gateway = sim_json_text_at(pool, "spec.gateway");

	MUST(object != NULL);
	if (gateway[0] != '\0')
		json_object_set_new(json_object_get(object, "spec"), "gateway", json_string(gateway));
	return sim_object_create(i->sim, i->addresses->form, object, err, sizeof(err)) != NULL;
}

static void
set_condition(json_t *claim, bool ready, const char *reason)
{
	char now[SIM_TIME_MAX];

	json_object_set_new(sim_json_branch(claim, "status"), "conditions",
	    json_pack("[{s:s, s:s, s:s, s:s, s:s}]", "type", "Ready", "status", ready ? "True" : "False",
		"reason", reason, "message", "", "lastTransitionTime", sim_now(now)));
}

/* ---- Statuses of pools ---- */

static void
round_pools(struct sim_ipam *i)
{
	for (size_t k = 0; k < NITEMS(i->pools); k++) {
		struct sim_snapshot *snap = i->pools[k]->form == NULL ? NULL
		    : sim_store_snapshot(i->sim->store, i->pools[k], "", 0);

		for (size_t n = 0; snap != NULL && n < snap->n; n++)
			count_pool(i, i->pools[k], snap->objects[n]);
		sim_snapshot_free(&snap);
	}
}

static void
count_pool(struct sim_ipam *i, struct sim_storage *st, struct sim_blob *b)
{
	json_auto_t *pool = sim_blob_parse(b, st->form);
	size_t total, used = 0;
	uint32_t *const all = sim_ip_ranges(json_object_get(pool, "spec"), &total);
	const char *const kind = st == i->pools[0] ? "GlobalInClusterIPPool" : "InClusterIPPool";
	const uint64_t id = pool_id(kind, meta_text(pool, "namespace"), meta_text(pool, "name"));

	free(all);
	for (size_t n = 0; n < i->nheld; n++)
		used += i->held[n].pool == id;
	json_auto_t *counts = json_pack("{s:I, s:I, s:I, s:I}", "total", (json_int_t)total, "free",
	    (json_int_t)(total > used ? total - used : 0), "used", (json_int_t)used, "outOfRange",
	    (json_int_t)0);
	json_t *const status = sim_json_branch(pool, "status");
	if (json_equal(json_object_get(status, "ipAddresses"), counts))
		return;
	json_object_set(status, "ipAddresses", counts);
	sim_store_put(i->sim->store, st, pool);
}

static size_t
written(const struct sim_ipam *i)
{
	return i->claims->written + i->addresses->written + i->clusters->written + i->pools[0]->written
	    + i->pools[1]->written + 1;
}
