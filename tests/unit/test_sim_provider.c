/* tests/unit/test_sim_provider.c - a provider API seen from a bare socket: tokens, limits, faults, audit. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim/faults/sim_faults.h"
#include "sim/provider/sim_provider.h"
#include "sim_rig.h"

#define TOKEN	"Authorization: Bearer tok-1\r\n"
#define SECRET	"tok-1"

/* The smallest model: machines are counted, and a list may show the count of before. */
struct model {
	int	machines, before;
};

struct desk {
	struct rig			 rig;	/* only its loop */
	struct model			 model;
	struct sim_fault_table		*faults;
	struct sim_provider_audit	 audit;
	char				*log;
	size_t				 log_len;
	struct sim_provider		*provider;
	struct sim_server		*server;
};

static sim_provider_handler list_machines, get_machine, order_machine, exchange_token;
static json_t *error_of(int, const char *);
static bool issued(void *, const char *, char *, size_t);
static int refuse(void *, const struct sim_provider_call *);

static const struct sim_provider_class reads = { "read", 0, 0, NULL }, orders = { "order", 3, 60000, NULL };
static const struct sim_provider_route routes[] = {
	{ EVHTTP_REQ_GET, "/v1/machines", &reads, list_machines, false },
	{ EVHTTP_REQ_POST, "/v1/machines", &orders, order_machine, false },
	{ EVHTTP_REQ_GET, "/v1/machines/{id}", &reads, get_machine, false },
	{ EVHTTP_REQ_POST, "/v1/token", &reads, exchange_token, true },
	{ .pattern = NULL },
};
static const struct sim_provider_auth auth[] = {
	{ "Authorization", "Bearer " }, { "Desk-Auth", "" }, { .header = NULL },
};
static const struct sim_provider_spec spec = { .name = "desk", .routes = routes,
	.auth = auth, .error = error_of, .issued = issued, .refuse = refuse };

