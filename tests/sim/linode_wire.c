/*
 * tests/sim/linode_wire.c - the requests and answers of lke-claimer as a program (sim/test_linode_wire.py,
 * real/test_linodego.py).
 *
 *	muster-test-linode requests TIER CLUSTER POOL INSTANCE NODE
 *		a line for each call: {"call", "method", "path", "filter", "body"}
 *	muster-test-linode read TIER CLUSTER (KIND FILE)...
 *		what those answers contain; exit 1 and the field on stderr when one is refused. KIND is
 *		clusters, cluster, pools, instances, pool, instance, types, availability, or an error as
 *		CALL:STATUS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/lke-claimer/answers.h"
#include "actors/lke-claimer/pool_key.h"
#include "actors/lke-claimer/status.h"
#include "json.h"
#include "obj.h"

enum { FILE_MAX = 1 << 20, OUT_MAX = 1 << 20, MEMBERS_MAX = 512 };

#define REGION	"us-ord"

/* What has been read of all files. */
struct answers {
	const char		*tier;		/* also the label of the cluster */
	struct lke_snapshot	*snapshot;
	struct lke_walk		 cluster_walk;
	unsigned		 found;		/* clusters of that label */
	struct lke_cluster	 cluster;
	struct lke_types	 types;
	struct lke_error	 error;
	const char		*fault;		/* NULL: none of the files is an error */
};

static struct lke_tag_list
tags_of(bool claim)
{
	struct lke_tag_list l = { .n = 0 };

	lke_tag_list_add(&l, LKE_TAGS_COLON, LKE_TAG_NODEPOOL, wire_str_of("np"));
	lke_tag_list_add(&l, LKE_TAGS_COLON, LKE_TAG_MANAGED, wire_str_of(LKE_TAG_TRUE));
	if (claim)
		lke_tag_list_add(&l, LKE_TAGS_COLON, LKE_TAG_CLAIM, wire_str_of("a"));
	return l;
}

static void
print_request(enum lke_call c, enum lke_tier tier, const struct lke_target *t)
{
	const struct lke_tag_list tags = tags_of(c == LKE_CALL_TAG_INSTANCE);
	char out[2 * LKE_BODY_SIZE], path[LKE_PATH_SIZE] = "", filter[LKE_FILTER_SIZE] = "";
	char body[LKE_BODY_SIZE] = "";
	struct json j = { .buf = out, .size = sizeof(out) };

	MUST(lke_path(path, c, t) > 0);
	if (c == LKE_CALL_FIND_CLUSTER)
		lke_filter_cluster(filter, tier == LKE_ENTERPRISE ? "enterprise" : "standard");
	else if (c == LKE_CALL_LIST_INSTANCES)
		lke_filter_instances(filter, tier, t->region, t->cluster_id);
	else if (c == LKE_CALL_CREATE_POOL)
		lke_body_create(body, sizeof(body), &(struct lke_new_pool){ .tier = tier,
		    .type = "g6-standard-2", .count = 3, .tags = &tags, .k8s_version = "" });
	else if (c == LKE_CALL_SCALE_POOL)
		lke_body_scale(body, sizeof(body), 4);
	else if (c == LKE_CALL_TAG_INSTANCE)
		lke_body_tags(body, sizeof(body), &tags);
	json_open(&j, NULL, '{');
	json_str(&j, "call", lke_calls[c].name);
	json_str(&j, "method", lke_calls[c].method);
	json_str(&j, "path", path);
	json_str(&j, "filter", filter);
	json_str(&j, "body", body);
	json_close(&j, '}');
	MUST(json_end(&j) > 0);
	puts(out);
}

/* The answer to that call was an error. */
static void
read_error(struct answers *a, struct lke_body *b, const char *kind, const char *status)
{
	unsigned c = 0;

	while (c < LKE_CALL_MAX && (strncmp(lke_calls[c].name, kind, (size_t)(status - kind)) != 0
	    || lke_calls[c].name[status - kind] != '\0'))
		c++;
	MUST(c < LKE_CALL_MAX);
	lke_answer_error(b, &a->error);
	a->fault = lke_fault_label(lke_fault((enum lke_call)c, (int)strtol(status + 1, NULL, 10), &a->error));
}

static bool
read_body(struct answers *a, struct lke_body *b, const char *kind)
{
	int64_t id;

	if (strchr(kind, ':') != NULL) {
		read_error(a, b, kind, strchr(kind, ':'));
		return true;
	}
	if (strcmp(kind, "clusters") == 0)
		return lke_answer_clusters(b, a->tier, &a->cluster_walk, &a->found, &a->cluster);
	if (strcmp(kind, "cluster") == 0) {
		a->found = 1;
		return lke_answer_cluster(b, &a->cluster);
	}
	if (strcmp(kind, "types") == 0)
		return lke_answer_types(b, REGION, &a->types);
	if (strcmp(kind, "availability") == 0)
		return lke_answer_availability(b, REGION, &a->types);
	if (strcmp(kind, "pools") == 0)
		return lke_answer_pools(b, a->snapshot);
	if (strcmp(kind, "instances") == 0)
		return lke_answer_instances(b, a->snapshot);
	if (strcmp(kind, "pool") == 0)
		return lke_answer_pool(b, a->snapshot, &id);
	MUST(strcmp(kind, "instance") == 0);
	return lke_answer_instance(b, a->snapshot, &id);
}

static bool
read_file(struct answers *a, const char *kind, const char *name)
{
	static char bytes[FILE_MAX];
	struct lke_body b = { .p = bytes };
	FILE *const f = fopen(name, "r");

	MUST(f != NULL);
	b.len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	const bool good = read_body(a, &b, kind);
	if (!good)
		fprintf(stderr, "%s\n", b.err);
	return good;
}

