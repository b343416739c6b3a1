/*
 * tests/fuzz/fuzz_control.c - bytes that unknown senders send to musterd: requests of the control socket,
 * and records that actors send on their lifelines. The first byte selects: R a request, anything
 * else a record.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "obj.h"
#include "supervisor/notify.h"
#include "supervisor/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fuzz_request(const char *line, size_t len)
{
	struct request r;

	if (request_parse(line, len, &r) != NULL)
		return;
	MUST((unsigned)r.verb < REQ_MAX);
	MUST((unsigned)r.role <= ROLE_NONE);
	MUST((unsigned)r.level < LEVEL_MAX);
	MUST(memchr(r.object, '\0', sizeof(r.object)) != NULL);
	MUST((r.verb == REQ_EXPLAIN || r.verb == REQ_TRACE) == (r.object[0] != '\0'));
	MUST(strpbrk(r.object, " \n%") == NULL);
	MUST(r.verb != REQ_RESTART || (unsigned)r.role < ROLE_MAX);
}

static void
fuzz_record(const char *record, size_t len)
{
	struct note n, again;

	if (!notify_parse(record, len, &n))
		return;
	MUST((unsigned)n.kind < NOTE_MAX);
	MUST(n.number <= INT64_MAX);
	MUST(n.kind != NOTE_EXTEND || n.number <= NOTE_MAX_MS);
	MUST((unsigned)n.role < ROLE_MAX || n.role == ROLE_NONE);
	MUST(n.kind != NOTE_REPORT || n.text[0] != '\0');
	MUST(n.kind != NOTE_ANSWER || (n.body > record && n.body_len > 0
	    && n.body + n.body_len == record + len));
	MUST(memchr(n.text, '\0', sizeof(n.text)) != NULL);
	for (const char *c = n.text; *c != '\0'; c++)
		MUST(*c >= ' ' && *c <= '~');
	MUST(notify_parse(record, len, &again));
	MUST(again.kind == n.kind && again.number == n.number && again.role == n.role
	    && strcmp(again.text, n.text) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	(data[0] == 'R' ? fuzz_request : fuzz_record)((const char *)data + 1, size - 1);
	return 0;
}
