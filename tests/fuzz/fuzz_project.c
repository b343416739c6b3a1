/*
 * tests/fuzz/fuzz_project.c - any bytes as an object: it is refused with an error,
 * or becomes bodies that the receiver accepts, the same ones every time.
 *
 * Input: kind and form (1 byte), then the object; it is also opened as a watch event and read as a
 * bookmark.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kube/project.h"
#include "msg.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct projection *projections[KIND_MAX];

static void
check_words(const char *text)
{
	MUST(text[0] != '\0');
	for (const char *p = text; *p != '\0'; p++)
		MUST((unsigned char)*p >= ' ' && *p != 0x7f);
}

static void
check_bodies(enum kind k, const struct projected *out)
{
	struct msg_arena arena;
	union msg_body body;

	msg_arena_init(&arena);
	for (size_t i = 0; i < out->nvalues; i++) {
		MUST(msg_unpack_value((enum msg)kind_table[k].message, out->values[i].bytes,
		    out->values[i].len, &arena, &body));
		msg_arena_reset(&arena);
	}
	msg_arena_free(&arena);
	MUST(out->name[0] != '\0' && out->uid[0] != '\0' && out->rv[0] != '\0' && out->error[0] == '\0');
}

/* Once in place, once with room and other bytes behind it: the result does not depend on what follows. */
static void
project_twice(enum kind k, enum project_form form, const uint8_t *bytes, size_t len)
{
	static struct projected out;
	uint8_t *exact = obj_memdup(bytes, len), *roomy = obj_alloc(len + PROJECT_PADDING);
	uint8_t *first = NULL;
	size_t first_len = 0;

	const bool ok = project(projections[k], form, exact, len, 0, &out);
	if (ok) {
		check_bodies(k, &out);
		first_len = out.nvalues > 0 ? out.values[0].len : 0;
		first = obj_memdup(out.nvalues > 0 ? out.values[0].bytes : bytes, first_len);
	} else {
		check_words(out.error);
		MUST(out.nvalues == 0);
	}
	memcpy(roomy, bytes, len);
	memset(roomy + len, '"', PROJECT_PADDING);
	MUST(project(projections[k], form, roomy, len, PROJECT_PADDING, &out) == ok);
	MUST(!ok || out.nvalues == 0
	    || (out.values[0].len == first_len && memcmp(out.values[0].bytes, first, first_len) == 0));
	free(first);
	free(exact);
	free(roomy);
}

static void
open_event(enum kind k, enum project_form form, const uint8_t *bytes, size_t len)
{
	uint8_t *exact = obj_memdup(bytes, len);
	struct watch_event e;
	char text[PROJECT_RV_MAX + 1];
	bool end;

	const char *const wrong = watch_event_open(form, exact, len, 0, &e);
	if (wrong == NULL) {
		MUST((const uint8_t *)e.object >= exact
		    && (const uint8_t *)e.object + e.len + e.padding == exact + len);
		project_twice(k, form, e.object, e.len);
	} else {
		check_words(wrong);
	}
	if (watch_bookmark(form, exact, len, text, sizeof(text), &end))
		MUST(text[0] != '\0' && strlen(text) < sizeof(text));
	free(exact);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const enum kind k = (enum kind)((data[0] >> 1) % KIND_MAX);
	const enum project_form form = data[0] & 1 ? PROJECT_PROTO : PROJECT_JSON;

	if (projections[k] == NULL)
		projections[k] = projection_new(k, "v1", UINT64_MAX);
	project_twice(k, form, data + 1, size - 1);
	open_event(k, form, data + 1, size - 1);
	return 0;
}
