/* kube/credential.c - what to send now, kept fresh from files and plugin. */
#include "credential.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "credential_pem.h"
#include "credential_plan.h"
#include "exec_plugin_answer.h"
#include "kubeconfig_private.h"
#include "log.h"
#include "obj.h"

enum { CREDENTIAL_MAGIC = 0x43524544, SECRET_FILE_MAX = 1024 * 1024, ERROR_TEXT_MAX = 768 };

/* TLS material: all of it is replaced, or nothing. */
struct tls {
	struct bytes	ca, cert, key;
};

struct credential {
	uint32_t		 magic;
	struct kubeconfig	*config;
	struct exec_plugin	*plugin;	/* borrowed */
	struct credential_times	 times;
	struct tls		 tls;
	struct bytes		 token;		/* of the kubeconfig or its file */
	struct exec_answer	 answer;	/* of the plugin */
	struct bytes		 basic;
	char			*proxy;
	uint64_t		 serial;
	int64_t			 changed_at;	/* when serial moved */
	bool			 lost;
	char			 file_error[ERROR_TEXT_MAX], plugin_error[ERROR_TEXT_MAX];
};

static void read_files(struct credential *, int64_t);
static bool read_tls(struct credential *, int64_t);
static bool read_token(struct credential *, int64_t);
static bool take(struct credential *, const char *, const struct bytes *, const char *, struct bytes *);
static void wipe_tls(struct tls *);
static void make_basic(struct credential *);
static char *proxy_for_curl(const char *);
static void run_plugin(struct credential *, int64_t);
static void take_answer(struct credential *, struct exec_answer *, int64_t);
static void plugin_failed(struct credential *, int64_t);
static void drop_answer(struct credential *, int64_t);
static void changed(struct credential *, int64_t);
static bool set_error(char *, const char *, ...) __attribute__((format(printf, 2, 3)));

struct credential *
credential_open(
    struct kubeconfig **config, struct exec_plugin *plugin, int64_t now_ms, char *err, size_t size)
{
	struct credential *c;

	OBJ_NEW(c, CREDENTIAL_MAGIC);
	OBJ_TAKE(c->config, config, KUBECONFIG_MAGIC);
	const struct kubeconfig *const k = c->config;
	MUST((k->exec != NULL) == (plugin != NULL));
	c->plugin = plugin;
	c->times = (struct credential_times){
		.has_files = k->ca_file != NULL || k->cert_file != NULL || k->key_file != NULL
		    || k->token_file != NULL,
		.has_plugin = plugin != NULL, .answered_at = -1, .expires_at = CREDENTIAL_NEVER,
	};
	c->proxy = proxy_for_curl(k->proxy_url);
	make_basic(c);
	c->times.files_at = now_ms;
	/* A token file may fail at the start if a token stands beside it. */
	if (!read_tls(c, now_ms) || (!read_token(c, now_ms) && c->token.data == NULL)) {
		snprintf(err, size, "%s: %s", k->where, c->file_error);
		credential_free(&c);
		return NULL;
	}
	if (k->insecure)
		log_warnx("the API server's certificate is not verified: others can pose as it",
		    KV_S(HOST, k->server), KV_S(FILE, k->where),
		    KV_S(HINT, "replace insecure-skip-tls-verify by certificate-authority"));
	if (plugin != NULL)
		run_plugin(c, now_ms);
	return c;
}

void
credential_free(struct credential **cp)
{
	struct credential *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, CREDENTIAL_MAGIC);
	kubeconfig_free(&c->config);
	wipe_tls(&c->tls);
	bytes_wipe(&c->token);
	exec_answer_wipe(&c->answer);
	bytes_wipe(&c->basic);
	bytes_wipe_text(&c->proxy);
	OBJ_FREE(c);
}

enum credential_state
credential_now(struct credential *c, int64_t now_ms, struct credential_view *view)
{
	OBJ_CHECK(c, CREDENTIAL_MAGIC);
	credential_tick(c, now_ms);
	const struct kubeconfig *const k = c->config;
	const bool own_pair = c->answer.cert.data != NULL;
	const struct bytes *const cert = own_pair ? &c->answer.cert : &c->tls.cert;
	const struct bytes *const key = own_pair ? &c->answer.key : &c->tls.key;
	const struct bytes *const token = c->plugin != NULL ? &c->answer.token : &c->token;

	*view = (struct credential_view){
		.server = k->server, .tls_server_name = k->tls_server_name, .proxy = c->proxy,
		.insecure = k->insecure, .disable_compression = k->disable_compression,
		.ca = c->tls.ca.data, .ca_len = c->tls.ca.len,
		.cert = cert->data, .cert_len = cert->len, .key = key->data, .key_len = key->len,
		.token = token->data, .token_len = token->len, .basic = c->basic.data,
		.serial = c->serial,
		.error = c->plugin_error[0] != '\0' ? c->plugin_error
		    : c->file_error[0] != '\0' ? c->file_error : NULL,
	};
	if (c->lost)
		return CREDENTIAL_LOST;
	return c->plugin != NULL && c->times.answered_at < 0 ? CREDENTIAL_WAITING : CREDENTIAL_READY;
}