static void
put_tags(struct json *j, const struct lke_tag_set *t)
{
	json_open(j, "tags", '[');
	for (uint32_t i = 0; i < t->n; i++)
		json_strn(j, NULL, t->tags[i].p, t->tags[i].len);
	json_close(j, ']');
}

static void
put_pool(struct json *j, const struct lke_snapshot *s, const struct lke_pool *p)
{
	static struct lke_member members[MEMBERS_MAX];
	const uint32_t n = lke_pool_members(s, p, members, MEMBERS_MAX);

	json_open(j, NULL, '{');
	json_int(j, "id", p->id);
	json_int(j, "count", p->count);
	json_str(j, "type", p->type);
	put_tags(j, &p->tags);
	json_open(j, "nodes", '[');
	for (uint32_t i = 0; i < p->nnodes; i++) {
		json_open(j, NULL, '{');
		json_str(j, "id", p->nodes[i].id);
		json_int(j, "instance_id", p->nodes[i].instance_id);
		json_bool(j, "ready", p->nodes[i].ready);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "members", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_int(j, "id", members[i].instance->id);
		json_str(j, "node", members[i].node_id);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void
put_instance(struct json *j, const struct lke_instance *i)
{
	json_open(j, NULL, '{');
	json_int(j, "id", i->id);
	json_int(j, "created_us", i->created_us);
	json_str(j, "label", i->label);
	json_str(j, "type", i->type);
	json_bool(j, "leaving", i->leaving);
	put_tags(j, &i->tags);
	json_close(j, '}');
}

static void
put_cluster(struct json *j, const struct lke_cluster *c)
{
	json_open(j, "cluster", '{');
	json_int(j, "id", c->id);
	json_str(j, "label", c->label);
	json_str(j, "region", c->region);
	json_str(j, "k8s_version", c->k8s_version);
	json_str(j, "tier", c->tier == LKE_ENTERPRISE ? "enterprise" : "standard");
	json_bool(j, "ready", c->ready);
	json_close(j, '}');
}

/* With what a machine of the type offers: labels, capacity and allocatable. */
static void
put_type(struct json *j, const struct lke_type *t)
{
	const struct lke_resources capacity = lke_capacity(t, &lke_sizing_default);
	const struct lke_resources allocatable = lke_allocatable(t, &lke_sizing_default);
	char value[LKE_LABEL_SIZE];

	json_open(j, NULL, '{');
	json_str(j, "id", t->id);
	json_str(j, "class", t->class);
	json_int(j, "vcpus", t->vcpus);
	json_int(j, "memory", t->memory_mib);
	json_int(j, "disk", t->disk_mib);
	json_int(j, "gpus", t->gpus);
	json_int(j, "accelerated_devices", t->accelerated);
	json_int(j, "transfer", t->transfer_gb);
	json_int(j, "network_out", t->network_mbit);
	json_int(j, "price", t->price);
	json_bool(j, "available", t->available);
	json_open(j, "labels", '{');
	for (unsigned l = 0; l < LKE_LABEL_MAX; l++) {
		if (lke_label_value(value, t, REGION, (enum lke_label)l) > 0)
			json_str(j, lke_label_key((enum lke_label)l), value);
	}
	json_close(j, '}');
	lke_resources_put(j, "capacity", &capacity, NULL);
	lke_resources_put(j, "allocatable", &allocatable, NULL);
	json_close(j, '}');
}

static void
print_answers(const struct answers *a)
{
	static char out[OUT_MAX];
	struct json j = { .buf = out, .size = sizeof(out) };
	const struct lke_snapshot *const s = a->snapshot;

	json_open(&j, NULL, '{');
	if (a->found > 0)
		put_cluster(&j, &a->cluster);
	json_open(&j, "pools", '[');
	for (size_t i = 0; i < s->npools; i++)
		put_pool(&j, s, &s->pools[i]);
	json_close(&j, ']');
	json_open(&j, "instances", '[');
	for (size_t i = 0; i < s->ninstances; i++)
		put_instance(&j, &s->instances[i]);
	json_close(&j, ']');
	json_open(&j, "types", '[');
	for (size_t i = 0; i < a->types.n; i++)
		put_type(&j, &a->types.types[i]);
	json_close(&j, ']');
	if (a->fault != NULL) {
		json_str(&j, "fault", a->fault);
		json_str(&j, "field", a->error.field);
		json_str(&j, "reason", a->error.reason);
	}
	json_close(&j, '}');
	MUST(json_end(&j) > 0);
	puts(out);
}

int
main(int argc, char **argv)
{
	MUST(argc >= 4);
	const enum lke_tier tier = strcmp(argv[2], "enterprise") == 0 ? LKE_ENTERPRISE : LKE_STANDARD;
	const int64_t cluster = strtoll(argv[3], NULL, 10);
	bool good = true;

	if (strcmp(argv[1], "requests") == 0) {
		MUST(argc == 7);
		for (unsigned c = 0; c < LKE_CALL_MAX; c++)
			print_request((enum lke_call)c, tier, &(struct lke_target){ .cluster_id = cluster,
			    .pool_id = strtoll(argv[4], NULL, 10), .instance_id = strtoll(argv[5], NULL, 10),
			    .node_id = argv[6], .region = REGION, .page = 1 });
		return 0;
	}
	struct answers a = { .tier = argv[2], .snapshot = snapshot_new(tier, cluster),
		.cluster_walk = { .next = 1 }, .types = { .walk = { .next = 1 } } };
	for (int i = 4; i + 1 < argc && good; i += 2)
		good = read_file(&a, argv[i], argv[i + 1]);
	if (good)
		print_answers(&a);
	lke_types_free(&a.types);
	snapshot_free(&a.snapshot);
	return good ? 0 : 1;
}
