/* sim/openshift/openshift_commands.c - commands to the simulated OpenShift; a wrong one changes nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/selector.h"
#include "obj.h"
#include "openshift_pods.h"
#include "openshift_private.h"
#include "openshift_release.h"
#include "sim/base/sim_json.h"
#include "sim/sim_options.h"

enum { VERSION_MAX = 253, NODES_MAX = 100000 };

/* The reason of a failing daemon: long, and in lines. */
static const char trouble[] =
    "unexpected on-disk state validating against the new config:\n"
    "content mismatch for file \"/etc/kubernetes/kubelet.conf\":\n"
    "--- on disk\n+++ wanted\n"
    "-maxPods: 250\n+maxPods: 500\n"
    "the daemon tries again every five minutes; a person must remove the change, or make it "
    "part of a MachineConfig";

struct command_error {
	char	*text;
	size_t	 size;
};

/* How many objects it changed; -1: wrong, see why. More to answer goes into answer. */
typedef long command_fn(struct openshift *r, json_t *command, json_t *answer,
    const struct command_error *why);

static command_fn openshift, roll, step, set_paused, change_pool, degrade, recover, set_stuck, join_nodes;

static const struct {
	const char	*op;
	command_fn	*run;
	bool		 first;		/* it makes the OpenShift that the others need */
} commands[] = {
	{ "openshift", openshift, true },
	{ "rollout", roll, false },
	{ "step", step, false },
	{ "pause", set_paused, false },
	{ "unpause", set_paused, false },
	{ "pool", change_pool, false },
	{ "degrade", degrade, false },
	{ "recover", recover, false },
	{ "stick", set_stuck, false },
	{ "unstick", set_stuck, false },
	{ "join", join_nodes, false },
};

/* The reading of an order: strict, so that a word that is not known is an error. */
#define READ(command, why, format, ...)						\
	read_command(                                                             \
	    (command), json_unpack_ex((command), &wrong, JSON_STRICT, format, __VA_ARGS__), &wrong, (why))

static bool read_command(const json_t *, int, const json_error_t *, const struct command_error *);
static long refuse(const struct command_error *, const char *, ...) __attribute__((format(printf, 2, 3)));
static bool is_max_unavailable(const json_t *);
static json_t *named(struct openshift *, const json_t *, const struct command_error *);
static const struct openshift_fleet_node *find_node(const struct openshift *, const char *);
static int compare_name(const void *, const void *);

bool
openshift_has_command(const char *op)
{
	for (size_t i = 0; i < NITEMS(commands); i++) {
		if (strcmp(commands[i].op, op) == 0)
			return true;
	}
	return false;
}

json_t *
openshift_command(struct openshift *r, const json_t *command, char *err, size_t size)
{
	const char *const op = sim_json_text(command, "op");
	const struct command_error why = { err, size };
	size_t i = 0;

	while (i < NITEMS(commands) && strcmp(commands[i].op, op) != 0)
		i++;
	MUST(i < NITEMS(commands));
	if (commands[i].first == r->on) {
		refuse(&why, "%s: %s", op,
		    r->on ? "there is an OpenShift already"
			  : "there is no OpenShift; begin with --openshift or {\"op\": \"openshift\"}");
		return NULL;
	}
	json_auto_t *copy = json_deep_copy(command), *answer = json_object();
	if (r->on)
		openshift_fleet_refresh(r);
	const long n = commands[i].run(r, copy, answer, &why);
	if (n < 0)
		return NULL;
	openshift_update_status(r);
	json_object_set_new(answer, "changed", json_integer(n));
	return json_incref(answer);
}

bool
openshift_begin(struct openshift *r, char *err, size_t size)
{
	const struct sim_options *const o = r->sim->options;
	json_auto_t *command = json_pack("{s:s, s:I, s:I, s:I, s:s}", "op", "openshift", "masters",
	    (json_int_t)o->masters, "infra", (json_int_t)o->infra, "workers", (json_int_t)o->workers,
	    "version", o->release);
	json_auto_t *answer = openshift_command(r, command, err, size);

	return answer != NULL;
}

