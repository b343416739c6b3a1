/*
 * tests/unit/test_status.c - the status fits its record whatever actors printed before they died:
 * their output is left out before anything else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "lifeline.h"
#include "obj.h"
#include "supervisor/tree.h"

static const struct child_spec on = { .enabled = true };

/* All of them have died; each printed ten lines of that byte. */
static struct tree *
dead_tree(char byte)
{
	struct tree *t = obj_alloc(sizeof(*t));

	for (unsigned i = 0; i < CHILD_MAX; i++) {
		struct child *const ch = &t->children[i];

		*ch = (struct child){ .row = &child_table[i], .spec = &on, .tree = t, .state = ST_BACKOFF,
			.name = role_name(child_table[i].role), .incarnation = UINT32_MAX };
		memset(ch->status, '"', sizeof(ch->status) - 1);
		memset(ch->last_output, byte, sizeof(ch->last_output) - 2);
		for (size_t line = 1; line < LOGPIPE_LAST; line++)
			ch->last_output[line * (LOGPIPE_WORDS + 1) - 1] = '\n';
	}
	return t;
}

static size_t
with_words(char byte)
{
	static char buf[LIFELINE_MAX];
	struct tree *t = dead_tree(byte);
	size_t n = 0;

	const size_t len = status_json(t, buf, sizeof(buf));
	assert_int_not_equal(len, 0);
	json_t *status = json_loadb(buf, len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(status);
	const json_t *actors = json_object_get(status, "actors");
	assert_int_equal(json_array_size(actors), CHILD_MAX);
	for (size_t i = 0; i < CHILD_MAX; i++) {
		const json_t *words = json_object_get(json_array_get(actors, i), "last_output");

		assert_int_equal(json_array_size(words), words == NULL ? 0 : LOGPIPE_LAST);
		n += words != NULL;
	}
	json_decref(status);
	free(t);
	return n;
}

static void
output_is_left_out_first(void **state)
{
	(void)state;
	const size_t plain = with_words('x'), escaped = with_words('\1');

	assert_true(escaped >= 1 && escaped < plain);
	assert_true(plain >= 8);	/* as many as there are actors outside the tests */
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_left_out_first),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
