/*
 * tests/real/test_oracle.c - our values beside Go's own: quantities, selectors, versions, times,
 * merge patches.
 *
 * Every case of tests/real/oracle/corpus and some ten thousands from a fixed seed are put to
 * apimachinery (the program in tests/real/oracle) and to our code: what is accepted, the words of a
 * refusal, canonical forms, comparisons and matches must be the same.
 *
 * muster-test: parallel
 *
 * muster-test: timeout=600
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kube/quantity.h"
#include "kube/rv.h"
#include "kube/time.h"
#include "oracle_cases.h"
#include "sim/kube/patch/sim_patch.h"
#include "tests/unit/selector_text.h"

enum { LINE_SIZE = 1 << 20, SELECTOR_SIZE = 4096, SHOWN_MAX = 20 };

#define SEED	20261117u

/* True: our answer to q is Go's answer a. */
typedef bool compare_fn(const json_t *q, const json_t *a);

static compare_fn same_rv, same_quantity, same_labels, same_fields, same_object, same_time,
    same_http, same_merge;

static const struct kind {
	const char	*op;
	compare_fn	*same;
	json_t	       *(*make)(uint64_t *seed);	/* NULL: only those of the corpus */
	size_t		 count;
} kinds[] = {
	{ "rv",            same_rv,       rv_case,       5000 },
	{ "quantity",      same_quantity, quantity_case, 40000 },
	{ "labels",        same_labels,   label_case,    20000 },
	{ "fields",        same_fields,   field_case,    10000 },
	{ "labelselector", same_object,   object_case,   10000 },
	{ "time",          same_time,     time_case,     10000 },
	{ "microtime",     same_time,     micro_case,    10000 },
	{ "httptime",      same_http,     NULL,          0 },
	{ "merge",         same_merge,    merge_case,    10000 },
};

/* Questions and answers, line by line. */
static FILE *asked, *answered;
static const char *missing;
static char *ours;	/* our answer to the last question, for the report */

static const char *
text_of(const json_t *object, const char *key)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

static bool
accepted(const json_t *a)
{
	return json_is_true(json_object_get(a, "ok"));
}

static bool
is_ascii(const char *text)
{
	while (*text > 0 && *text < 127)
		text++;
	return *text == '\0';
}

