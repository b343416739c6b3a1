/*
 * tests/unit/test_kubeconfig.c - kubeconfigs: what is read from them, how they merge, and the errors
 * for wrong ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kube/kubeconfig.h"
#include "obj.h"

#define HEAD	"contexts:\n- name: c\n  context: {cluster: k, user: u}\ncurrent-context: c\n"
#define CLUSTER	"clusters:\n- name: k\n  cluster: {server: 'https://h'}\n"
#define USER(x)	"users:\n- name: u\n  user: {" x "}\n"
#define EXEC(x)	HEAD CLUSTER USER("exec: {" x "}")
#define ON(x)	HEAD "clusters: [{name: k, cluster: {" x "}}]\n" USER("")
#define BY(x)	HEAD CLUSTER USER(x)
#define V1	"apiVersion: client.authentication.k8s.io/v1"

/* Each one is refused with exactly this error. */
static const struct row {
	const char	*name, *text, *context, *want;
} rows[] = {
	{ "empty", "", NULL, "/d/f: no current-context, and none was named (there is: none)" },
	{ "not YAML", "a: [}\n", NULL,
	  "/d/f:1: not YAML: did not find expected node content while parsing a flow node" },
	{ "a list", "- a\n", NULL,
	  "/d/f:1: a kubeconfig is a mapping (apiVersion, clusters, users, contexts)" },
	{ "two documents", HEAD "---\na: b\n", NULL, "/d/f:6: a second document starts here; a kubeconfig is one" },
	{ "another kind", "kind: Pod\n", NULL, "/d/f:1: not a kubeconfig: its kind is not Config" },
	{ "another version", "\napiVersion: v2\n", NULL, "/d/f:2: not a kubeconfig: its apiVersion is not v1" },
	{ "too deep", "a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", NULL, "/d/f:1: more than 32 levels or 256 anchors" },
	{ "no such context", HEAD, "x", "/d/f: context \"x\": no such context (there is: c)" },
	{ "no cluster", HEAD, NULL, "/d/f: context \"c\": there is no cluster \"k\"" },
	{ "no user", HEAD CLUSTER, NULL, "/d/f: context \"c\": there is no user \"u\"" },
	{ "names no user", "contexts: [{name: c, context: {cluster: k}}]\n" CLUSTER, "c",
	  "/d/f: context \"c\": it names no user" },
	{ "an empty context", "contexts: [{name: c, context: }]\n", "c", "/d/f:1: context \"c\" is empty" },
	{ "contexts as a mapping", "contexts: {a: b}\n", "c", "/d/f:1: contexts must be a list" },
	{ "contexts of words", "contexts: [a]\n", "c", "/d/f:1: an item of contexts must be a mapping" },
	{ "a context twice", HEAD "contexts: []\n", NULL, "/d/f:5: contexts stands here a second time" },
	{ "a user twice", BY("") "- name: u\n  user: {}\n", NULL,
	  "/d/f:11: user \"u\" stands here a second time" },
	{ "merge key", HEAD "<<: {a: b}\n", NULL, "/d/f:5: a merge key (<<) is not supported; write the values out" },
	{ "no server", ON("a: b"), NULL,
	  "/d/f:5: cluster \"k\" has no server" },
	{ "server of another kind", ON("server: [a]"), NULL,
	  "/d/f:5: server must be a text" },
	{ "server ftp", ON("server: 'ftp://h'"), NULL,
	  "/d/f:5: server of cluster \"k\": only http and https are spoken" },
	{ "server with a user", ON("server: 'https://u:p@h'"), NULL,
	  "/d/f:5: server of cluster \"k\": it names a user; users stand in their own section" },
	{ "server without host", ON("server: 'https:///x'"), NULL,
	  "/d/f:5: server of cluster \"k\": it has no host" },
	{ "server with a query", ON("server: 'https://h?a=b'"), NULL,
	  "/d/f:5: server of cluster \"k\": a server has no query and no fragment" },
	{ "port 0", ON("server: 'https://h:0'"), NULL,
	  "/d/f:5: server of cluster \"k\": its port is not a number from 1 to 65535" },
	{ "port 65536", ON("server: 'https://[::1]:65536'"), NULL,
	  "/d/f:5: server of cluster \"k\": its port is not a number from 1 to 65535" },
	{ "insecure and secure",
	  ON("server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: a"), NULL,
	  "/d/f:5: cluster \"k\" has insecure-skip-tls-verify and a certificate authority; remove one "
	  "of them" },
	{ "a flag in quotes", ON("insecure-skip-tls-verify: 'true'"), NULL,
	  "/d/f:5: insecure-skip-tls-verify must be true or false" },
	{ "proxy of another kind", ON("server: h, proxy-url: 'ftp://p'"),
	  NULL, "/d/f:5: proxy-url of cluster \"k\": it begins with http://, https:// or socks5://" },
	{ "data is not base64", ON("certificate-authority-data: '&'"),
	  NULL, "/d/f:5: certificate-authority-data is not base64" },
	{ "certificate without key", BY("client-certificate: a"), NULL,
	  "/d/f:10: user \"u\" has a client certificate without its key" },
	{ "key without certificate", BY("client-key-data: aaaa"), NULL,
	  "/d/f:10: user \"u\" has a client key without its certificate" },
	{ "token and username", BY("token: a, username: b"), NULL,
	  "/d/f:10: user \"u\" has a token and a username; only one is allowed" },
	{ "password alone", BY("password: a"), NULL,
	  "/d/f:10: user \"u\" has a password without a username" },
	{ "username with a colon", BY("username: 'a:b'"), NULL,
	  "/d/f:10: the username of user \"u\" holds a colon" },
	{ "token of two lines", BY("token: \"a\\nb\""), NULL,
	  "/d/f:10: token holds a line break or a control character" },
	{ "token with a blank", BY("token: a b"), NULL,
	  "/d/f:10: token holds a blank or a character that cannot be sent" },
	{ "impersonation", BY("as: root"), NULL,
	  "/d/f:10: user \"u\" acts as somebody else (as); that is not supported: use a user of its own" },
	{ "auth-provider", BY("auth-provider: {name: gcp}"), NULL,
	  "/d/f:10: user \"u\" has an auth-provider: Kubernetes removed them in 1.26; use an exec plugin "
	  "(gke-gcloud-auth-plugin, kubelogin, ...)" },
	{ "exec without command", EXEC(V1), NULL,
	  "/d/f:10: exec of user \"u\" has no command" },
	{ "exec without version", EXEC("command: x"), NULL, "/d/f:10: exec of user \"u\" has no apiVersion" },
	{ "exec of v1alpha1", EXEC("command: x, " V1 "alpha1"), NULL,
	  "/d/f:10: exec of user \"u\": apiVersion must be client.authentication.k8s.io/v1 or "
	  "client.authentication.k8s.io/v1beta1" },
	{ "exec of v1 without mode", EXEC("command: x, " V1), NULL,
	  "/d/f:10: exec of user \"u\" has no interactiveMode, which v1 requires: set Never or IfAvailable" },
	{ "exec for people", EXEC("command: x, " V1 ", interactiveMode: Always"),
	  NULL, "/d/f:10: exec of user \"u\" requires a terminal (interactiveMode: Always), which a daemon "
	  "has "
	  "not; use a plugin that can do without" },
	{ "exec of another mode", EXEC("command: x, " V1 ", interactiveMode: a"),
	  NULL, "/d/f:10: exec of user \"u\": interactiveMode must be Never or IfAvailable" },
	{ "args as a word", EXEC("args: a"), NULL, "/d/f:10: args must be a list" },
	{ "env without a name", EXEC("env: [{value: a}]"), NULL, "/d/f:10: env: a variable has a name, without '='" },
	{ "env as words", EXEC("env: [a]"), NULL, "/d/f:10: env must be a list of name and value" },
};

