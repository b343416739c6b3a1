/*
 * tests/unit/test_sim_blob.c - an object as bytes: what is kept, what is found, what another
 * version shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <event2/buffer.h>

#include "obj.h"
#include "sim/kube/store/sim_blob.h"

static const struct sim_resource *
builtin(const char *group, const char *plural)
{
	for (size_t i = 0; i < sim_resource_nbuiltin; i++) {
		if (strcmp(sim_resource_builtin[i].group, group) == 0
		    && strcmp(sim_resource_builtin[i].plural, plural) == 0)
			return &sim_resource_builtin[i];
	}
	return NULL;
}

static struct sim_blob *
blob_of(const char *text, const struct sim_resource *r, uint64_t rv)
{
	json_t *const object = json_loads(text, 0, NULL);

	assert_non_null(object);
	struct sim_blob *const b = sim_blob_new(object, r, rv);
	json_decref(object);
	return b;
}

/* The whole object, or its metadata alone. */
static char *
written(const struct sim_blob *b, const struct sim_resource *r, bool whole, uint64_t rv)
{
	struct evbuffer *const out = evbuffer_new();

	if (whole)
		sim_blob_write(out, b, r, true, rv);
	else
		sim_blob_write_metadata(out, b, r, rv);
	const size_t n = evbuffer_get_length(out);
	char *const text = obj_alloc(n + 1);
	evbuffer_remove(out, text, n);
	evbuffer_free(out);
	return text;
}

static const char pod[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid"
    "\":\"u-1\","
    "\"resourceVersion\":\"3\",\"labels\":{\"app\":\"web\",\"tier\":\"\"},\"ownerReferences\":[{\"ui"
    "d\":\"o-1\"},"
    "{\"uid\":\"o-2\"}]},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}";

static void
what_is_asked_often_is_found_without_a_parser(void **state)
{
	struct sim_blob *b = blob_of(pod, builtin("", "pods"), 7);

	(void)state;
	assert_string_equal(sim_blob_key(b), "ns/p");
	assert_string_equal(sim_blob_name(b), "p");
	assert_string_equal(sim_blob_uid(b), "u-1");
	assert_string_equal(sim_blob_label(b, "app"), "web");
	assert_string_equal(sim_blob_label(b, "tier"), "");
	assert_null(sim_blob_label(b, "nothing"));
	assert_null(sim_blob_label(b, "web"));	/* a value is no key */
	assert_string_equal(sim_blob_field(b, "metadata.namespace"), "ns");
	assert_string_equal(sim_blob_field(b, "spec.nodeName"), "n1");
	assert_string_equal(sim_blob_field(b, "status.podIP"), "");
	assert_string_equal(sim_blob_field(b, "spec.hostNetwork"), "false");
	assert_null(sim_blob_field(b, "spec.unknown"));
	assert_string_equal(sim_blob_owners(b), "o-1");
	assert_string_equal(sim_blob_owners(b) + 4, "o-2");
	assert_string_equal(sim_blob_owners(b) + 8, "");
	sim_blob_unref(&b);
}

static void
another_version_is_put_in_its_place(void **state)
{
	struct sim_blob *b = blob_of(pod, builtin("", "pods"), 7);
	static const struct {
		uint64_t	 rv;
		const char	*begins;
	} rows[] = {
		{ 0, "{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u-1\",\"resourceVersion\":\"7\",\"l" },
		{ 12345, "{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u-1\",\"resourceVersion\":\"12345\"" },
	};
	static const char head[] = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":";

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		char *const meta = written(b, builtin("", "pods"), false, rows[i].rv);
		char *const whole = written(b, builtin("", "pods"), true, rows[i].rv);
		json_t *const parsed = json_loads(meta, 0, NULL);

		assert_memory_equal(meta, rows[i].begins, strlen(rows[i].begins));
		assert_non_null(parsed);		/* exactly the metadata, braces included */
		assert_memory_equal(whole, head, strlen(head));
		assert_memory_equal(whole + strlen(head), meta, strlen(meta));
		assert_string_equal(whole + strlen(whole) - 31, "},\"status\":{\"phase\":\"Running\"}}");
		json_decref(parsed);
		free(meta);
		free(whole);
	}
	sim_blob_unref(&b);
}