static bool record(bool same, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool
record(bool same, const char *fmt, ...)
{
	va_list ap;

	free(ours);
	va_start(ap, fmt);
	MUST(vasprintf(&ours, fmt, ap) != -1);
	va_end(ap);
	return same;
}

static bool
same_rv(const json_t *q, const json_t *a)
{
	static const enum rv_order orders[] = { RV_OLDER, RV_SAME, RV_NEWER };
	const char *const x = text_of(q, "a"), *const y = text_of(q, "b");
	const enum rv_order want = accepted(a)
	    ? orders[json_integer_value(json_object_get(a, "order")) + 1] : RV_UNKNOWN;
	const enum rv_order got = rv_compare(x, strlen(x), y, strlen(y));

	return record(got == want, "order %d", got);
}

static bool
same_quantity(const json_t *q, const json_t *a)
{
	const char *const x = text_of(q, "a");
	char text[QUANTITY_PRINT_MAX];
	struct quantity qx;
	const char *const wrong = quantity_parse(&qx, x, strlen(x));

	if (strlen(x) > QUANTITY_TEXT_MAX)
		return record(wrong != NULL, "accepted though it is too long");
	if (wrong != NULL)
		return record(!accepted(a) && strcmp(wrong, text_of(a, "error")) == 0, "%s", wrong);
	quantity_print(&qx, text, sizeof(text));
	return record(accepted(a) && strcmp(text, text_of(a, "text")) == 0, "text %s", text);
}

static const char *
value_of(const char *key, const void *set)
{
	return json_string_value(json_object_get(set, key));
}

/* Takes s. */
static bool
same_selector(struct selector *s, const char *err, bool same_words, const json_t *q, const json_t *a)
{
	static char text[SELECTOR_SIZE];

	if (s == NULL)
		return record(!accepted(a) && (!same_words || strcmp(err, text_of(a, "error")) == 0), "%s",
		    err);
	selector_print(s, text, sizeof(text));
	const bool match = selector_matches(s, value_of, json_object_get(q, "set"));
	const bool empty = selector_empty(s);
	selector_free(&s);
	return record(accepted(a) && strcmp(text, text_of(a, "text")) == 0
	    && match == json_is_true(json_object_get(a, "match"))
	    && empty == json_is_true(json_object_get(a, "empty")), "text %s, match %d, empty %d", text, match,
	    empty);
}

static bool
same_labels(const json_t *q, const json_t *a)
{
	char err[SELECTOR_SIZE];

	return same_selector(selector_parse_labels(text_of(q, "a"), err, sizeof(err)), err,
	    is_ascii(text_of(q, "a")), q, a);
}

static bool
same_fields(const json_t *q, const json_t *a)
{
	char err[SELECTOR_SIZE];

	return same_selector(selector_parse_fields(text_of(q, "a"), err, sizeof(err)), err,
	    is_ascii(text_of(q, "a")), q, a);
}

static bool
same_object(const json_t *q, const json_t *a)
{
	char err[SELECTOR_SIZE];

	return same_selector(
	    selector_from_json(json_object_get(q, "object"), err, sizeof(err)), err, true, q, a);
}

static bool
same_time(const json_t *q, const json_t *a)
{
	const char *const x = text_of(q, "a");
	const bool micro = strcmp(text_of(q, "op"), "microtime") == 0;
	char text[TIME_TEXT_MAX] = "";
	int64_t us = 0;
	const bool ok = (micro ? time_parse_micro : time_parse)(x, strlen(x), &us);

	if (ok)
		(micro ? time_format_micro : time_format)(us, text, sizeof(text));
	return record(ok == accepted(a) && us == json_integer_value(json_object_get(a, "micros"))
	    && strcmp(text, text_of(a, "text")) == 0, "ok %d, %lld, %s", ok, (long long)us, text);
}

/* We are stricter here: Go also takes other cases of letters, and one digit for the hour. */
static bool
same_http(const json_t *q, const json_t *a)
{
	const char *const x = text_of(q, "a");
	int64_t us = 0;
	const bool ok = time_parse_http(x, strlen(x), &us);

	return record(!ok || (accepted(a) && us == json_integer_value(json_object_get(a, "micros"))),
	    "ok %d, %lld", ok, (long long)us);
}

static bool
same_merge(const json_t *q, const json_t *a)
{
	json_t *const result = sim_patch_merge(json_object_get(q, "object"), json_object_get(q, "patch"));
	char *const text = json_dumps(result, JSON_COMPACT);
	const bool same = accepted(a) && json_equal(result, json_object_get(a, "result"));

	json_decref(result);
	record(same, "%s", text);
	free(text);
	return same;
}

/* Every case of one kind; the first few that differ are shown. */
static void
check_kind(void **state)
{
	const struct kind *const k = *state;
	static char line[2][LINE_SIZE];
	size_t count = 0, wrong = 0;

	if (missing != NULL) {
		print_message("%s\n", missing);
		skip();
	}
	rewind(asked);
	rewind(answered);
	while (fgets(line[0], LINE_SIZE, asked) != NULL) {
		assert_non_null(fgets(line[1], LINE_SIZE, answered));
		json_t *const q = json_loads(line[0], 0, NULL), *const a = json_loads(line[1], 0, NULL);
		assert_true(q != NULL && a != NULL);
		if (strcmp(text_of(q, "op"), k->op) == 0) {
			count++;
			if (!k->same(q, a) && ++wrong <= SHOWN_MAX)
				print_message("asked %sGo:   %sours: %s\n\n", line[0], line[1], ours);
		}
		json_decref(q);
		json_decref(a);
	}
	print_message("%zu cases of %s, %zu differ\n", count, k->op, wrong);
	assert_true(count > 0 && count >= k->count);
	assert_int_equal(wrong, 0);
}

static void
write_questions(FILE *out)
{
	static char line[LINE_SIZE];
	FILE *const corpus = fopen(MUSTER_ROOT "/tests/real/oracle/corpus/cases.jsonl", "re");
	uint64_t seed = SEED;

	MUST(corpus != NULL);
	while (fgets(line, LINE_SIZE, corpus) != NULL)
		fputs(line, out);
	fclose(corpus);
	for (size_t k = 0; k < NITEMS(kinds); k++) {
		for (size_t i = 0; i < kinds[k].count; i++) {
			json_t *const q = kinds[k].make(&seed);

			MUST(q != NULL && json_dumpf(q, out, JSON_COMPACT) == 0);
			fputc('\n', out);
			json_decref(q);
		}
	}
	MUST(fflush(out) == 0);
}

/* The oracle's path, built if need be; NULL with the reason in `missing`. */
static char *
find_oracle(void)
{
	static char output[4096];
	FILE *const p = popen("PYTHONPATH='" MUSTER_ROOT "/tests/lib' python3 '" MUSTER_ROOT
	    "/tests/lib/kubetools.py' oracle 2>&1 | grep -v '^#'", "re");
	char *line;

	MUST(p != NULL);
	const size_t n = fread(output, 1, sizeof(output) - 1, p);
	output[n] = '\0';
	pclose(p);
	output[strcspn(output, "\n")] = '\0';
	line = strncmp(output, "oracle /", 8) == 0 ? output + 7 : NULL;
	if (line == NULL)
		missing = output;
	return line;
}

static void
run(const char *program, FILE *in, FILE *out)
{
	const pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		MUST(lseek(fileno(in), 0, SEEK_SET) == 0);
		MUST(dup2(fileno(in), STDIN_FILENO) != -1 && dup2(fileno(out), STDOUT_FILENO) != -1);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(kinds)];
	const char *const program = find_oracle();

	if (program != NULL) {
		asked = tmpfile();
		answered = tmpfile();
		MUST(asked != NULL && answered != NULL);
		write_questions(asked);
		run(program, asked, answered);
	}
	for (size_t i = 0; i < NITEMS(kinds); i++)
		tests[i] = (struct CMUnitTest){ kinds[i].op, check_kind, NULL, NULL,
			(void *)(uintptr_t)&kinds[i] };
	const int failed = cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
	free(ours);
	return failed;
}