/* A folder of its own for each test. */
static char dir[64];

static int
make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/muster-kubeconfig-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static const char *
file(const char *name, const char *text)
{
	static char path[8][128];
	static size_t next;
	char *const p = path[next++ % NITEMS(path)];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	FILE *const f = fopen(p, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return p;
}

static void
assert_path(const char *got, const char *name)
{
	char want[128];

	snprintf(want, sizeof(want), "%s/%s", dir, name);
	assert_string_equal(got, want);
}

static struct kubeconfig *
parse(const char *text)
{
	char err[KUBECONFIG_ERROR_MAX] = "";
	struct kubeconfig *const k = kubeconfig_parse("/d/f", text, strlen(text), NULL, err, sizeof(err));

	assert_string_equal(err, "");
	assert_non_null(k);
	return k;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char err[KUBECONFIG_ERROR_MAX] = "";

	assert_null(kubeconfig_parse("/d/f", r->text, strlen(r->text), r->context, err, sizeof(err)));
	assert_string_equal(err, r->want);
}

static void
every_field_is_read(void **state)
{
	struct kubeconfig *k = parse("apiVersion: v1\nkind: Config\npreferences: {colors: true}\n"
	    "current-context: c\ncontexts:\n- {name: c, context: {cluster: k, user: u, namespace: n}}\n"
	    "clusters:\n- name: k\n  cluster:\n    server: HTTPS://h:6443/k8s/\n"
	    "    tls-server-name: kubernetes\n"
	    "    proxy-url: socks5://p:1080\n    disable-compression: yes\n"
	    "    certificate-authority: ca.pem\n    certificate-authority-data: Y2E=\n"
	    "users:\n- name: u\n  user:\n    client-certificate-data: Y2VydA==\n    client-key: ../key.pem\n"
	    "    token: t0k\n    tokenFile: /var/tok\n    unknown: [a, {b: c}]\n");

	(void)state;
	assert_string_equal(k->where, "/d/f: context \"c\"");
	assert_string_equal(k->server, "https://h:6443/k8s");
	assert_string_equal(k->namespace, "n");
	assert_string_equal(k->tls_server_name, "kubernetes");
	assert_string_equal(k->proxy_url, "socks5://p:1080");
	assert_true(k->disable_compression);
	assert_false(k->insecure);
	assert_null(k->ca_file);		/* the data outranks it */
	assert_string_equal(k->ca_data.data, "ca");
	assert_string_equal(k->cert_data.data, "cert");
	assert_string_equal(k->key_file, "/d/../key.pem");
	assert_string_equal(k->token.data, "t0k");
	assert_string_equal(k->token_file, "/var/tok");
	assert_null(k->exec);
	kubeconfig_free(&k);
	assert_null(k);
}

static void
exec_is_read(void **state)
{
	struct kubeconfig *k = parse(HEAD "clusters:\n- name: k\n  cluster:\n"
	    "    server: https://h\n    extensions:\n"
	    "    - {name: other, extension: {x: y}}\n"
	    "    - name: client.authentication.k8s.io/exec\n"
	    "      extension: {audience: a, n: 7, on: [true, ~, '1']}\n"
	    USER("exec: {command: bin/x, args: [a, \"b\\nc\"], " V1 "beta1, "
	    "env: [{name: A, value: b}, {name: C}], provideClusterInfo: true, installHint: get it}"));

	(void)state;
	assert_string_equal(k->exec->command, "/d/bin/x");
	assert_string_equal(k->exec->args[0], "a");
	assert_string_equal(k->exec->args[1], "b\nc");
	assert_null(k->exec->args[2]);
	assert_string_equal(k->exec->env[0], "A=b");
	assert_string_equal(k->exec->env[1], "C=");
	assert_null(k->exec->env[2]);
	assert_string_equal(k->exec->install_hint, "get it");
	assert_true(k->exec->provide_cluster_info);
	char *const config = json_dumps(k->exec->cluster_config, JSON_COMPACT);
	assert_string_equal(config, "{\"audience\":\"a\",\"n\":7,\"on\":[true,null,\"1\"]}");
	free(config);
	kubeconfig_free(&k);
	/* what was asked for by name outranks a plugin */
	k = parse(HEAD CLUSTER USER(
	    "token: t, exec: {command: x, apiVersion: client.authentication.k8s.io/v1, "
	    "interactiveMode: Never}"));
	assert_null(k->exec);
	kubeconfig_free(&k);
}

static void
scheme_follows_tls(void **state)
{
	static const struct {
		const char	*cluster, *want;
	} cases[] = {
		{ "server: 'h:8080'", "http://h:8080" },
		{ "server: 'h:6443', insecure-skip-tls-verify: true", "https://h:6443" },
		{ "server: 'h', certificate-authority: a", "https://h" },
		{ "server: 'https://[::1]:6443/'", "https://[::1]:6443" },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		snprintf(text, sizeof(text), HEAD "clusters: [{name: k, cluster: {%s}}]\n" USER("token: t"),
		    cases[i].cluster);
		struct kubeconfig *k = parse(text);
		assert_string_equal(k->server, cases[i].want);
		/* no secret over plain HTTP */
		assert_int_equal(k->token.data != NULL, strncmp(k->server, "https", 5) == 0);
		kubeconfig_free(&k);
	}
}

/* libyaml's time grows with the square of their number: 1 MB of them took 88 s. */
static void
anchors_are_counted(void **state)
{
	char text[8192] = "x:\n", err[KUBECONFIG_ERROR_MAX];
	size_t n = strlen(text);

	(void)state;
	for (int i = 0; i < 257; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "- &a%d x\n", i);
	assert_null(kubeconfig_parse("/d/f", text, n, NULL, err, sizeof(err)));
	assert_string_equal(err, "/d/f:258: more than 32 levels or 256 anchors");
}

/* An alias is a reference; a document made of nothing but references costs nothing and may be used. */
static void
aliases_are_cheap(void **state)
{
	char text[8192];
	size_t n = (size_t)snprintf(text, sizeof(text), "a0: &a0 {x: y}\n");

	(void)state;
	for (int i = 1; i < 60; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "a%d: &a%d [*a%d, *a%d]\n", i, i,
		    i - 1, i - 1);
	snprintf(text + n, sizeof(text) - n, "t: &t tok\n" HEAD CLUSTER USER("token: *t, extra: *a59"));
	struct kubeconfig *k = parse(text);
	assert_string_equal(k->token.data, "tok");
	kubeconfig_free(&k);
	/* where everything is followed, it is counted */
	char err[KUBECONFIG_ERROR_MAX];
	snprintf(text + n, sizeof(text) - n,
	    HEAD "clusters: [{name: k, cluster: {server: 'https://h', extensions: "
		 "[{name: client.authentication.k8s.io/exec, extension: *a59}]}}]\n" USER(""));
	assert_null(kubeconfig_parse("/d/f", text, strlen(text), NULL, err, sizeof(err)));
	assert_non_null(strstr(err, "too deep or too large (16 levels, 4096 values)"));
}

static void
files_merge_first_wins(void **state)
{
	const char *const one = file("one", "clusters: [{name: k, cluster: {server: 'https://one', "
	    "certificate-authority: ca}}]\nusers: [{name: u, user: {token: one}}]\n");
	const char *const two = file("two", "current-context: c\n"
	    "clusters: [{name: k, cluster: {server: 'https://two', tls-server-name: two}}]\n"
	    "users: [{name: u, user: {tokenFile: t}}, {name: v, user: {tokenFile: t}}]\n");
	const char *const three = file("three", "current-context: other\ncontexts: [{name: c, context: "
	    "{cluster: k, user: u}}, {name: d, context: {cluster: k, user: v}}]\n");
	char list[512], err[KUBECONFIG_ERROR_MAX];

	(void)state;
	snprintf(list, sizeof(list), "%s:%s/missing::%s:%s", one, dir, two, three);
	struct kubeconfig *k = kubeconfig_load(
	    &(struct kubeconfig_source){ .list = list, .home = "/none" }, err, sizeof(err));
	assert_non_null(k);
	assert_string_equal(k->server, "https://one");
	assert_null(k->tls_server_name);	/* entries are not mixed */
	assert_path(k->ca_file, "ca");
	assert_string_equal(k->token.data, "one");
	kubeconfig_free(&k);
	k = kubeconfig_load(&(struct kubeconfig_source){ .list = list, .context = "d" }, err, sizeof(err));
	assert_path(k->token_file, "t");
	kubeconfig_free(&k);
}

static void
search_order(void **state)
{
	static const char text[] = HEAD CLUSTER USER("token: t");
	char err[KUBECONFIG_ERROR_MAX], path[128], want[512];
	struct kubeconfig *k;

	(void)state;
	snprintf(path, sizeof(path), "%s/.kube", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	file(".kube/config", text);
	const char *const given = file("given", HEAD
	    "clusters: [{name: k, cluster: {server: 'https://given'}}]\n"
	    USER("token: t"));
	k = kubeconfig_load(&(struct kubeconfig_source){ .home = dir, .list = "" }, err, sizeof(err));
	assert_string_equal(k->server, "https://h");
	kubeconfig_free(&k);
	k = kubeconfig_load(&(struct kubeconfig_source){ .home = dir, .list = given }, err, sizeof(err));
	assert_string_equal(k->server, "https://given");
	kubeconfig_free(&k);
	k = kubeconfig_load(&(struct kubeconfig_source){ .path = given, .list = "/none" }, err, sizeof(err));
	assert_string_equal(k->server, "https://given");
	kubeconfig_free(&k);
	assert_null(kubeconfig_load(&(struct kubeconfig_source){ .list = "/none" }, err, sizeof(err)));
	assert_string_equal(err, "/none: cannot read the kubeconfig: No such file or directory");
	assert_null(kubeconfig_load(&(struct kubeconfig_source){ .list = "/none:/nor" }, err, sizeof(err)));
	assert_string_equal(err, "/none:/nor: none of these files exists");
	assert_null(kubeconfig_load(&(struct kubeconfig_source){ .context = "c" }, err, sizeof(err)));
	assert_string_equal(err, "no kubeconfig: name one, or set KUBECONFIG or HOME");
	assert_null(kubeconfig_load(&(struct kubeconfig_source){ .path = dir }, err, sizeof(err)));
	snprintf(want, sizeof(want), "%s: not a regular file", dir);
	assert_string_equal(err, want);
}

static void
size_is_limited(void **state)
{
	char *const text = malloc(KUBECONFIG_FILE_MAX + 2);
	char err[KUBECONFIG_ERROR_MAX];

	(void)state;
	memset(text, '#', KUBECONFIG_FILE_MAX + 1);
	text[KUBECONFIG_FILE_MAX + 1] = '\0';
	const char *const path = file("large", text);
	assert_null(kubeconfig_load(&(struct kubeconfig_source){ .path = path }, err, sizeof(err)));
	assert_non_null(strstr(err, ": larger than 1048576 bytes, the limit of a kubeconfig"));
	free(text);
}

static void
a_pod_has_its_own(void **state)
{
	char err[KUBECONFIG_ERROR_MAX];
	struct kubeconfig *k;

	(void)state;
	file("namespace", "kube-system\n");
	k = kubeconfig_in_cluster(&(struct kubeconfig_pod){ "10.0.0.1", "443", dir }, err, sizeof(err));
	assert_string_equal(k->server, "https://10.0.0.1:443");
	assert_string_equal(k->namespace, "kube-system");
	assert_path(k->ca_file, "ca.crt");
	assert_path(k->token_file, "token");
	kubeconfig_free(&k);
	k = kubeconfig_in_cluster(&(struct kubeconfig_pod){ "fd00::1", "6443", NULL }, err, sizeof(err));
	assert_string_equal(k->server, "https://[fd00::1]:6443");
	assert_string_equal(k->token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
	kubeconfig_free(&k);
	assert_null(kubeconfig_in_cluster(&(struct kubeconfig_pod){ NULL, "443", dir }, err, sizeof(err)));
	assert_string_equal(
	    err, "not in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
	assert_null(kubeconfig_in_cluster(&(struct kubeconfig_pod){ "h", "x", dir }, err, sizeof(err)));
	assert_non_null(strstr(err, "its port is not a number"));
}

/* Whatever is wrong with a secret, the error does not contain it. */
static void
secrets_are_not_printed(void **state)
{
	static const char *const users[] = {
		"token: [S3CRET]", "token: {S3CRET: S3CRET}", "token: 'S3CRET S3CRET'",
		"token: \"S3CRET\\nS3CRET\"", "token: S3CRET, username: a", "password: S3CRET",
		"password: [S3CRET]", "client-key-data: S3CRET!", "client-key-data: [S3CRET]",
		"client-certificate-data: S3CRET!", "token: S3CRET, token: S3CRET", "token: \"S3CRET",
		"username: 'a:S3CRET', password: S3CRET", "exec: {env: [{name: A, value: [S3CRET]}]}",
		"exec: {args: [[S3CRET]]}", "token: &S3CRET S3CRET, x: *S3CRETS",
		"token: !S3CRET S3CRET, as: b", "client-key-data: UzNDUkVU", "token: \"S3CRET\\q\"",
	};
	char text[1024], err[KUBECONFIG_ERROR_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(users); i++) {
		snprintf(text, sizeof(text), HEAD CLUSTER "users:\n- name: u\n  user: {%s}\n", users[i]);
		assert_null(kubeconfig_parse("/d/f", text, strlen(text), NULL, err, sizeof(err)));
		assert_null(strstr(err, "S3CRET"));
		assert_non_null(strstr(err, "/d/f:1"));
	}
	snprintf(text, sizeof(text), HEAD "clusters: [{name: k, cluster: {server: 'https://h', "
	    "proxy-url: 'http://u:S3CRET@'}}]\n" USER(""));
	assert_null(kubeconfig_parse("/d/f", text, strlen(text), NULL, err, sizeof(err)));
	assert_string_equal(err, "/d/f:5: proxy-url of cluster \"k\": it has no host");
}

static void
base64_is_strict(void **state)
{
	static const struct {
		const char	*text, *want;
	} cases[] = {
		{ "", "" }, { "YQ==", "a" }, { "YWI=", "ab" }, { "YWJj", "abc" }, { "YW\r\nJj\n", "abc" },
		{ "YQ", NULL }, { "YQ=", NULL }, { "Y===", NULL }, { "YQ==YQ==", NULL }, { "Y Q=", NULL },
		{ "YW-j", NULL }, { "====", NULL }, { " YWJj", NULL },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		struct bytes b = { NULL, 0 };

		assert_int_equal(bytes_from_base64(&b, cases[i].text, strlen(cases[i].text)),
		    cases[i].want != NULL);
		if (cases[i].want != NULL) {
			assert_string_equal(b.data, cases[i].want);
			assert_int_equal(b.len, strlen(cases[i].want));
		}
		bytes_wipe(&b);
	}
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(base64_is_strict),
		cmocka_unit_test(every_field_is_read), cmocka_unit_test(exec_is_read),
		cmocka_unit_test(scheme_follows_tls), cmocka_unit_test(aliases_are_cheap),
		cmocka_unit_test(anchors_are_counted),
		cmocka_unit_test_setup_teardown(files_merge_first_wins, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(search_order, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(size_is_limited, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_pod_has_its_own, make_dir, remove_dir),
		cmocka_unit_test(secrets_are_not_printed),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[n] };
	memcpy(tests + n, others, sizeof(others));
	return cmocka_run_group_tests_name("kubeconfig", tests, NULL, NULL);
}
