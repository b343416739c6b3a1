/*
 * tests/unit/test_project_tree.c - paths that no kind of ours uses yet: quantities, integers in
 * columns, columns deeper in a record, one place read by two fields. Both walkers go along them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/project_private.h"
#include "tests/unit/kubebytes.h"

/* In the order of their slots. */
static const struct {
	const char *type, *json, *proto;
} fields[] = {
	{ "map",  "status.capacity",                         "3.1q" },
	{ "rows", "status.images[names,sizeBytes]",          "3.8[1,2i]" },
	{ "str",  "metadata.creationTimestamp",              "1.8t" },
	{ "i64",  "metadata.generation",                     "1.7" },
	{ "rows", "spec.taints[key,nothing.deeper,timeAdded]", "2.5[1,9.1,4t]" },
	{ "str",  "v1=metadata.name|v2=metadata.uid",        "v1=1.1|v2=1.5" },
	{ "str",  "metadata.uid",                            "1.5" },
};

static const char object[] =
    "{'metadata':{'name':'n','uid':'u','generation':-7,'creationTimestamp':'0999-01-02T03:04:05Z'},"
    "'spec':{'taints':[{'key':'a','timeAdded':'9999-12-31T23:59:59Z'},{'key':'b','nothing':{'deeper':'x'}}]},"
    "'status':{'capacity':{'memory':'16Gi','cpu':'3920m'},'images':[{'sizeBytes':0},{'sizeBytes':-5}]}}";

/* Prints what is in the slots. */
static void
print_slots(const struct extract *t, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < t->tree->nslots; i++) {
		const struct extract_slot *s = &t->slots[i];
		uint8_t columns = 0;

		for (size_t k = 0; k < t->tree->nnodes; k++) {
			const struct field_node *step = &t->tree->nodes[k];

			if (step->slot == i)
				columns = step->what == NODE_MAP_QUANTITY ? 2 : step->columns;
		}
		n += (size_t)snprintf(buf + n, size - n, "%zu=%.*s", i, (int)s->text.len,
		    s->text.len > 0 ? s->text.p : "");
		for (uint32_t e = s->head; e != 0; e = t->entries[e - 1].next) {
			for (uint8_t c = 0; c < columns; c++) {
				const struct text_span v = t->texts[t->entries[e - 1].at + c];

				n += (size_t)snprintf(buf + n, size - n, "%c%.*s",
				    c == 0 ? '(' : ',', (int)v.len, v.len > 0 ? v.p : "");
			}
			n += (size_t)snprintf(buf + n, size - n, ")");
		}
		n += (size_t)snprintf(buf + n, size - n, "\n");
	}
}

static void
both_walkers(void **state)
{
	static const char wanted[] =
	    "0=(memory,16Gi)(cpu,3920m)\n1=(,)(,-5)\n2=0999-01-02T03:04:05Z\n3=-7\n"
	    "4=(a,,9999-12-31T23:59:59Z)(b,x,)\n5=n\n6=u\n";
	struct field_tree tree;
	struct extract extract;
	char text[1024];

	(void)state;
	field_tree_init(&tree);
	for (size_t i = 0; i < NITEMS(fields); i++)
		assert_int_equal(field_tree_add(&tree, fields[i].type, fields[i].json,
		    fields[i].proto, "v1"), i);
	extract_init(&extract, &tree);

	const char *json = json_text(object);
	extract_begin(&extract);
	assert_true(walk_json(&extract, json, strlen(json), 0));
	print_slots(&extract, text, sizeof(text));
	assert_string_equal(text, wanted);
	assert_int_equal(extract.slots[3].number, -7);

	/* nothing.deeper is not Kubernetes: added by hand to the second taint */
	struct bytes b = kube_object("Node", object), spec = { 0 }, taint = { 0 }, deeper = { 0 };
	bytes_free(&b);
	json_t *all = json_loads(json, 0, NULL);
	json_t *taints = json_object_get(json_object_get(all, "spec"), "taints");
	kube_encode(&taint, "Taint", json_array_get(taints, 0));
	bytes_message(&spec, 5, &taint);
	kube_encode(&taint, "Taint", json_array_get(taints, 1));
	bytes_text(&deeper, 1, "x");
	bytes_message(&taint, 9, &deeper);
	bytes_message(&spec, 5, &taint);
	json_object_del(all, "spec");
	kube_encode(&b, "Node", all);
	bytes_message(&b, 2, &spec);
	json_decref(all);

	extract_begin(&extract);
	assert_true(walk_pb(&extract, b.p, b.len));
	print_slots(&extract, text, sizeof(text));
	assert_string_equal(text, wanted);
	assert_int_equal(extract.slots[3].number, -7);
	bytes_free(&b);
	extract_end(&extract);
}

/* A kind without protobuf has its letters in the JSON path. */
static void
letters_in_the_json_path(void **state)
{
	static const char widget[] =
	    "{'spec':{'limits':{'cpu':1000,'memory':'1Gi','big':1e3},'max':5,'ready':true,'on':false},"
	    "'status':{'list':[{'n':3,'q':2.50 },{'n':0,'q':'25%'}]}}";
	struct field_tree tree;
	struct extract extract;
	char text[512];

	(void)state;
	field_tree_init(&tree);
	field_tree_add(&tree, "map", "spec.limits:q", "", "v1");
	field_tree_add(&tree, "str", "spec.max:q", "", "v1");
	field_tree_add(&tree, "str", "spec.ready:b", "", "v1");
	field_tree_add(&tree, "str", "spec.on:b", "", "v1");
	field_tree_add(&tree, "rows", "status.list[n:i,q:q]", "", "v1");
	extract_init(&extract, &tree);
	extract_begin(&extract);
	assert_true(walk_json(&extract, json_text(widget), strlen(widget), 0));
	print_slots(&extract, text, sizeof(text));
	assert_string_equal(text, "0=(cpu,1000)(memory,1Gi)(big,1e3)\n1=5\n2=true\n3=\n4=(3,2.50)(,25%)\n");
	assert_false(walk_json(&extract, json_text("{'spec':{'max':[]}}"), 19, 0));
	assert_string_equal(extract.error, "spec.max: neither a string nor a number");
	extract_end(&extract);
}

/* Fields of one place share its slot; a field that is not in this version has none. */
static void
slots(void **state)
{
	struct field_tree tree;

	(void)state;
	field_tree_init(&tree);
	assert_int_equal(field_tree_add(&tree, "str", "metadata.uid", "1.5", "v1"), 0);
	assert_int_equal(field_tree_add(&tree, "str", "v1=metadata.uid|v2=spec.uid",
	    "v1=1.5|v2=2.5", "v1"), 0);
	assert_int_equal(field_tree_add(&tree, "str", "v2=spec.new", "", "v1"), SLOT_NONE);
	assert_int_equal(field_tree_add(&tree, "str", "spec!", "", "v1"), 1);
	assert_int_equal(field_tree_add(&tree, "str", "spec.a", "", "v1"), 2);
	assert_int_equal(field_tree_add(&tree, "str", "status.b", "", "v1"), 3);
	assert_int_equal(field_tree_add(&tree, "str", "status!", "", "v1"), 4);
	assert_int_equal(field_tree_add(&tree, "str", "status!", "", "v1"), 4);
	assert_int_equal(tree.nslots, 5);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_walkers),
		cmocka_unit_test(letters_in_the_json_path),
		cmocka_unit_test(slots),
	};

	return cmocka_run_group_tests_name("ways", tests, NULL, NULL);
}
