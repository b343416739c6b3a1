/*
 * tests/unit/provider_rig.h - a provider client and a web server on one loop, with a token file of their own
 * and a lease that the test sets.
 */
#ifndef MUSTER_TEST_PROVIDER_RIG_H
#define MUSTER_TEST_PROVIDER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/provider/client.h"
#include "actors/provider/reply.h"
#include "web.h"

enum { LIST, CREATE, REPLACE, QUICK, SEARCH, LOGIN };

static const struct client_class classes[] = {
	[LIST]    = { "vms", .bucket = "general", .timeout_ms = 20000 },
	[CREATE]  = { "new-vm", .bucket = "create", .mutating = true, .timeout_ms = 20000 },
	[REPLACE] = { "vm", .bucket = "general", .mutating = true, .idempotent = true },
	[QUICK]   = { "quick", .mutating = true, .timeout_ms = 1000 },
	[SEARCH]  = { "search", .harmless = true },
	[LOGIN]   = { "login", .secret = true, .harmless = true },
};

struct rig {
	struct event_base	*base;
	struct web		 web;
	struct client		*client;
	struct fence_lease	 lease;
	char			 dir[64], token[96], url[64];
	const char		*token_header;
};

struct result {
	int			calls;
	enum call_outcome	outcome;
	enum fence_reason	fence;
	int			status;
	bool			token_changed;
	int64_t			retry_after_ms;
	size_t			body_len;
	char			body[256], error[512], reply_error[REPLY_ERROR_MAX];
};

static inline void
record(const struct client_answer *a, void *arg)
{
	struct result *const out = arg;
	struct reply reply;

	out->calls++;
	out->outcome = a->outcome;
	out->fence = a->fence;
	out->status = a->status;
	out->token_changed = a->token_changed;
	out->retry_after_ms = a->retry_after_ms;
	out->body_len = a->body_len;
	snprintf(out->error, sizeof(out->error), "%s", a->error);
	snprintf(out->body, sizeof(out->body), "%s", a->body);
	reply_parse(&reply, a->body, a->body_len);
	snprintf(out->reply_error, sizeof(out->reply_error), "%s", reply.error);
	reply_free(&reply, true);
}

static inline void
put_token(const struct rig *r, const char *text)
{
	FILE *const f = fopen(r->token, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline void
open_client(struct rig *r)
{
	char err[256] = "";

	r->client = client_new(&(struct client_config){ .base = r->base, .provider = "sim", .url = r->url,
	    .user_agent = "muster-test/1", .token_file = r->token, .token_header = r->token_header,
	    .classes = classes, .nclasses = NITEMS(classes), .lease = &r->lease }, err, sizeof(err));
	assert_string_equal(err, "");
}

static inline int
rig_open(void **state)
{
	static struct rig r;

	r = (struct rig){ .dir = "/tmp/muster-client-XXXXXX",
		.lease = { .known = true, .leading = true, .clean = true, .until_ms = INT64_MAX } };
	assert_non_null(mkdtemp(r.dir));
	snprintf(r.token, sizeof(r.token), "%s/token", r.dir);
	put_token(&r, "t0ken-1\n");
	r.base = event_base_new();
	web_open(&r.web, r.base);
	r.web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}";
	snprintf(r.url, sizeof(r.url), "http://127.0.0.1:%d", r.web.port);
	open_client(&r);
	*state = &r;
	return 0;
}

static inline int
rig_close(void **state)
{
	struct rig *const r = *state;

	client_free(&r->client);
	web_close(&r->web);
	event_base_free(r->base);
	unlink(r->token);
	rmdir(r->dir);
	stat_reset();
	return 0;
}

static inline uint64_t
begin(struct rig *r, struct result *out, unsigned class)
{
	const bool get = class == LIST;

	*out = (struct result){ 0 };
	return client_send(r->client, &(struct client_call){ .class = class, .method = get ? "GET" : "POST",
	    .path = "/vms?page=1", .body = get ? NULL : "{}", .body_len = get ? 0 : 2, .done = record,
	    .arg = out });
}

static inline void
call(struct rig *r, struct result *out, unsigned class)
{
	begin(r, out, class);
	assert_true(web_until(r->base, &out->calls, 1));
	assert_int_equal(out->calls, 1);
}

static inline void
turn(struct event_base *base, int64_t ms)
{
	const int64_t end_ms = clock_mono_ms() + ms;
	const struct timeval tick = { .tv_usec = 10000 };

	while (clock_mono_ms() < end_ms) {
		event_base_loopexit(base, &tick);
		event_base_loop(base, EVLOOP_ONCE);
	}
}

static inline double
counted(enum stat_id id, const char *labels)
{
	return stat_value(stat_get(id, labels));
}

#endif
