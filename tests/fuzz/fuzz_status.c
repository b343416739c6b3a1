/*
 * tests/fuzz/fuzz_status.c - any body of any answer: what is read of it fits, is text, and can be
 * shown to people.
 *
 * Input: what it is (1 byte: a Status, or a discovery document), then the body.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kube/discovery.h"
#include "kube/status.h"
#include "obj.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_text(const char *text, size_t size)
{
	const size_t len = strnlen(text, size);

	MUST(len < size);
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length(text + i, len - i);
		MUST(n > 0);
		MUST((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
	}
}

static void
read_status(const char *body, size_t len, bool mutating)
{
	static struct kube_status s;
	char causes[300];

	status_read(&s, mutating ? 500 : 0, body, len);
	check_text(s.reason, sizeof(s.reason));
	check_text(s.message, sizeof(s.message));
	MUST(s.ncauses <= STATUS_CAUSES_MAX && s.retry_after_s >= 0 && s.retry_after_s <= STATUS_RETRY_MAX_S);
	for (size_t i = 0; i < s.ncauses; i++) {
		check_text(s.causes[i].reason, sizeof(s.causes[i].reason));
		check_text(s.causes[i].field, sizeof(s.causes[i].field));
		check_text(s.causes[i].message, sizeof(s.causes[i].message));
	}
	MUST(status_causes(&s, causes, sizeof(causes)) == strlen(causes));
	(void)status_too_large_rv(&s);
}

static void
read_discovery(const char *path, const char *body, size_t len)
{
	static const struct discovery_want wants[] = {
		{ "", "nodes", "v1" }, { "test.muster.dev", "widgets", "v1 v1beta1" },
	};
	struct discovery d;
	struct discovery_result result;
	char err[200] = "", next[200];
	bool known = false;

	discovery_init(&d, wants, NITEMS(wants));
	const bool ok = discovery_read(&d, path, body, len, err, sizeof(err));
	MUST(ok == (err[0] == '\0'));
	for (size_t i = 0; i < NITEMS(wants); i++) {
		discovery_result(&d, i, &result);
		known |= result.state != DISCOVERY_UNKNOWN;
	}
	/* a refused document changes no result */
	MUST(ok || (!known && !discovery_next(&d, next, sizeof(next))));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "/api", "/apis", "/api/v1", "/apis/test.muster.dev/v1" };

	if (size == 0)
		return 0;
	char *body = obj_memdup(data + 1, size - 1);
	if (data[0] < 2)
		read_status(body, size - 1, data[0] == 1);
	else
		read_discovery(paths[data[0] % NITEMS(paths)], body, size - 1);
	free(body);
	return 0;
}
