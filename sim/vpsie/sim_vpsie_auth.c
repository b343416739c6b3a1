/* sim/vpsie/sim_vpsie_auth.c - tokens that the API gives out, and whose prefixes and headers it accepts. */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "kube/time.h"
#include "obj.h"
#include "random.h"
#include "sim/base/sim_json.h"
#include "sim/sim.h"
#include "sim_vpsie_private.h"

static json_t *token_json(const char *, const char *, int64_t);

bool
vpsie_add_client(struct vpsie *v, const json_t *client)
{
	const char *const id = sim_json_text(client, "id"), *const secret = sim_json_text(client, "secret");

	if (id[0] == '\0' || secret[0] == '\0')
		return false;
	json_object_set_new(v->clients, id, json_string(secret));
	return true;
}

/* Those given out so far are not accepted any more, whatever their answers promised. */
void
vpsie_expire_tokens(struct vpsie *v)
{
	memset(v->tokens, 0, sizeof(v->tokens));
}

bool
vpsie_issued(void *model, const char *token, char *id, size_t size)
{
	const struct vpsie *const v = model;

	for (size_t i = 0; i < NITEMS(v->tokens); i++) {
		const struct vpsie_token *const t = &v->tokens[i];

		if (t->token[0] == '\0' || strcmp(t->token, token) != 0 || clock_wall_us() >= t->until_us)
			continue;
		snprintf(id, size, "%s", t->client);
		return true;
	}
	return false;
}

/* The autoscaler has everything below /v2; the SDK has /api/v2 for VMs and /apps/v2 for the rest. */
int
vpsie_refuse(void *model, const struct sim_provider_call *c)
{
	const struct vpsie *const v = model;
	const bool sdk = v->settings.strict == STRICT_SDK;
	const bool vms = strstr(c->path, "/v2/vm") != NULL && strstr(c->path, "/vm/pending") == NULL;
	const char *const prefix = !sdk ? "v2" : vms ? "api" : "apps";

	if (v->settings.strict == STRICT_NONE)
		return 0;
	if (strcmp(c->args.of[0], prefix) != 0)
		return 404;
	return c->token[0] != '\0' && sim_provider_header(c, sdk ? "Vpsie-Auth" : "Authorization") == NULL
	    ? 401 : 0;
}

struct sim_provider_answer
vpsie_exchange_token(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const char *const id = sim_json_text(c->body, "clientId");
	const char *const secret = sim_json_text(c->body, "clientSecret");
	const int64_t now_us = clock_wall_us(), ahead_us = v->settings.clock_offset_s * 1000000;
	struct vpsie_token *const t = &v->tokens[v->ntokens % VPSIE_TOKENS_MAX];
	char refresh[VPSIE_UUID_MAX];

	if (!is_text(json_object_get(v->clients, id), secret))
		return vpsie_fail(v, 401, "Invalid credentials");
	v->ntokens++;
	*t = (struct vpsie_token){ .until_us = now_us + v->settings.token_life_s * 1000000 };
	snprintf(t->token, sizeof(t->token), "tok-%016llx", (unsigned long long)random_next(&v->sim->seed));
	snprintf(refresh, sizeof(refresh), "ref-%016llx", (unsigned long long)random_next(&v->sim->seed));
	snprintf(t->client, sizeof(t->client), "%s", id);
	json_t *const body = json_object();
	json_object_update_new(body, token_json("accessToken", t->token, t->until_us + ahead_us));
	json_object_update_new(body, token_json("refreshToken", refresh,
	    now_us + ahead_us + INT64_C(31) * 86400 * 1000000));
	return (struct sim_provider_answer){ .code = 200, .body = body,
		.effect = json_sprintf("token given to %s", id) };
}

static json_t *
token_json(const char *name, const char *token, int64_t until_us)
{
	char until[TIME_TEXT_MAX];

	time_format(until_us, until, sizeof(until));
	return json_pack("{s:{s:s, s:s}}", name, "token", token, "expires", until);
}