static long
openshift(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op, *version = "4.20.3";
	json_int_t sizes[ROLES] = { [ROLE_MASTER] = 3, [ROLE_INFRA] = 0, [ROLE_WORKER] = 3 };
	json_t *max = NULL;
	json_error_t wrong;

	(void)answer;
	if (!READ(command, why, "{s:s, s?I, s?I, s?I, s?s, s?o}", "op", &op, "masters", &sizes[ROLE_MASTER],
		"infra", &sizes[ROLE_INFRA], "workers", &sizes[ROLE_WORKER], "version", &version,
		"max_unavailable", &max))
		return -1;
	size_t wanted[ROLES];
	for (enum openshift_role i = 0; i < ROLES; i++) {
		if (sizes[i] < 0 || sizes[i] > NODES_MAX)
			return refuse(why, "openshift: %s: 0 to %d nodes, not %lld",
			    openshift_role_name(i), NODES_MAX, (long long)sizes[i]);
		wanted[i] = (size_t)sizes[i];
	}
	if (version[0] == '\0' || strlen(version) > VERSION_MAX)
		return refuse(why, "openshift: version: 1 to %d characters", VERSION_MAX);
	if (max != NULL && !is_max_unavailable(max))
		return refuse(why, "openshift: max_unavailable: a number or a text like \"10%%\"");
	if (!openshift_crds_install(r->sim, why->text, why->size))
		return -1;
	char now[SIM_TIME_MAX];
	json_auto_t *most = max != NULL ? json_incref(max) : json_integer(1);
	free(r->version);
	r->version = obj_strdup(version);
	openshift_create(r, r->version_store, openshift_version_new(version, sim_now(now)));
	for (enum openshift_role i = 0; i < ROLES; i++) {
		const char *const name = openshift_role_name(i);

		/* Without infra nodes there is no pool for them; the order "pool" can make it. */
		if (i != ROLE_INFRA || wanted[i] > 0)
			openshift_make_pool(r, name, openshift_pool_role_selector(name), most);
	}
	openshift_update_status(r);
	const size_t n = openshift_give_roles(r, wanted);
	openshift_start(r);
	return (long)n;
}

static long
roll(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op, *version = NULL;
	char now[SIM_TIME_MAX], name[CONFIG_NAME_MAX];
	int manual = 0;
	json_error_t wrong;

	(void)answer;
	if (!READ(command, why, "{s:s, s?s, s?b}", "op", &op, "version", &version, "manual", &manual))
		return -1;
	if (version != NULL && (version[0] == '\0' || strlen(version) > VERSION_MAX))
		return refuse(why, "rollout: version: 1 to %d characters", VERSION_MAX);
	json_auto_t *cv = openshift_get(r->version_store, "version");
	if (version != NULL && cv == NULL)
		return refuse(why, "rollout: there is no ClusterVersion \"version\"");
	if (version != NULL) {
		openshift_version_begin(cv, version, sim_now(now));
		openshift_put(r, r->version_store, json_incref(cv), true);
		free(r->version);
		r->version = obj_strdup(version);
	}
	/* Without a version it is a change of configuration only: other configs, same version. */
	r->manual = manual;
	const size_t n = r->npools;
	for (size_t i = 0; i < n; i++) {
		json_t *const pool = openshift_get(r->pool_store, r->pools[i].name);

		openshift_config_rendered_name(r->pools[i].name, ++r->serial, name);
		openshift_create(r, r->config_store, openshift_config_rendered(name, r->version));
		openshift_pool_set_target(pool, name, sim_json_at(pool, "spec.configuration.source"));
		openshift_put(r, r->pool_store, pool, true);
	}
	return (long)n;
}

