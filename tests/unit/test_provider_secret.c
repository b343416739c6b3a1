/*
 * tests/unit/test_provider_secret.c - an answer that holds secrets leaves no copy in memory (contract A7).
 *
 * muster-test: no-valgrind=forks, and reads all memory of the process
 */
#include "provider_rig.h"

#include <fcntl.h>
#include <sys/wait.h>

enum { SECRET_LEN = 64, MASK = 0x2a };

/* The secret, masked: so it is nowhere in this process unless it was received. */
static void
masked_secret(unsigned char *out)
{
	for (int i = 0; i < SECRET_LEN; i++)
		out[i] = (unsigned char)(('A' + i % 23 + i / 23) ^ MASK);
}

/* Answers two requests on one connection with JSON of 40,000 bytes: two texts, the secret in each of them. */
static void
serve_secret(int listener)
{
	static char page[40000], request[8192];
	unsigned char masked[SECRET_LEN];
	const int fd = accept(listener, NULL, NULL);

	masked_secret(masked);
	memset(page, 'x', sizeof(page));
	memcpy(page, "{\"a\":\"", 6);
	memcpy(page + 25000, "\",\"b\":\"", 7);
	memcpy(page + sizeof(page) - 2, "\"}", 2);
	for (int i = 0; i < SECRET_LEN; i++)
		page[20000 + i] = page[30000 + i] = (char)(masked[i] ^ MASK);
	for (int i = 0; i < 2 && read(fd, request, sizeof(request)) > 0; i++) {
		dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", sizeof(page));
		for (size_t at = 0; at < sizeof(page);) {
			const ssize_t n = write(fd, page + at, sizeof(page) - at);

			if (n <= 0)
				_exit(1);
			at += (size_t)n;
		}
	}
	_exit(read(fd, request, 1) == 0 ? 0 : 1);
}

__attribute__((no_sanitize("address"))) static unsigned
count_in(const unsigned char *at, size_t len, const unsigned char *masked)
{
	unsigned found = 0;

	for (size_t i = 0; i + SECRET_LEN <= len; i++) {
		size_t n = 0;

		while (n < SECRET_LEN && (at[i + n] ^ MASK) == masked[n])
			n++;
		found += n == SECRET_LEN;
	}
	return found;
}

/* Copies of the secret in all memory of this process that can be written, freed memory included. */
static unsigned
copies_in_memory(void)
{
	enum { LARGEST = 256 * 1024 * 1024 };	/* the shadow of the address sanitizer is larger */
	FILE *const maps = fopen("/proc/self/maps", "re");
	unsigned char masked[SECRET_LEN];
	unsigned long from, to;
	unsigned found = 0;
	char line[512], mode[8];

	assert_non_null(maps);
	masked_secret(masked);
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && strncmp(mode, "rw", 2) == 0
		    && to - from < LARGEST)
			found += count_in((const unsigned char *)from, to - from, masked);
	}
	fclose(maps);
	return found;
}

static unsigned during_done, while_parsed, after_parsed;

static void
count_copies(const struct client_answer *a, void *arg)
{
	assert_int_equal(a->outcome, CALL_DONE);
	assert_int_equal(a->body_len, 40000);
	struct reply reply;

	during_done = copies_in_memory();
	assert_true(reply_parse_secret(&reply, a->body, a->body_len));
	while_parsed = copies_in_memory();
	reply_free(&reply, true);
	after_parsed = copies_in_memory();
	++*(int *)arg;
}

static void
a7_an_answer_with_secrets_is_wiped(void **state)
{
	struct rig *const r = *state;
	int status, done = 0;

	client_free(&r->client);
	web_close(&r->web);
	web_open(&r->web, r->base);
	const int listener = dup(evconnlistener_get_fd(r->web.listener));
	snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d", r->web.port);
	evconnlistener_disable(r->web.listener);
	evutil_make_socket_nonblocking(listener);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int flags = fcntl(listener, F_GETFL);

		fcntl(listener, F_SETFL, flags & ~O_NONBLOCK);
		serve_secret(listener);
	}
	open_client(r);
	for (int i = 0; i < 2; i++) {
		client_send(r->client, &(struct client_call){ .class = LOGIN, .method = "POST",
		    .path = "/login", .done = count_copies, .arg = &done });
		assert_true(web_until(r->base, &done, i + 1));
		assert_int_equal(during_done, 2);	/* the two that the caller reads, no other */
		assert_int_equal(while_parsed, 4);	/* and the two texts of the reply */
		assert_int_equal(after_parsed, 2);
		assert_int_equal(copies_in_memory(), 0);
	}
	client_free(&r->client);
	close(listener);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a7_an_answer_with_secrets_is_wiped, rig_open, rig_close),
	};

	world_without_proxies();
	return cmocka_run_group_tests_name("client, secrets", tests, NULL, NULL);
}