static const struct row {
	const char	*name, *fault, *method, *path, *headers, *body;
	int		 code;
	enum rig_end	 end;
	int		 ordered;		/* machines after it */
	const char	*in_head, *in_body, *in_audit;
} rows[] = {
	{ "a list", NULL, "GET", "/v1/machines?page=2", TOKEN, "", 200, RIG_COMPLETE, 0,
	    "Content-Type: application/json", "\"page\":\"2\"",
	    "\"class\":\"read\",\"method\":\"GET\",\"path\":\"/v1/machines\",\"token\":\"one\","
	    "\"effect\":null,\"effect_at_ms\":0,\"code\":200" },
	{ "an argument of the path", NULL, "GET", "/v1/machines/41", TOKEN, "", 200, RIG_COMPLETE, 0, NULL,
	    "\"id\":\"41\"", NULL },
	{ "an order", NULL, "POST", "/v1/machines", TOKEN, "{\"size\":2}", 200, RIG_COMPLETE, 1,
	    "X-RateLimit-Remaining: 2", "\"size\":2", "\"effect\":\"machine 1 ordered\"" },
	{ "another header with the token", NULL, "GET", "/v1/machines", "Desk-Auth: tok-1\r\n", "", 200,
	    RIG_COMPLETE, 0, NULL, NULL, "\"token\":\"one\"" },
	{ "no token", NULL, "GET", "/v1/machines", "", "", 401, RIG_COMPLETE, 0, NULL, "Invalid Token",
	    "\"token\":\"\",\"effect\":null,\"effect_at_ms\":0,\"code\":401" },
	{ "a wrong token", NULL, "POST", "/v1/machines", "Authorization: Bearer x\r\n", "{}", 401,
	    RIG_COMPLETE, 0, NULL, NULL, NULL },
	{ "a token that the API gave out", NULL, "GET", "/v1/machines", "Desk-Auth: given\r\n", "", 200,
	    RIG_COMPLETE, 0, NULL, NULL, "\"token\":\"two\"" },
	{ "refused by the model", NULL, "POST", "/v1/machines", TOKEN "Strict: 404\r\n", "{}", 404,
	    RIG_COMPLETE, 0, NULL, "Not found", "\"effect\":null,\"effect_at_ms\":0,\"code\":404" },
	{ "its token refused by the model", NULL, "POST", "/v1/machines", TOKEN "Strict: 401\r\n", "{}", 401,
	    RIG_COMPLETE, 0, NULL, "Invalid Token", NULL },
	{ "an open route", NULL, "POST", "/v1/token",
	    "Content-Type: application/x-www-form-urlencoded\r\n", "clientId=a%20b&clientSecret=c", 200,
	    RIG_COMPLETE, 0, NULL, "a b", NULL },
	{ "no such path", NULL, "GET", "/v2/machines", TOKEN, "", 404, RIG_COMPLETE, 0, NULL, "Not found",
	    "\"class\":\"\"" },
	{ "another method", NULL, "PUT", "/v1/machines", TOKEN, "", 405, RIG_COMPLETE, 0, NULL, NULL, NULL },
	{ "a body that is no JSON", NULL, "POST", "/v1/machines", TOKEN, "{", 400, RIG_COMPLETE, 0, NULL,
	    NULL, NULL },
	{ "a fault of the Kubernetes API is another's", "{'kind':'status'}", "GET", "/v1/machines", TOKEN,
	    "", 200, RIG_COMPLETE, 0, NULL, NULL, NULL },
	{ "so is one of another provider", "{'kind':'status','api':'shop'}", "GET", "/v1/machines", TOKEN,
	    "", 200, RIG_COMPLETE, 0, NULL, NULL, NULL },
	{ "and of another class", "{'kind':'status','api':'desk','class':'order'}", "GET", "/v1/machines",
	    TOKEN, "", 200, RIG_COMPLETE, 0, NULL, NULL, NULL },
	{ "429", "{'kind':'status','api':'desk','class':'order','code':429,'retry_after':'7'}", "POST",
	    "/v1/machines", TOKEN, "{}", 429, RIG_COMPLETE, 0, "Retry-After: 7", "injected fault", NULL },
	{ "500", "{'kind':'status','api':'desk','code':500}", "POST", "/v1/machines", TOKEN, "{}", 500,
	    RIG_COMPLETE, 0, NULL, NULL, "\"code\":500" },
	{ "HTML", "{'kind':'status','api':'desk','code':502,'body':'html'}", "POST", "/v1/machines", TOKEN,
	    "{}", 502, RIG_COMPLETE, 0, "Content-Type: text/html", "<html>", NULL },
	{ "401 all the same", "{'kind':'unauthorized','api':'desk'}", "GET", "/v1/machines", TOKEN, "", 401,
	    RIG_COMPLETE, 0, NULL, NULL, NULL },
	{ "dropped before the effect", "{'kind':'drop_connection','api':'desk'}", "POST", "/v1/machines",
	    TOKEN, "{}", 0, RIG_FIN, 0, NULL, NULL, "\"effect\":null,\"effect_at_ms\":0,\"code\":0" },
	{ "lost after the effect", "{'kind':'lost','api':'desk'}", "POST", "/v1/machines", TOKEN, "{}", 0,
	    RIG_FIN, 1, NULL, NULL, "\"effect\":\"machine 1 ordered\"" },
	{ "slow to act", "{'kind':'latency','api':'desk','ms':30}", "POST", "/v1/machines", TOKEN, "{}",
	    200, RIG_COMPLETE, 1, NULL, NULL, NULL },
	{ "slow to answer", "{'kind':'late_answer','api':'desk','ms':30}", "POST", "/v1/machines", TOKEN,
	    "{}", 200, RIG_COMPLETE, 1, NULL, NULL, NULL },
	{ "late effect", "{'kind':'late_effect','api':'desk','ms':30}", "POST", "/v1/machines", TOKEN, "{}",
	    200, RIG_COMPLETE, 1, NULL, NULL, "machine 1 ordered" },
	{ "stale list", "{'kind':'stale','api':'desk'}", "GET", "/v1/machines", TOKEN, "", 200, RIG_COMPLETE,
	    0, NULL, "\"machines\":-1", NULL },
	{ "another clock", "{'kind':'date_offset','api':'desk','seconds':-2000000000}", "GET",
	    "/v1/machines", TOKEN, "", 200, RIG_COMPLETE, 0, "Date: ", NULL, NULL },
	{ "cut", "{'kind':'cut','api':'desk','bytes':5}", "POST", "/v1/machines", TOKEN, "{}", 200, RIG_FIN,
	    1, NULL, "{\"siz", "machine 1 ordered" },
	{ "cut at the first byte", "{'kind':'cut','api':'desk'}", "GET", "/v1/machines", TOKEN, "", 200,
	    RIG_FIN, 0, NULL, NULL, NULL },
	{ "reset", "{'kind':'cut','api':'desk','bytes':5,'how':'reset'}", "GET", "/v1/machines", TOKEN, "",
	    200, RIG_RESET, 0, NULL, NULL, NULL },
	{ "half of the JSON in complete HTTP", "{'kind':'cut','api':'desk','bytes':5,'how':'clean'}", "GET",
	    "/v1/machines", TOKEN, "", 200, RIG_COMPLETE, 0, "Content-Length: 5", "{\"pag", NULL },
};

