/*
 * tests/unit/test_sim_schema_pb.c - protobuf bodies: one that kube-apiserver 1.35 wrote, small ones
 * made here for what is special, and every beginning of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/kube/schema/sim_schema_pb.h"

/* A message that is being made. */
struct message {
	char	bytes[1024];
	size_t	len;
};

static void
put_varint(struct message *m, uint32_t number, uint64_t value)
{
	m->bytes[m->len++] = (char)(number << 3);
	for (; value > 127; value >>= 7)
		m->bytes[m->len++] = (char)(value | 128);
	m->bytes[m->len++] = (char)value;
}

static void
put_bytes(struct message *m, uint32_t number, const void *bytes, size_t len)
{
	m->bytes[m->len++] = (char)(number << 3 | 2);
	size_t n = len;

	for (; n > 127; n >>= 7)
		m->bytes[m->len++] = (char)(n | 128);
	m->bytes[m->len++] = (char)n;
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static void
put_text(struct message *m, uint32_t number, const char *text)
{
	put_bytes(m, number, text, strlen(text));
}

static void
put_message(struct message *m, uint32_t number, const struct message *inner)
{
	put_bytes(m, number, inner->bytes, inner->len);
}

/* The whole body: the magic, then what it is, then itself. */
static json_t *
read_as(const char *version, const char *kind, const struct message *object)
{
	struct message body = { .bytes = "k8s", .len = 4 }, type = { .len = 0 };

	put_text(&type, 1, version);
	put_text(&type, 2, kind);
	put_message(&body, 1, &type);
	put_message(&body, 2, object);
	return sim_schema_read_protobuf(body.bytes, body.len);
}

static const char lease[] =
	"6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c6561736512f6010adf010a"
	"0362696712001a0764656661756c7422002a2436383831393537392d386130312d343738352d383635352d66"
	"3536333539626130333663320431353934380042080893b0efd70610008a0191010a06746573746572120655"
	"70646174651a16636f6f7264696e6174696f6e2e6b38732e696f2f763122080893b0efd70610003208466965"
	"6c647356313a510a4f7b22663a73706563223a7b22663a686f6c6465724964656e74697479223a7b7d2c2266"
	"3a6c656173654475726174696f6e5365636f6e6473223a7b7d2c22663a72656e657754696d65223a7b7d7d7d"
	"420012120a0161100f220b0880f2d6ca06108094ef3a1a002200";

static size_t
from_hex(char *bytes, const char *hex)
{
	size_t n = 0;

	for (; hex[0] != '\0'; hex += 2) {
		const char digits[] = { hex[0], hex[1], '\0' };

		bytes[n++] = (char)strtoul(digits, NULL, 16);
	}
	return n;
}

static void
a_lease_of_the_real_server(void **state)
{
	char bytes[512];
	const size_t len = from_hex(bytes, lease);

	(void)state;
	assert_json(sim_schema_read_protobuf(bytes, len),
	    "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'big',"
	    "'generateName':'','namespace':'default','selfLink':'',"
	    "'uid':'68819579-8a01-4785-8655-f56359ba036c','resourceVersion':'1594','generation':0,"
	    "'creationTimestamp':'2026-11-17T04:29:07Z','managedFields':[{'manager':'tester',"
	    "'operation':'Update','apiVersion':'coordination.k8s.io/v1','time':'2026-11-17T04:29:07Z',"
	    "'fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:holderIdentity':{},"
	    "'f:leaseDurationSeconds':{},'f:renewTime':{}}},'subresource':''}]},'spec':{"
	    "'holderIdentity':'a','leaseDurationSeconds':15,'renewTime':'2026-01-01T00:00:00.123456Z'}}");
}

/* A truncated object is broken, or a smaller object; none is read beyond its end (the sanitizer checks). */
static void
every_beginning_of_it(void **state)
{
	char bytes[512];
	const size_t len = from_hex(bytes, lease);

	(void)state;
	for (size_t n = 0; n < len; n++) {
		char *cut = obj_memdup(bytes, n + (n == 0));

		json_decref(sim_schema_read_protobuf(cut, n));
		free(cut);
	}
}

static void
what_json_has_not_is_inlined(void **state)
{
	struct message path = { .len = 0 }, source = { .len = 0 }, volume = { .len = 0 },
	    spec = { .len = 0 }, pod = { .len = 0 };

	(void)state;
	put_text(&path, 1, "/x");
	put_message(&source, 1, &path);
	put_text(&volume, 1, "v");
	put_message(&volume, 2, &source);
	put_message(&spec, 1, &volume);
	put_message(&pod, 2, &spec);
	assert_json(read_as("v1", "Pod", &pod),
	    "{'apiVersion':'v1','kind':'Pod','spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}");
}

static void
maps_quantities_and_bytes(void **state)
{
	struct message quantity = { .len = 0 }, entry = { .len = 0 }, status = { .len = 0 },
	    node = { .len = 0 };
	struct message data = { .len = 0 }, secret = { .len = 0 };

	(void)state;
	put_text(&quantity, 1, "4");
	put_text(&entry, 1, "cpu");
	put_message(&entry, 2, &quantity);
	put_message(&status, 1, &entry);
	put_message(&node, 3, &status);
	assert_json(read_as("v1", "Node", &node),
	    "{'apiVersion':'v1','kind':'Node','status':{'capacity':{'cpu':'4'}}}");
	put_text(&data, 1, "k");
	put_bytes(&data, 2, "\x00\xff", 2);
	put_message(&secret, 2, &data);
	assert_json(read_as("v1", "Secret", &secret),
	    "{'apiVersion':'v1','kind':'Secret','data':{'k':'AP8='}}");
}

static void
numbers_or_texts(void **state)
{
	static const char *const wanted[] = { "{'minAvailable':5}", "{'minAvailable':'50%'}" };

	(void)state;
	for (unsigned kind = 0; kind < NITEMS(wanted); kind++) {
		struct message value = { .len = 0 }, spec = { .len = 0 }, budget = { .len = 0 };

		put_varint(&value, 1, kind);
		put_varint(&value, 2, 5);
		put_text(&value, 3, kind == 1 ? "50%" : "");
		put_message(&spec, 1, &value);
		put_message(&budget, 2, &spec);
		json_t *object = read_as("policy/v1", "PodDisruptionBudget", &budget);

		assert_json(json_incref(json_object_get(object, "spec")), wanted[kind]);
		json_decref(object);
	}
}

static void
delete_options(void **state)
{
	struct message uid = { .len = 0 }, options = { .len = 0 };

	(void)state;
	put_text(&uid, 1, "u");
	put_varint(&options, 1, 0);
	put_message(&options, 2, &uid);
	put_text(&options, 4, "Background");
	assert_json(read_as("v1", "DeleteOptions", &options),
	    "{'apiVersion':'v1','kind':'DeleteOptions','gracePeriodSeconds':0,'preconditions':{"
	    "'uid':'u'},'propagationPolicy':'Background'}");
}

static void
what_is_not_known(void **state)
{
	struct message nothing = { .len = 0 }, odd = { .len = 0 }, meta = { .len = 0 };

	(void)state;
	assert_null(sim_schema_read_protobuf("{}", 2));
	assert_null(read_as("v1", "Foo", &nothing));
	assert_null(read_as("x.io/v1", "Node", &nothing));
	assert_null(read_as("apiextensions.k8s.io/v1", "CustomResourceDefinition", &nothing));
	put_varint(&odd, 15, 7);	/* a field of a later version */
	assert_json(read_as("v1", "Node", &odd), "{'apiVersion':'v1','kind':'Node'}");
	put_varint(&meta, 1, 7);	/* a number where a message is */
	assert_null(read_as("v1", "Node", &meta));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lease_of_the_real_server),
		cmocka_unit_test(every_beginning_of_it),
		cmocka_unit_test(what_json_has_not_is_inlined),
		cmocka_unit_test(maps_quantities_and_bytes),
		cmocka_unit_test(numbers_or_texts),
		cmocka_unit_test(delete_options),
		cmocka_unit_test(what_is_not_known),
	};

	return cmocka_run_group_tests_name("sim schema pb", tests, NULL, NULL);
}