static long
step(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op;
	json_int_t most = -1;
	json_error_t wrong;

	if (!READ(command, why, "{s:s, s?I}", "op", &op, "nodes", &most))
		return -1;
	if (json_object_get(command, "nodes") != NULL && most < 1)
		return refuse(why, "step: nodes: at least 1, not %lld", (long long)most);
	if (!r->manual)
		return refuse(why, "step: the rollout goes by itself; begin it with \"manual\": true");
	json_t *const moved = json_array(), *const waiting = json_array();
	const size_t n = openshift_round(r, 0, most < 0 ? SIZE_MAX : (size_t)most, moved, waiting);
	json_object_set_new(answer, "steps", moved);
	json_object_set_new(answer, "waiting", waiting);
	return (long)n;
}

static long
change_pool(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op, *name;
	char err[256];
	json_t *selector = NULL, *max = NULL;
	int gone = 0;
	json_error_t wrong;

	(void)answer;
	if (!READ(command, why, "{s:s, s:s, s?o, s?o, s?b}", "op", &op, "name", &name, "selector", &selector,
		"max_unavailable", &max, "remove", &gone))
		return -1;
	if (max != NULL && !is_max_unavailable(max))
		return refuse(why, "pool: max_unavailable: a number or a text like \"10%%\"");
	struct selector *parsed = selector != NULL ? selector_from_json(selector, err, sizeof(err)) : NULL;
	if (selector != NULL && parsed == NULL)
		return refuse(why, "pool: selector: %s", err);
	selector_free(&parsed);
	if (gone) {
		if (sim_store_remove(r->sim->store, r->pool_store, name) == 0)
			return refuse(why, "pool: there is no pool \"%s\"", name);
		return 1;
	}
	json_t *const pool = openshift_get(r->pool_store, name);
	if (pool == NULL) {
		json_auto_t *most = max != NULL ? json_incref(max) : json_integer(1);
		json_t *const whom = selector != NULL ? json_incref(selector)
		    : openshift_pool_role_selector(name);

		openshift_make_pool(r, name, whom, most);
		return 1;
	}
	json_t *const spec = sim_json_branch(pool, "spec");
	if (selector != NULL)
		json_object_set(spec, "nodeSelector", selector);
	if (max != NULL)
		json_object_set(spec, "maxUnavailable", max);
	openshift_put(r, r->pool_store, pool, true);
	return 1;
}

static long
degrade(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op, *state = "Degraded", *reason = trouble;
	json_t *names = NULL, *name;
	json_error_t wrong;
	size_t i;

	(void)answer;
	if (!READ(command, why, "{s:s, s:o, s?s, s?s}", "op", &op, "names", &names, "state", &state,
		"reason", &reason))
		return -1;
	if (strcmp(state, "Degraded") != 0 && strcmp(state, "Unreconcilable") != 0)
		return refuse(why, "degrade: state: Degraded or Unreconcilable, not \"%s\"", state);
	json_auto_t *chosen = named(r, names, why);
	if (chosen == NULL)
		return -1;
	json_array_foreach(chosen, i, name) {
		json_t *const node = openshift_get(r->node_store, json_string_value(name));

		openshift_node_set_state(node, state, reason);
		openshift_put(r, r->node_store, node, false);
	}
	return (long)json_array_size(chosen);
}

static long
recover(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op;
	json_t *names = NULL, *name;
	json_error_t wrong;
	size_t i;
	long n = 0;

	(void)answer;
	if (!READ(command, why, "{s:s, s?o}", "op", &op, "names", &names))
		return -1;
	json_auto_t *chosen = named(r, names, why);
	if (chosen == NULL)
		return -1;
	json_array_foreach(chosen, i, name) {
		const struct openshift_fleet_node *const f = find_node(r, json_string_value(name));

		if (!f->facts.failing)
			continue;
		json_t *const node = openshift_get(r->node_store, f->name);
		openshift_node_set_state(node, openshift_step_row(f->step)->state, "");
		openshift_put(r, r->node_store, node, false);
		n++;
	}
	return n;
}