static struct sim_provider_answer
list_machines(void *arg, const struct sim_provider_call *c)
{
	const struct model *const m = arg;
	const char *const page = sim_provider_query(c, "page");

	return (struct sim_provider_answer){ .code = 200, .body = json_pack("{s:s, s:i}", "page",
	    page != NULL ? page : "", "machines", c->behind > 0 ? m->before : m->machines) };
}

static struct sim_provider_answer
get_machine(void *arg, const struct sim_provider_call *c)
{
	(void)arg;
	return (struct sim_provider_answer){ .code = 200, .body = json_pack("{s:s}", "id", c->args.of[0]) };
}

static struct sim_provider_answer
order_machine(void *arg, const struct sim_provider_call *c)
{
	struct model *const m = arg;
	json_t *const size = json_object_get(c->body, "size");

	m->before = m->machines++;
	return (struct sim_provider_answer){ .code = 200, .body = json_pack("{s:O?}", "size", size),
		.effect = json_sprintf("machine %d ordered", m->machines) };
}

static struct sim_provider_answer
exchange_token(void *arg, const struct sim_provider_call *c)
{
	(void)arg;
	return (struct sim_provider_answer){ .code = 200,
		.body = json_incref(json_object_get(c->body, "clientId")) };
}

static json_t *
error_of(int code, const char *why)
{
	return json_pack("{s:i, s:s}", "code", code, "reason", why);
}

static bool
issued(void *arg, const char *token, char *id, size_t size)
{
	(void)arg;
	snprintf(id, size, "two");
	return strcmp(token, "given") == 0;
}

static int
refuse(void *arg, const struct sim_provider_call *c)
{
	const char *const strict = sim_provider_header(c, "Strict");

	(void)arg;
	return strict == NULL ? 0 : strcmp(strict, "401") == 0 ? 401 : 404;
}

static struct desk *
desk_new(const char *fault)
{
	struct desk *const d = obj_alloc(sizeof(*d));
	char err[256] = "";

	d->rig.base = event_base_new();
	d->rig.tick = event_new(d->rig.base, -1, EV_PERSIST, rig_on_tick, NULL);
	event_add(d->rig.tick, &(struct timeval){ .tv_usec = 5000 });
	d->model.before = -1;
	d->faults = sim_faults_new();
	d->audit.out = open_memstream(&d->log, &d->log_len);
	d->provider = sim_provider_new(&spec, &(struct sim_provider_deps){ .base = d->rig.base,
	    .faults = d->faults, .audit = &d->audit, .model = &d->model });
	sim_provider_add_token(d->provider, SECRET, "one");
	d->server = sim_server_new(d->rig.base, "127.0.0.1:0", NULL, sim_provider_serve, d->provider, err,
	    sizeof(err));
	assert_non_null(d->server);
	if (fault != NULL) {
		char *const quoted = obj_strdup(fault);

		for (char *p = quoted; *p != '\0'; p++)
			*p = *p == '\'' ? '"' : *p;
		json_auto_t *armed = json_loads(quoted, 0, NULL);
		free(quoted);
		if (sim_faults_arm(d->faults, armed, err, sizeof(err)) == NULL)
			fail_msg("%s", err);
	}
	return d;
}

static void
desk_free(struct desk *d)
{
	sim_server_free(&d->server);
	sim_provider_free(&d->provider);
	sim_faults_free(&d->faults);
	fclose(d->audit.out);
	free(d->log);
	event_free(d->rig.tick);
	event_base_free(d->rig.base);
	free(d);
}

