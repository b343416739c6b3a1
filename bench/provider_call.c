/*
 * bench/provider_call.c - what actors/provider/client adds to a call that libcurl makes.
 *
 *	bench-provider_call DIR CALLS ROUNDS
 *
 * A round is CALLS calls one after the other through the client, and as many by bare libcurl: one easy
 * handle, set up once, the same request over a kept connection. The client does for each call what it does
 * for an actor: token file, bucket, fence, deadline, metrics, rate limit headers. Another process answers.
 *
 * Prints {"read": {...}, "mutation": {...}} with "client_us", "curl_us" (wall clock) and "client_cpu_us",
 * "curl_cpu_us" (CPU of this process): microseconds per call, a list with one number for each round.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actors/provider/client.h"
#include "clock.h"
#include "ends.h"
#include "obj.h"

#define AGENT	"muster-bench/1"
#define TOKEN	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TAG	"\"tag\": \"1f0e6c5a-5b54-4c58-9b0e-0f3c7c1f7a11\""

enum request { READ, MUTATION, REQUEST_MAX };
enum way { CLIENT, CURL_ALONE, WAY_MAX };
enum { CONNECTIONS_MAX = 32 };

static const struct {
	const char	*name, *method, *body;
} requests[REQUEST_MAX] = {
	[READ] = { "read", "GET", "" },
	[MUTATION] = { "mutation", "POST", "{" TAG "}" },
};

static const struct client_class classes[REQUEST_MAX] = {
	[READ] = { "vm" },
	[MUTATION] = { "new-vm", .mutating = true },
};

struct bench {
	struct event_base	*base;
	struct client		*client;
	struct fence_lease	 lease;
	CURL			*easy;
	struct curl_slist	*headers;
	enum request		 request;
	bool			 answered;
};

struct measured {
	double	us, cpu_us;	/* of one call */
};

struct round {
	struct measured	of[WAY_MAX];
};

static pid_t start_server(char *, size_t);
static _Noreturn void serve(int);
static bool answer(int);
static void open_client(struct bench *, const char *, const char *);
static void open_curl(struct bench *, const char *);
static struct measured measure(struct bench *, enum way, uint32_t);
static void call_client(struct bench *);
static void on_answer(const struct client_answer *, void *);
static void call_curl(struct bench *);
static size_t ignore(char *, size_t, size_t, void *);
static void print_rounds(const struct round *, uint32_t);
static double cpu_us(void);

static const struct {
	const char	*name;
	void	       (*call)(struct bench *);
} ways[WAY_MAX] = {
	[CLIENT] = { "client", call_client },
	[CURL_ALONE] = { "curl", call_curl },
};

int
main(int argc, char **argv)
{
	struct bench b = {
		.lease = { .known = true, .leading = true, .clean = true, .until_ms = INT64_MAX },
	};
	char url[64];

	if (argc != 4) {
		fprintf(stderr, "usage: bench-provider_call DIR CALLS ROUNDS\n");
		return 2;
	}
	const uint32_t calls = bench_number("CALLS", argv[2]), rounds = bench_number("ROUNDS", argv[3]);
	const pid_t server = start_server(url, sizeof(url));
	struct round *const all = obj_alloc(rounds * sizeof(*all));

	b.base = bench_loop("bench-provider_call");
	open_client(&b, argv[1], url);
	for (b.request = 0; b.request < REQUEST_MAX; b.request++) {
		open_curl(&b, url);
		/* Connections are made before the first round. */
		for (enum way w = 0; w < WAY_MAX; w++)
			ways[w].call(&b);
		for (uint32_t i = 0; i < rounds; i++) {
			const enum way first = i % 2 == 0 ? CLIENT : CURL_ALONE;

			all[i].of[first] = measure(&b, first, calls);
			all[i].of[!first] = measure(&b, !first, calls);
		}
		printf("%s\"%s\": ", b.request > 0 ? ", " : "{", requests[b.request].name);
		print_rounds(all, rounds);
		curl_easy_cleanup(b.easy);
		curl_slist_free_all(b.headers);
	}
	printf("}\n");
	client_free(&b.client);
	event_base_free(b.base);
	free(all);
	MUST(kill(server, SIGKILL) == 0 && waitpid(server, NULL, 0) == server);
	return 0;
}

/* ---- The server ---- */