static long
join_nodes(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op, *role;
	json_int_t count = 1;
	json_error_t wrong;
	enum openshift_role i = 0;

	(void)answer;
	if (!READ(command, why, "{s:s, s:s, s?I}", "op", &op, "role", &role, "count", &count))
		return -1;
	while (i < ROLES && strcmp(openshift_role_name(i), role) != 0)
		i++;
	if (i == ROLES)
		return refuse(why, "join: role: master, infra or worker, not \"%s\"", role);
	if (count < 1 || count > NODES_MAX)
		return refuse(why, "join: count: 1 to %d, not %lld", NODES_MAX, (long long)count);
	return (long)openshift_make_nodes(r, i, (size_t)count);
}

static bool
read_command(const json_t *command, int rc, const json_error_t *wrong, const struct command_error *why)
{
	if (rc != 0)
		refuse(why, "%s: %s", sim_json_text(command, "op"), wrong->text);
	return rc == 0;
}

static long
refuse(const struct command_error *why, const char *format, ...)
{
	va_list more;

	va_start(more, format);
	vsnprintf(why->text, why->size, format, more);
	va_end(more);
	return -1;
}

/* 3, or "10%". */
static bool
is_max_unavailable(const json_t *value)
{
	const char *const text = json_string_value(value);
	char *end;

	if (text == NULL)
		return json_is_integer(value) && json_integer_value(value) >= 0;
	const long n = strtol(text, &end, 10);
	return end != text && n >= 0 && n <= 100 && strcmp(end, "%") == 0;
}

/* The nodes of a list of names; without a list all of them. A new reference. NULL: one is not there. */
static json_t *
named(struct openshift *r, const json_t *names, const struct command_error *why)
{
	json_auto_t *all = json_array();
	json_t *name;
	size_t i;

	for (i = 0; names == NULL && i < r->nnodes; i++)
		json_array_append_new(all, json_string(r->nodes[i].name));
	if (names == NULL)
		return json_incref(all);
	if (!json_is_array(names)) {
		refuse(why, "names: a list of names of nodes");
		return NULL;
	}
	json_array_foreach(names, i, name) {
		const char *const text = json_string_value(name);

		if (text == NULL || find_node(r, text) == NULL) {
			refuse(why, "names: there is no node \"%s\"", text != NULL ? text : "?");
			return NULL;
		}
	}
	return json_deep_copy(names);
}

/* The Pods of these nodes: one that no drain gets rid of, or one that gives way. */
static long
set_stuck(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op;
	json_t *names = NULL, *name;
	json_error_t wrong;
	size_t i;
	long n = 0;

	(void)answer;
	if (!READ(command, why, "{s:s, s:o}", "op", &op, "names", &names))
		return -1;
	json_auto_t *chosen = named(r, names, why);
	if (chosen == NULL)
		return -1;
	json_array_foreach(chosen, i, name)
		n += (strcmp(op, "stick") == 0 ? openshift_pods_block : openshift_pods_unblock)(r->sim,
		    json_string_value(name));
	return n;
}

static long
set_paused(struct openshift *r, json_t *command, json_t *answer, const struct command_error *why)
{
	const char *op, *name;
	json_error_t wrong;

	(void)answer;
	if (!READ(command, why, "{s:s, s:s}", "op", &op, "pool", &name))
		return -1;
	const bool paused = strcmp(op, "pause") == 0;
	json_auto_t *pool = openshift_get(r->pool_store, name);
	if (pool == NULL)
		return refuse(why, "%s: there is no pool \"%s\"", op, name);
	if (json_is_true(sim_json_at(pool, "spec.paused")) == paused)
		return 0;
	json_object_set_new(sim_json_branch(pool, "spec"), "paused", json_boolean(paused));
	openshift_put(r, r->pool_store, json_incref(pool), true);
	return 1;
}

static const struct openshift_fleet_node *
find_node(const struct openshift *r, const char *name)
{
	return bsearch(name, r->nodes, r->nnodes, sizeof(*r->nodes), compare_name);
}

static int
compare_name(const void *name, const void *node)
{
	return strcmp(name, ((const struct openshift_fleet_node *)node)->name);
}
