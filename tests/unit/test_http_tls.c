/*
 * tests/unit/test_http_tls.c - which servers the HTTP client trusts: a real TLS server (openssl s_server)
 * with a certificate for kube.test and 127.0.0.1, reached at 127.0.0.1 and (the wrong name)
 * localhost.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "web.h"

/* MUTUAL asks for a client certificate, KEEPING does too and keeps connections. */
enum { PLAIN, MUTUAL, KEEPING, SERVERS };

static struct {
	char	dir[64];
	pid_t	pid[SERVERS];
	int	port[SERVERS];
	char	ca[4096], other_ca[4096], client_cert[4096], client_key[4096];
	char	next_cert[4096], next_key[4096];
} tls;

#define KEY	"openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
#define CA_KEY	KEY " -x509 -days 2"
#define SIGNED	" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"

/* Everything is made anew for each run, in a folder of its own. */
static const char *const make_certificates[] = {
	CA_KEY " -keyout ca.key -out ca.pem -subj /CN=ca",
	CA_KEY " -keyout other.key -out other.pem -subj /CN=other",
	KEY " -keyout server.key -out server.csr -subj /CN=server",
	"printf 'subjectAltName=DNS:kube.test,IP:127.0.0.1' > server.ext",
	"openssl x509 -req -in server.csr -out server.pem -extfile server.ext" SIGNED,
	KEY " -keyout client.key -out client.csr -subj /CN=client",
	"openssl x509 -req -in client.csr -out client.pem" SIGNED,
	KEY " -keyout next.key -out next.csr -subj /CN=next",
	"openssl x509 -req -in next.csr -out next.pem" SIGNED,
};

/*
 * HTTP/1.1 that keeps its connections; each answer states over which one it came, and which
 * client certificate that one presented.
 */
static const char keeping_server[] =
    "import http.server, ssl\n"
    "class H(http.server.BaseHTTPRequestHandler):\n"
    "    protocol_version, n = 'HTTP/1.1', 0\n"
    "    def setup(self):\n"
    "        super().setup(); H.n += 1; self.mine = H.n\n"
    "    def do_GET(self):\n"
    "        name = dict(x[0] for x in self.connection.getpeercert()['subject'])['commonName']\n"
    "        body = f'{self.mine} {name}'.encode()\n"
    "        self.send_response(200); self.send_header('Content-Length', str(len(body)))\n"
    "        self.end_headers()\n"
    "        self.wfile.write(body)\n"
    "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)\n"
    "c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain('server.pem', 'server.key')\n"
    "c.load_verify_locations('ca.pem'); c.verify_mode = ssl.CERT_REQUIRED\n"
    "s.socket = c.wrap_socket(s.socket, server_side=True)\n"
    "print(f'ACCEPT 127.0.0.1:{s.server_port}', flush=True)\n"
    "s.serve_forever()\n";

/* Runs the command in our folder; its exit status. */
static int
shell(const char *command)
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		if (chdir(tls.dir) == -1)
			_exit(126);
		const int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
slurp(const char *name, char *buf, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", tls.dir, name);
	FILE *const f = fopen(path, "r");
	assert_non_null(f);
	buf[fread(buf, 1, size - 1, f)] = '\0';
	fclose(f);
}