static pid_t
start_server(char *url, size_t size)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(fd != -1 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	MUST(listen(fd, CONNECTIONS_MAX) == 0 && getsockname(fd, (struct sockaddr *)&at, &len) == 0);
	snprintf(url, size, "http://127.0.0.1:%u", ntohs(at.sin_port));
	const pid_t pid = fork();
	MUST(pid != -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	close(fd);
	return pid;
}

static _Noreturn void
serve(int listener)
{
	struct pollfd fds[1 + CONNECTIONS_MAX] = { { .fd = listener, .events = POLLIN } };
	nfds_t n = 1;

	for (;;) {
		MUST(poll(fds, n, -1) > 0);
		for (nfds_t i = n; i-- > 1;) {
			if (fds[i].revents != 0 && !answer(fds[i].fd)) {
				close(fds[i].fd);
				fds[i] = fds[--n];
			}
		}
		if (fds[0].revents != 0) {
			MUST(n < NITEMS(fds));
			fds[n] = (struct pollfd){ .fd = accept(listener, NULL, NULL), .events = POLLIN };
			MUST(fds[n++].fd != -1);
		}
	}
}

/* A request of this program is smaller than a segment, so it comes with one read. False: the end. */
static bool
answer(int fd)
{
	static const char head[] =
	    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-RateLimit-Limit: 1600\r\n"
	    "X-RateLimit-Remaining: 1599\r\nX-RateLimit-Reset: 4102444800\r\n";
	static const char body[] = "{\"id\": 5550001, " TAG ", \"status\": \"running\"}";
	char request[4096], text[512];
	const ssize_t n = read(fd, request, sizeof(request));

	if (n <= 0)
		return false;
	const char *const end = memmem(request, (size_t)n, "\r\n\r\n", 4);
	const char *const length = memmem(request, (size_t)n, "Content-Length: ", 16);
	const unsigned long body_bytes = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
	MUST(end != NULL && (size_t)n == (size_t)(end + 4 - request) + body_bytes);
	const int len = snprintf(
	    text, sizeof(text), "%sContent-Length: %zu\r\n\r\n%s", head, sizeof(body) - 1, body);
	return write(fd, text, (size_t)len) == len;
}

/* ---- The two ways ---- */

static void
open_client(struct bench *b, const char *dir, const char *url)
{
	char path[256], err[256];

	snprintf(path, sizeof(path), "%.200s/token", dir);
	FILE *const f = fopen(path, "we");
	MUST(f != NULL && fputs(TOKEN "\n", f) >= 0 && fclose(f) == 0);
	b->client = client_new(&(struct client_config){ .base = b->base, .provider = "bench", .url = url,
	    .user_agent = AGENT, .token_file = path, .classes = classes, .nclasses = NITEMS(classes),
	    .lease = &b->lease, .started_ms = clock_mono_ms() }, err, sizeof(err));
	MUST(b->client != NULL);
}

static void
open_curl(struct bench *b, const char *url)
{
	static const char *const lines[] = { "Accept: application/json", "Authorization: Bearer " TOKEN,
		"Content-Type: application/json" };
	char path[128];

	b->easy = curl_easy_init();
	b->headers = NULL;
	MUST(b->easy != NULL);
	for (size_t i = 0; i < NITEMS(lines) - (b->request == READ); i++)
		b->headers = curl_slist_append(b->headers, lines[i]);
	snprintf(path, sizeof(path), "%s/vms/5550001", url);
	curl_easy_setopt(b->easy, CURLOPT_URL, path);
	curl_easy_setopt(b->easy, CURLOPT_HTTPHEADER, b->headers);
	curl_easy_setopt(b->easy, CURLOPT_USERAGENT, AGENT);
	curl_easy_setopt(b->easy, CURLOPT_TIMEOUT, 30L);
	curl_easy_setopt(b->easy, CURLOPT_WRITEFUNCTION, ignore);
	if (b->request == MUTATION)
		curl_easy_setopt(b->easy, CURLOPT_POSTFIELDS, requests[b->request].body);
}

static struct measured
measure(struct bench *b, enum way w, uint32_t calls)
{
	const double cpu_from_us = cpu_us();
	const int64_t from_us = clock_mono_us();

	for (uint32_t i = 0; i < calls; i++)
		ways[w].call(b);
	return (struct measured){ .us = (double)(clock_mono_us() - from_us) / calls,
		.cpu_us = (cpu_us() - cpu_from_us) / calls };
}

static void
call_client(struct bench *b)
{
	const char *const body = requests[b->request].body;

	b->answered = false;
	client_send(b->client, &(struct client_call){ .class = b->request, .body = body,
	    .body_len = strlen(body), .method = requests[b->request].method, .path = "/vms/5550001",
	    .key = "widgets/default/bench", .done = on_answer, .arg = b });
	bench_until(b->base, &b->answered);
}

static void
on_answer(const struct client_answer *a, void *arg)
{
	struct bench *const b = arg;

	MUST(a->outcome == CALL_DONE && a->body_len > 0);
	b->answered = true;
}

static void
call_curl(struct bench *b)
{
	long status = 0;

	MUST(curl_easy_perform(b->easy) == CURLE_OK);
	MUST(curl_easy_getinfo(b->easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status == 200);
}

static size_t
ignore(char *data, size_t size, size_t n, void *arg)
{
	(void)data, (void)arg;
	return size * n;
}

/* ---- Output ---- */

static void
print_rounds(const struct round *all, uint32_t rounds)
{
	for (enum way w = 0; w < WAY_MAX; w++) {
		printf("%s\"%s_us\": [", w > 0 ? ", " : "{", ways[w].name);
		for (uint32_t i = 0; i < rounds; i++)
			printf("%s%.2f", i > 0 ? ", " : "", all[i].of[w].us);
		printf("], \"%s_cpu_us\": [", ways[w].name);
		for (uint32_t i = 0; i < rounds; i++)
			printf("%s%.2f", i > 0 ? ", " : "", all[i].of[w].cpu_us);
		printf("]");
	}
	printf("}");
}

static double
cpu_us(void)
{
	struct timespec ts;

	MUST(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) == 0);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}
