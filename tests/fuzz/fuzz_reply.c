/*
 * tests/fuzz/fuzz_reply.c - any bytes as a provider's JSON answer.
 *
 * Rule: either nothing of it is used and the error is one printable line, or every getter returns a value of
 * its type; the first error makes all later getters return "absent", and it never quotes the answer.
 */
#include <stdint.h>
#include <string.h>

#include "actors/provider/reply.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_error(const struct reply *r)
{
	const size_t len = strlen(r->error);

	MUST(len > 0 && len < sizeof(r->error));
	for (size_t i = 0; i < len; i++)
		MUST(r->error[i] >= ' ' && r->error[i] <= '~');
}

static void
read_record(const struct reply_at *at, enum reply_need need)
{
	static const char *const names[] = { "id", "a", "status", "created", "data", "" };
	int64_t n = -7, us = -7;
	const char *text = NULL;
	bool flag;
	double real;

	for (size_t i = 0; i < NITEMS(names); i++) {
		struct reply_at inner;

		if (reply_i64(at, names[i], need, &n))
			MUST(reply_ok(at->reply));
		else
			MUST(n == -7);
		if (reply_text(at, names[i], need, &text))
			MUST(text != NULL && reply_ok(at->reply));
		if (reply_time(at, names[i], need, &us))
			MUST(reply_ok(at->reply));
		else
			MUST(us == -7);
		reply_flag(at, names[i], need, &flag);
		reply_f64(at, names[i], need, &real);
		if (!reply_object(at, names[i], need, &inner))
			MUST(inner.json == NULL);
		n = us = -7;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reply_at list, item;
	struct reply r;
	const char *text;

	if (size == 0)
		return 0;
	const enum reply_need need = data[0] % 2 == 0 ? REPLY_OPTIONAL : REPLY_REQUIRED;
	const bool parsed = reply_parse(&r, (const char *)data + 1, size - 1);
	const struct reply_at root = reply_root(&r);
	MUST(parsed == reply_ok(&r) && parsed == (root.json != NULL));
	if (reply_list(&root, "data", need, &list)) {
		for (size_t i = 0; reply_element(&list, i, &item); i++)
			read_record(&item, need);
	}
	if (reply_list(&root, "names", need, &list)) {
		for (size_t i = 0; reply_text_element(&list, i, &text); i++)
			MUST(text != NULL);
	}
	read_record(&root, need);
	if (!reply_ok(&r))
		check_error(&r);
	reply_free(&r, true);
	return 0;
}