/* A custom resource is a map to the real server, its metadata alone a struct (issue 10.9). */
static void
the_keys_of_a_custom_resource_are_sorted(void **state)
{
	static const struct sim_resource things = { .group = "g", .version = "v1", .kind = "Thing" };
	struct sim_blob *b = blob_of("{\"metadata\":{\"name\":\"t\",\"labels\":{\"b\":\"\",\"a\":\"\"}},"
	    "\"zoo\":1,\"kind\":\"Thing\",\"data\":{\"y\":[{\"b\":1,\"a\":2}],\"x\":0},\"Aardvark\":1}",
	    &things, 9);
	char *const whole = written(b, &things, true, 10), *const meta = written(b, &things, false, 10);

	(void)state;
	assert_string_equal(whole,
	    "{\"Aardvark\":1,\"apiVersion\":\"g/v1\",\"data\":{\"x\":0,\"y\":[{\"a\":2,\"b\":1}]},"
	    "\"kind\":\"Thing\",\"metadata\":{\"labels\":{\"a\":\"\",\"b\":\"\"},\"name\":\"t\","
	    "\"resourceVersion\":\"10\"},\"zoo\":1}");
	assert_string_equal(meta,
	    "{\"name\":\"t\",\"resourceVersion\":\"10\",\"labels\":{\"a\":\"\",\"b\":\"\"}}");
	free(whole);
	free(meta);
	sim_blob_unref(&b);
}

static void
what_is_not_stored_has_no_version(void **state)
{
	struct sim_blob *b = blob_of(pod, builtin("", "pods"), 0);
	char *const meta = written(b, builtin("", "pods"), false, 9);

	(void)state;
	assert_null(strstr(meta, "resourceVersion"));
	free(meta);
	sim_blob_unref(&b);
}

static void
both_kinds_of_event_are_one(void **state)
{
	static const char event[] =
	    "{\"metadata\":{\"name\":\"e\",\"namespace\":\"d\"},\"regarding\":{\"name\":\"n\"},"
	    "\"note\":\"hello\",\"reportingController\":\"c\"}";
	const struct sim_resource *const old = builtin("", "events"),
				     *const new = builtin("events.k8s.io", "events");
	json_t *const object = sim_blob_stored_form(json_loads(event, 0, NULL), new);
	struct sim_blob *b = sim_blob_new(object, old, 1);
	json_t *const as_old = sim_blob_parse(b, old), *const as_new = sim_blob_parse(b, new);

	(void)state;
	assert_string_equal(sim_blob_field(b, "involvedObject.name"), "n");
	assert_string_equal(json_string_value(json_object_get(as_old, "message")), "hello");
	assert_string_equal(json_string_value(json_object_get(as_old, "apiVersion")), "v1");
	assert_string_equal(json_string_value(json_object_get(as_new, "note")), "hello");
	assert_string_equal(json_string_value(json_object_get(as_new, "apiVersion")), "events.k8s.io/v1");
	assert_null(json_object_get(as_new, "message"));
	json_decref(as_old);
	json_decref(as_new);
	json_decref(object);
	sim_blob_unref(&b);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_often_is_found_without_a_parser),
		cmocka_unit_test(another_version_is_put_in_its_place),
		cmocka_unit_test(the_keys_of_a_custom_resource_are_sorted),
		cmocka_unit_test(what_is_not_stored_has_no_version),
		cmocka_unit_test(both_kinds_of_event_are_one),
	};

	return cmocka_run_group_tests_name("sim_blob", tests, NULL, NULL);
}
