/* sim/provider/sim_provider_commands.c - what tests change and read of a provider beside its API. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/http/sim_server.h"
#include "sim/machines/sim_machines.h"
#include "sim_providers_private.h"

/* False with a text in why. */
typedef bool op_fn(struct provider_service *p, const json_t *command, char *why, size_t size);
static op_fn set_limit, set_token, set_value, kill_machine, stop_listening, listen_again;

/* keys: those beside api and op; each must be there unless it has a question mark. */
static const struct {
	const char	*name, *keys[4];
	op_fn		*run;
} ops[] = {
	{ "limit", { "class", "limit", "window_ms" }, set_limit },
	{ "token", { "token", "id?" },                set_token },
	{ "set",   { "key", "value" },                set_value },
	{ "kill",  { "name" },                        kill_machine },
	{ "down",  { NULL },                          stop_listening },
	{ "up",    { NULL },                          listen_again },
};

static struct provider_service *find(struct sim_providers *, const char *);
static bool check_keys(const json_t *, const char *const *, char *, size_t);
static bool is_key(const char *, const char *const *);

json_t *
sim_providers_report(const struct sim_providers *p)
{
	json_t *const apis = json_object();

	for (size_t i = 0; i < NITEMS(p->all); i++) {
		const struct provider_service *const one = &p->all[i];

		if (one->kind != NULL)
			json_object_set_new(apis, one->kind->spec->name, json_pack("{s:s, s:o}", "url",
			    sim_server_url(one->server), "state", one->kind->state(one->model)));
	}
	return json_pack("{s:s?, s:I, s:o}", "audit", p->audit_path, "calls", (json_int_t)p->audit.n,
	    "apis", apis);
}

json_t *
sim_providers_command(struct sim_providers *p, const json_t *command, char *why, size_t size)
{
	struct provider_service *const one = find(p, sim_json_text(command, "api"));
	const char *const op = sim_json_text(command, "op");

	if (one == NULL) {
		snprintf(why, size, "api: no provider of that name is served");
		return NULL;
	}
	for (size_t i = 0; i < NITEMS(ops); i++) {
		if (strcmp(ops[i].name, op) != 0)
			continue;
		return check_keys(command, ops[i].keys, why, size) && ops[i].run(one, command, why, size)
		    ? json_pack("{s:s, s:s}", "api", one->kind->spec->name, "op", op) : NULL;
	}
	snprintf(why, size, "op: \"%s\" is none of the commands (docs/simulator.md)", op);
	return NULL;
}

static struct provider_service *
find(struct sim_providers *p, const char *api)
{
	for (size_t i = 0; i < NITEMS(p->all); i++) {
		if (p->all[i].kind != NULL && strcmp(p->all[i].kind->spec->name, api) == 0)
			return &p->all[i];
	}
	return NULL;
}

static bool
check_keys(const json_t *command, const char *const *keys, char *why, size_t size)
{
	const char *key;
	json_t *value;

	for (size_t i = 0; keys[i] != NULL; i++) {
		if (strchr(keys[i], '?') == NULL && json_object_get(command, keys[i]) == NULL) {
			snprintf(why, size, "%s: is missing", keys[i]);
			return false;
		}
	}
	JSON_EACH(command, key, value) {
		if (strcmp(key, "api") == 0 || strcmp(key, "op") == 0 || is_key(key, keys))
			continue;
		snprintf(why, size, "%s: not a key of this command", key);
		return false;
	}
	return true;
}

static bool
is_key(const char *key, const char *const *keys)
{
	for (size_t i = 0; keys[i] != NULL; i++) {
		const size_t len = strcspn(keys[i], "?");

		if (strlen(key) == len && strncmp(key, keys[i], len) == 0)
			return true;
	}
	return false;
}

static bool
set_limit(struct provider_service *p, const json_t *command, char *why, size_t size)
{
	const int64_t limit = sim_json_int_at(command, "limit", -1);
	const int64_t window_ms = sim_json_int_at(command, "window_ms", -1);

	if (limit < 0 || window_ms <= 0)
		snprintf(why, size, "limit and window_ms are numbers of calls and of milliseconds");
	else if (!sim_provider_set_limit(p->provider, sim_json_text(command, "class"), limit, window_ms))
		snprintf(why, size, "class: no route of that API has it");
	else
		return true;
	return false;
}

/* Without an id the token is not accepted any more. */
static bool
set_token(struct provider_service *p, const json_t *command, char *why, size_t size)
{
	const char *const token = sim_json_text(command, "token"), *const id = sim_json_text(command, "id");

	(void)why, (void)size;
	if (id[0] != '\0')
		sim_provider_add_token(p->provider, token, id);
	else
		sim_provider_remove_token(p->provider, token);
	return true;
}

static bool
set_value(struct provider_service *p, const json_t *command, char *why, size_t size)
{
	const char *const key = sim_json_text(command, "key");

	if (p->kind->set != NULL && p->kind->set(p->model, key, json_object_get(command, "value")))
		return true;
	snprintf(why, size, "key: \"%.64s\" is no setting of this API, or the value is none for it", key);
	return false;
}

static bool
kill_machine(struct provider_service *p, const json_t *command, char *why, size_t size)
{
	struct sim_machines *const machines = p->kind->machines != NULL ? p->kind->machines(p->model) : NULL;
	const char *const name = sim_json_text(command, "name");
	const struct sim_machine *m;

	for (size_t i = 0; machines != NULL && (m = sim_machines_nth(machines, i)) != NULL; i++) {
		if (strcmp(m->name, name) == 0 && sim_machines_kill(machines, m->id))
			return true;
	}
	snprintf(why, size, "name: there is no machine %.128s", name);
	return false;
}

static bool
stop_listening(struct provider_service *p, const json_t *command, char *why, size_t size)
{
	(void)command, (void)why, (void)size;
	sim_server_stop(p->server);
	return true;
}

static bool
listen_again(struct provider_service *p, const json_t *command, char *why, size_t size)
{
	(void)command;
	if (sim_server_resume(p->server))
		return true;
	snprintf(why, size, "cannot listen on %s again: %s", sim_server_url(p->server), strerror(errno));
	return false;
}