/* Starts a server on a port of the kernel's choice and reads that port from its first line. */
static void
serve(int which)
{
	int out[2];
	char line[256];

	assert_int_equal(pipe(out), 0);
	const pid_t parent = getpid();
	tls.pid[which] = fork();
	if (tls.pid[which] == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || chdir(tls.dir) == -1)
			_exit(1);
		dup2(out[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		close(out[0]);
		if (which == MUTUAL)
			execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
			    "server.pem", "-key", "server.key", "-www", "-Verify", "1",
			    "-verify_return_error", "-CAfile", "ca.pem", (char *)NULL);
		else if (which == KEEPING)
			execlp("python3", "python3", "-c", keeping_server, (char *)NULL);
		else
			execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
			    "server.pem", "-key", "server.key", "-www", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	FILE *const f = fdopen(out[0], "r");
	while (tls.port[which] == 0 && fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "ACCEPT 127.0.0.1:%d", &tls.port[which]);
	assert_int_not_equal(tls.port[which], 0);
	/* The pipe stays open: without a reader SIGPIPE would end the server. */
}

static int
start_servers(void **state)
{
	(void)state;
	snprintf(tls.dir, sizeof(tls.dir), "/tmp/muster-tls-XXXXXX");
	assert_non_null(mkdtemp(tls.dir));
	for (size_t i = 0; i < NITEMS(make_certificates); i++) {
		if (shell(make_certificates[i]) != 0)
			fail_msg("failed: %s (the reason is in %s/log)", make_certificates[i], tls.dir);
	}
	slurp("ca.pem", tls.ca, sizeof(tls.ca));
	slurp("other.pem", tls.other_ca, sizeof(tls.other_ca));
	slurp("client.pem", tls.client_cert, sizeof(tls.client_cert));
	slurp("client.key", tls.client_key, sizeof(tls.client_key));
	slurp("next.pem", tls.next_cert, sizeof(tls.next_cert));
	slurp("next.key", tls.next_key, sizeof(tls.next_key));
	for (int i = 0; i < SERVERS; i++)
		serve(i);
	return 0;
}

static int
stop_servers(void **state)
{
	(void)state;
	for (int i = 0; i < SERVERS; i++) {
		if (tls.pid[i] > 0) {
			kill(tls.pid[i], SIGKILL);
			waitpid(tls.pid[i], NULL, 0);
		}
	}
	return shell("rm -rf \"$PWD\"");
}

enum ca { NO_CA, RIGHT_CA, RIGHT_CA_FILE, OTHER_CA, BROKEN_CA };

static const struct row {
	const char	*name, *host, *server_name;
	enum ca		 ca;
	enum ca		 system;	/* what SSL_CERT_FILE names */
	bool		 insecure;
	enum err	 want;
} rows[] = {
	{ "right CA, right name", "127.0.0.1", NULL, RIGHT_CA, NO_CA, false, E_OK },
	{ "right CA from a file", "127.0.0.1", NULL, RIGHT_CA_FILE, NO_CA, false, E_OK },
	{ "right CA, wrong name", "localhost", NULL, RIGHT_CA, NO_CA, false, E_TLS },
	{ "right CA, name as configured", "localhost", "kube.test", RIGHT_CA, NO_CA, false, E_OK },
	{ "right CA, wrong name configured", "127.0.0.1", "other.test", RIGHT_CA, NO_CA, false, E_TLS },
	{ "another CA", "127.0.0.1", NULL, OTHER_CA, NO_CA, false, E_TLS },
	{ "no CA: the system's, which does not have it", "127.0.0.1", NULL, NO_CA, OTHER_CA, false, E_TLS },
	{ "no CA: the system's, which has it", "127.0.0.1", NULL, NO_CA, RIGHT_CA, false, E_OK },
	{ "another CA, though the system has the right one", "127.0.0.1", NULL, OTHER_CA, RIGHT_CA, false, E_TLS },
	{ "a CA that is none", "127.0.0.1", NULL, BROKEN_CA, NO_CA, false, E_TLS },
	{ "whoever asks for no check gets none", "localhost", NULL, NO_CA, OTHER_CA, true, E_OK },
	{ "not even with a CA", "localhost", NULL, OTHER_CA, NO_CA, true, E_OK },
};

static void
fetch(const char *url, const struct http_tls *how, struct answer *a)
{
	struct event_base *const base = event_base_new();
	struct http *h = http_new(base, &(struct http_config){ .user_agent = "muster-test/1" });

	*a = (struct answer){ 0 };
	http_send(h,
	    &(struct http_request){
		.method = "GET", .url = url, .tls = how, .done = web_record, .arg = a });
	assert_true(web_until(base, &a->calls, 1));
	http_free(&h);
	event_base_free(base);
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct http_tls how = { .server_name = r->server_name, .insecure = r->insecure };
	char path[128], url[128];
	struct answer a;

	if (r->ca == RIGHT_CA || r->ca == OTHER_CA || r->ca == BROKEN_CA) {
		how.ca = r->ca == RIGHT_CA ? tls.ca : r->ca == OTHER_CA ? tls.other_ca : "not PEM";
		how.ca_len = strlen(how.ca);
	}
	snprintf(path, sizeof(path), "%s/%s", tls.dir,
	    r->ca == RIGHT_CA_FILE || r->system == RIGHT_CA ? "ca.pem" : "other.pem");
	if (r->ca == RIGHT_CA_FILE)
		how.ca_file = path;
	if (r->system != NO_CA)
		setenv("SSL_CERT_FILE", path, 1);
	snprintf(url, sizeof(url), "https://%s:%d/?q=s3cr3t", r->host, tls.port[PLAIN]);
	fetch(url, &how, &a);
	unsetenv("SSL_CERT_FILE");
	if (a.err != r->want)
		fail_msg("%s (%s), wanted %s", err_name(a.err), a.error, err_name(r->want));
	assert_int_equal(a.status, r->want == E_OK ? 200 : 0);
	assert_int_equal(a.sent, r->want == E_OK);
	assert_null(strstr(a.error, "s3cr3t"));
}

/*
 * The system's directory of certificates must not be trusted beside a CA that was named. Here it
 * holds the right one (by its hash, as c_rehash would), so only the clearing of it makes the second
 * request fail.
 */
static void
named_ca_shuts_out_the_systems_directory(void **state)
{
	const struct http_tls how = { .ca = tls.other_ca, .ca_len = strlen(tls.other_ca) };
	char dir[128], url[128];
	struct answer a;

	(void)state;
	assert_int_equal(shell("mkdir -p certs && cp ca.pem certs/ && openssl rehash certs"), 0);
	snprintf(dir, sizeof(dir), "%s/certs", tls.dir);
	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", tls.port[PLAIN]);
	setenv("SSL_CERT_DIR", dir, 1);
	fetch(url, NULL, &a);
	assert_int_equal(a.err, E_OK);
	fetch(url, &how, &a);
	assert_int_equal(a.err, E_TLS);
	unsetenv("SSL_CERT_DIR");
}

static void
client_certificate(void **state)
{
	struct http_tls how = {
		.ca = tls.ca, .ca_len = strlen(tls.ca),
		.cert = tls.client_cert, .cert_len = strlen(tls.client_cert),
		.key = tls.client_key, .key_len = strlen(tls.client_key),
	};
	char url[128];
	struct answer a;

	(void)state;
	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", tls.port[MUTUAL]);
	fetch(url, &how, &a);
	assert_int_equal(a.err, E_OK);
	how.cert = how.key = NULL;
	fetch(url, &how, &a);
	assert_int_not_equal(a.err, E_OK);
	how.cert = tls.client_cert;
	how.key = "not PEM";
	how.key_len = 7;
	fetch(url, &how, &a);
	assert_int_equal(a.err, E_TLS);
}

/*
 * A kept connection was opened with a certificate, under an authority: after either is rotated it
 * must not be used again, or the old identity and the old authority would stay in use.
 */
static void
what_was_rotated_connects_anew(void **state)
{
	char both[8192], url[128];
	struct event_base *const base = event_base_new();
	struct http *h = http_new(base, &(struct http_config){ .user_agent = "muster-test/1" });
	struct answer a;

	(void)state;
	snprintf(both, sizeof(both), "%s%s", tls.other_ca, tls.ca);
	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", tls.port[KEEPING]);
	const struct {
		const char *ca, *cert, *key, *want;
	} steps[] = {
		{ tls.ca, tls.client_cert, tls.client_key, "1 client" },
		{ tls.ca, tls.client_cert, tls.client_key, "1 client" },	/* so it does keep them */
		{ tls.ca, tls.next_cert, tls.next_key, "2 next" },
		{ tls.ca, tls.next_cert, tls.next_key, "2 next" },
		{ both, tls.next_cert, tls.next_key, "3 next" },
		{ both, tls.next_cert, tls.next_key, "3 next" },
		{ tls.other_ca, tls.next_cert, tls.next_key, "" },
	};
	for (size_t i = 0; i < NITEMS(steps); i++) {
		const struct http_tls how = {
			.ca = steps[i].ca, .ca_len = strlen(steps[i].ca),
			.cert = steps[i].cert, .cert_len = strlen(steps[i].cert),
			.key = steps[i].key, .key_len = strlen(steps[i].key),
		};

		a = (struct answer){ 0 };
		http_send(h, &(struct http_request){
		    .method = "GET", .url = url, .tls = &how, .done = web_record, .arg = &a });
		assert_true(web_until(base, &a.calls, 1));
		assert_int_equal(a.err, steps[i].want[0] != '\0' ? E_OK : E_TLS);
		assert_string_equal(a.body, steps[i].want);
	}
	http_free(&h);
	event_base_free(base);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(what_was_rotated_connects_anew),
		cmocka_unit_test(named_ca_shuts_out_the_systems_directory),
		cmocka_unit_test(client_certificate),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	world_without_proxies();
	unsetenv("SSL_CERT_FILE");
	unsetenv("SSL_CERT_DIR");
	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), others, sizeof(others));
	return cmocka_run_group_tests_name("http_tls", tests, start_servers, stop_servers);
}