/*
 * Something new since the refused request was sent, as far as can be known here: it changed just
 * now or a moment ago, or the plugin is at work on it.
 */
bool
credential_unauthorized(struct credential *c, int64_t now_ms)
{
	struct credential_times *const t = &c->times;

	OBJ_CHECK(c, CREDENTIAL_MAGIC);
	const bool fresh = now_ms - c->changed_at < CREDENTIAL_FRESH_MS;
	t->files_refused = t->has_files;
	if (t->has_plugin && t->answered_at >= 0) {
		t->plugin_refused = true;
		/* A fresh one is kept: the refusal may be about the one before it. */
		if (!fresh)
			drop_answer(c, now_ms);
	}
	credential_tick(c, now_ms);
	return now_ms - c->changed_at < CREDENTIAL_FRESH_MS || (t->running && t->answered_at < 0);
}

bool
credential_tls_refused(struct credential *c, int64_t now_ms)
{
	OBJ_CHECK(c, CREDENTIAL_MAGIC);
	c->times.files_refused = c->times.has_files;
	credential_tick(c, now_ms);
	return now_ms - c->changed_at < CREDENTIAL_FRESH_MS;
}

bool
credential_tick(struct credential *c, int64_t now_ms)
{
	OBJ_CHECK(c, CREDENTIAL_MAGIC);
	const uint64_t before = c->serial;
	const unsigned due = credential_due(&c->times, now_ms);
	if (due & CREDENTIAL_DUE_FILES)
		read_files(c, now_ms);
	if ((due & CREDENTIAL_DUE_PLUGIN) && !c->lost)
		run_plugin(c, now_ms);
	return c->serial != before;
}

void
credential_readable(struct credential *c, int64_t now_ms)
{
	struct bytes text = { NULL, 0 };
	struct exec_answer a;
	char why[ERROR_TEXT_MAX / 2];

	OBJ_CHECK(c, CREDENTIAL_MAGIC);
	switch (exec_plugin_read(c->plugin, &text, why, sizeof(why))) {
	case EXEC_PLUGIN_NOTHING:
		break;
	case EXEC_PLUGIN_ANSWER:
		if (exec_answer_parse(
			&a, c->config->exec->api_version, text.data, text.len, why, sizeof(why))) {
			take_answer(c, &a, now_ms);
			exec_answer_wipe(&a);
		} else {
			set_error(c->plugin_error, "plugin %s: %s", c->config->exec->command, why);
			plugin_failed(c, now_ms);
		}
		break;
	case EXEC_PLUGIN_FAILED:
		set_error(c->plugin_error, "%s", why);
		plugin_failed(c, now_ms);
		break;
	case EXEC_PLUGIN_DEAD:
		set_error(c->plugin_error, "%s", why);
		c->times.running = false;
		c->lost = true;
		break;
	}
	bytes_wipe(&text);
}

bool
credential_running(const struct credential *c)
{
	OBJ_CHECK(c, CREDENTIAL_MAGIC);
	return c->times.running;
}

/* What is wrong stays in file_error until a reading goes well. */
static void
read_files(struct credential *c, int64_t now_ms)
{
	c->times.files_at = now_ms;
	c->times.files_refused = false;
	const bool tls = read_tls(c, now_ms), token = read_token(c, now_ms);
	if (tls && token)
		c->file_error[0] = '\0';
}

static bool
read_tls(struct credential *c, int64_t now_ms)
{
	const struct kubeconfig *const k = c->config;
	struct tls fresh = { .ca = { NULL, 0 } };
	const char *fault = NULL;
	bool ok = take(c, k->ca_file, &k->ca_data, "certificate-authority", &fresh.ca)
	    && take(c, k->cert_file, &k->cert_data, "client-certificate", &fresh.cert)
	    && take(c, k->key_file, &k->key_data, "client-key", &fresh.key);

	if (ok && fresh.ca.data != NULL && (fault = pem_fault_ca(&fresh.ca)) != NULL)
		ok = set_error(c->file_error, "%s %s",
		    k->ca_file == NULL ? "certificate-authority-data" : k->ca_file, fault);
	if (ok && fresh.cert.data != NULL && (fault = pem_fault_pair(&fresh.cert, &fresh.key)) != NULL)
		ok = set_error(c->file_error, "%s%s%s", fault, k->cert_file == NULL ? "" : ": ",
		    k->cert_file == NULL ? "" : k->cert_file);
	if (ok && !(bytes_equal(&fresh.ca, &c->tls.ca) && bytes_equal(&fresh.cert, &c->tls.cert)
	    && bytes_equal(&fresh.key, &c->tls.key))) {
		wipe_tls(&c->tls);
		c->tls = fresh;
		changed(c, now_ms);
		return true;
	}
	wipe_tls(&fresh);
	return ok;
}