static struct rig_answer
call(struct desk *d, const char *method, const char *path, const char *headers, const char *body)
{
	struct rig_client c;

	rig_connect(&d->rig, &c, sim_server_url(d->server));
	rig_send(&c, method, path, headers, body);
	struct rig_answer a = rig_wait(&d->rig, &c, NULL);
	rig_disconnect(&c);
	return a;
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct desk *const d = desk_new(r->fault);
	struct rig_answer a = call(d, r->method, r->path, r->headers, r->body);

	assert_int_equal(a.code, r->code);
	assert_int_equal(a.end, r->end);
	if (r->in_head != NULL && strstr(a.head, r->in_head) == NULL)
		fail_msg("\"%s\" is not in %s", r->in_head, a.head);
	if (r->in_body != NULL && strstr(a.body, r->in_body) == NULL)
		fail_msg("\"%s\" is not in %s", r->in_body, a.body);
	assert_int_equal(d->model.machines, r->ordered);
	assert_int_equal(d->audit.n, 1);
	assert_non_null(strstr(d->log, "\"api\":\"desk\""));
	if (r->in_audit != NULL && strstr(d->log, r->in_audit) == NULL)
		fail_msg("\"%s\" is not in %s", r->in_audit, d->log);
	assert_null(strstr(d->log, SECRET));
	rig_free(&a);
	desk_free(d);
}

static void
enforces_limits_and_shows_them(void **state)
{
	struct desk *const d = desk_new(NULL);

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct rig_answer a = call(d, "POST", "/v1/machines", TOKEN, "{}");

		assert_int_equal(a.code, i < 3 ? 200 : 429);
		assert_non_null(strstr(a.head, "X-RateLimit-Limit: 3\r\n"));
		assert_non_null(strstr(a.head, "X-RateLimit-Reset: "));
		assert_int_equal(strstr(a.head, "Retry-After: ") != NULL, i == 3);
		rig_free(&a);
	}
	assert_int_equal(d->model.machines, 3);
	struct rig_answer a = call(d, "GET", "/v1/machines", TOKEN, "");
	assert_int_equal(a.code, 200);
	assert_null(strstr(a.head, "X-RateLimit"));
	rig_free(&a);
	desk_free(d);
}

static void
forgets_a_token(void **state)
{
	struct desk *const d = desk_new(NULL);

	(void)state;
	sim_provider_remove_token(d->provider, SECRET);
	struct rig_answer a = call(d, "GET", "/v1/machines", TOKEN, "");
	assert_int_equal(a.code, 401);
	rig_free(&a);
	desk_free(d);
}

/* When the connection has ended, a late effect still comes; a call that waits to act does not act. */
static void
acts_late_though_the_connection_has_ended(void **state)
{
	static const struct {
		const char	*fault;
		int		 machines;
	} cases[] = {
		{ "{'kind':'late_effect','api':'desk','ms':100}", 1 },
		{ "{'kind':'latency','api':'desk','ms':100}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		struct desk *const d = desk_new(cases[i].fault);
		struct rig_client c;

		rig_connect(&d->rig, &c, sim_server_url(d->server));
		rig_send(&c, "POST", "/v1/machines", TOKEN, "{}");
		json_auto_t *armed = NULL;
		do {
			json_decref(armed);
			event_base_loop(d->rig.base, EVLOOP_ONCE);
			armed = sim_faults_list(d->faults);
		} while (json_integer_value(json_object_get(json_array_get(armed, 0), "hits")) == 0);
		assert_int_equal(d->model.machines, 0);
		sim_server_stop(d->server);
		while (d->audit.n == 0)
			event_base_loop(d->rig.base, EVLOOP_ONCE);
		rig_disconnect(&c);
		assert_int_equal(d->model.machines, cases[i].machines);
		assert_non_null(strstr(d->log, "\"code\":0"));
		desk_free(d);
	}
}

static void
ends_with_calls_that_wait(void **state)
{
	static const char *const faults[] = {
		"{'kind':'late_effect','api':'desk','ms':60000}",
		"{'kind':'late_answer','api':'desk','ms':60000}",
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(faults); i++) {
		struct desk *const d = desk_new(faults[i]);
		struct rig_client c;

		rig_connect(&d->rig, &c, sim_server_url(d->server));
		rig_send(&c, "POST", "/v1/machines", TOKEN, "{}");
		for (int turn = 0; turn < 20; turn++)
			event_base_loop(d->rig.base, EVLOOP_ONCE);
		rig_disconnect(&c);
		desk_free(d);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 4];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(enforces_limits_and_shows_them);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(forgets_a_token);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(acts_late_though_the_connection_has_ended);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(ends_with_calls_that_wait);
	return cmocka_run_group_tests_name("sim_provider", tests, NULL, NULL);
}
