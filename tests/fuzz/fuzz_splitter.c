/*
 * tests/fuzz/fuzz_splitter.c - however a stream is cut into chunks, the same pieces, the same end and
 * the same error texts come out.
 *
 * Input: shape and form (1 byte), a seed for the chunks (1 byte), then the stream. What jansson
 * accepts as a list the splitter accepts too, with as many items.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "keytab.h"
#include "kube/splitter_private.h"
#include "obj.h"
#include "random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that a splitter returns. */
struct outcome {
	uint64_t	hash;
	size_t		pieces, items;
	bool		fed, ended;
	char		error[200], rv[200], next[200];
};

static bool
on_piece(const void *bytes, size_t len, void *arg)
{
	struct outcome *s = arg;
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < PROJECT_PADDING; i++)
		sum = (uint8_t)(sum + ((const uint8_t *)bytes)[len + i]);
	s->hash = hash64_more(s->hash, bytes, len);
	s->hash = hash64_more(s->hash, &len, sizeof(len));
	s->pieces++;
	return true;
}

/* seed 0: the stream in one chunk. */
static void
split(enum splitter_shape shape, enum project_form form, const uint8_t *bytes, size_t len, uint64_t seed,
    struct outcome *s)
{
	struct splitter *c = splitter_new(shape, form, on_piece, s);
	const uint64_t most = seed % 3 == 1 ? 3 : 200;

	s->fed = true;
	for (size_t at = 0, n; at < len && s->fed; at += n) {
		n = seed == 0 ? len : 1 + (size_t)random_below(&seed, most);
		n = n < len - at ? n : len - at;
		uint8_t *exact = obj_memdup(bytes + at, n);

		s->fed = splitter_feed(c, exact, n);
		free(exact);
	}
	s->ended = splitter_end(c);
	s->items = c->items;
	strncpy(s->error, splitter_error(c), sizeof(s->error) - 1);
	strncpy(s->rv, splitter_list_rv(c), sizeof(s->rv) - 1);
	strncpy(s->next, splitter_list_continue(c), sizeof(s->next) - 1);
	MUST(!s->ended || (s->fed && s->error[0] == '\0'));
	MUST(s->ended || s->error[0] != '\0');
	splitter_free(&c);
}

/* The number of items if jansson accepts it as a list; -1: it does not, or names are escaped. */
static int64_t
items_of(const uint8_t *bytes, size_t len)
{
	if (memchr(bytes, '\\', len) != NULL)
		return -1;
	json_t *list = json_loadb((const char *)bytes, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *items = json_object_get(list, "items");
	const json_t *rv = json_object_get(json_object_get(list, "metadata"), "resourceVersion");
	const size_t rv_len = json_string_length(rv);
	int64_t n = json_is_array(items) || json_is_null(items) ? (int64_t)json_array_size(items) : -1;

	for (size_t i = 0; i < json_array_size(items); i++)
		n = json_is_object(json_array_get(items, i)) ? n : -1;
	json_decref(list);
	return rv_len > 0 && rv_len <= PROJECT_RV_MAX ? n : -1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	const enum splitter_shape shape = data[0] & 1 ? SPLIT_LIST : SPLIT_WATCH;
	const enum project_form form = data[0] & 2 ? PROJECT_PROTO : PROJECT_JSON;
	struct outcome whole = { 0 }, parts = { 0 };

	split(shape, form, data + 2, size - 2, 0, &whole);
	split(shape, form, data + 2, size - 2, 1 + data[1], &parts);
	MUST(memcmp(&whole, &parts, sizeof(whole)) == 0);
	MUST(whole.items == whole.pieces);
	const int64_t items = shape == SPLIT_LIST && form == PROJECT_JSON ? items_of(data + 2, size - 2) : -1;
	MUST(items < 0 || (whole.ended && (int64_t)whole.items == items));
	return 0;
}