/* Blanks around it are not part of a token; what is inside must be sendable. */
static bool
read_token(struct credential *c, int64_t now_ms)
{
	const struct kubeconfig *const k = c->config;
	struct bytes text = { NULL, 0 }, fresh = { NULL, 0 };
	bool ok = true;

	if (k->token_file == NULL || !take(c, k->token_file, &k->token, "tokenFile", &text)) {
		ok = k->token_file == NULL;
		if (c->token.data == NULL && k->token.data != NULL)
			bytes_set(&fresh, k->token.data, k->token.len);
	} else {
		const char *const at = text.data + strspn(text.data, " \t\r\n");
		size_t len = strlen(at);

		while (len > 0 && strchr(" \t\r\n", at[len - 1]) != NULL)
			len--;
		if (kubeconfig_token_valid(at, len))
			bytes_set(&fresh, at, len);
		else
			ok = set_error(c->file_error, "%s %s", k->token_file,
			    len == 0 ? "is empty" : "holds more than one token");
	}
	if (fresh.data != NULL && !bytes_equal(&fresh, &c->token)) {
		bytes_take(&c->token, &fresh);
		changed(c, now_ms);
	}
	bytes_wipe(&fresh);
	bytes_wipe(&text);
	return ok;
}

/* From the file if there is one, else the data. */
static bool
take(struct credential *c, const char *file, const struct bytes *data, const char *what, struct bytes *to)
{
	if (file != NULL && !bytes_read_file(to, file, SECRET_FILE_MAX))
		return set_error(c->file_error, "cannot read %s %s: %s", what, file, strerror(errno));
	if (file == NULL && data->data != NULL)
		bytes_set(to, data->data, data->len);
	return true;
}

static void
wipe_tls(struct tls *t)
{
	bytes_wipe(&t->ca);
	bytes_wipe(&t->cert);
	bytes_wipe(&t->key);
}

static void
make_basic(struct credential *c)
{
	char *both = NULL;

	if (c->config->username == NULL)
		return;
	MUST(asprintf(&both, "%s:%s", c->config->username,
	    c->config->password == NULL ? "" : c->config->password) != -1);
	bytes_to_base64(&c->basic, both, strlen(both));
	bytes_wipe_text(&both);
}

/* Go lets a SOCKS proxy resolve the name; curl does so under another scheme. */
static char *
proxy_for_curl(const char *url)
{
	static const char socks[] = "socks5://";
	char *text = NULL;

	if (url == NULL || strncasecmp(url, socks, sizeof(socks) - 1) != 0)
		return url == NULL ? NULL : obj_strdup(url);
	MUST(asprintf(&text, "socks5h://%s", url + sizeof(socks) - 1) != -1);
	return text;
}

static void
run_plugin(struct credential *c, int64_t now_ms)
{
	c->times.running = exec_plugin_request(c->plugin);
	c->times.plugin_refused = false;
	if (c->times.running && c->times.answered_at < 0 && c->plugin_error[0] == '\0')
		set_error(c->plugin_error, "plugin %s: waiting for its answer", c->config->exec->command);
	else if (!c->times.running)
		plugin_failed(c, now_ms);	/* the helper's death shows when its socket is read */
}

static void
take_answer(struct credential *c, struct exec_answer *a, int64_t now_ms)
{
	const char *fault = a->cert.data == NULL ? NULL : pem_fault_pair(&a->cert, &a->key);

	if (fault != NULL) {
		set_error(c->plugin_error, "plugin %s: %s", c->config->exec->command, fault);
		plugin_failed(c, now_ms);
		return;
	}
	if (!bytes_equal(&a->cert, &c->answer.cert) || !bytes_equal(&a->key, &c->answer.key)
	    || !bytes_equal(&a->token, &c->answer.token))
		changed(c, now_ms);
	exec_answer_wipe(&c->answer);
	c->answer = *a;
	*a = (struct exec_answer){ .expires_us = c->answer.expires_us };
	c->plugin_error[0] = '\0';
	c->times.running = false;
	c->times.plugin_refused = false;
	c->times.failures = 0;
	c->times.answered_at = now_ms;
	c->times.expires_at = credential_expiry(now_ms, clock_wall_ms() * 1000, c->answer.expires_us);
}

static void
plugin_failed(struct credential *c, int64_t now_ms)
{
	c->times.running = false;
	c->times.failures++;
	c->times.failed_at = now_ms;
}

static void
drop_answer(struct credential *c, int64_t now_ms)
{
	exec_answer_wipe(&c->answer);
	c->times.answered_at = -1;
	changed(c, now_ms);
}

static void
changed(struct credential *c, int64_t now_ms)
{
	c->serial++;
	c->changed_at = now_ms;
}

static bool
set_error(char *error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error, ERROR_TEXT_MAX, fmt, ap);
	va_end(ap);
	return false;
}
