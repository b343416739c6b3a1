/* tests/unit/test_lke_tags.c - tags of LKE pools and instances: C1, C2, C3, C4, C15, C19. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/tags.h"
#include "obj.h"

#define LONG_NAME "default-workers-with-a-rather-long-name-abcde"

/* The digits are of an FNV-1a-32 that was computed elsewhere. */
static const struct row {
	const char		*name;
	enum lke_tag_style	 style;
	enum lke_tag		 key;
	const char		*value, *want;
} rows[] = {
	{ "C1 C4 a claim", LKE_TAGS_COLON, LKE_TAG_CLAIM, "default-abcde", "karpenter.sh/nodeclaim:default-abcde" },
	{ "C4 C19 tag-style equals", LKE_TAGS_EQUALS, LKE_TAG_CLAIM, "default-abcde", "karpenter.sh/nodeclaim=default-abcde" },
	{ "C2 the managed tag", LKE_TAGS_COLON, LKE_TAG_MANAGED, "true", "karpenter.k8s.linode/lke-managed:true" },
	{ "C4 27 characters fit", LKE_TAGS_COLON, LKE_TAG_CLAIM, "abcdefghijklmnopqrstuvwxyz0",
	    "karpenter.sh/nodeclaim:abcdefghijklmnopqrstuvwxyz0" },
	{ "C4 28 do not", LKE_TAGS_COLON, LKE_TAG_CLAIM, "abcdefghijklmnopqrstuvwxyz01",
	    "karpenter.sh/nodeclaim:abcdefghijklmnopqr-7191bf05" },
	{ "C19 first 18 characters and 8 digits", LKE_TAGS_EQUALS, LKE_TAG_CLAIM, LONG_NAME,
	    "karpenter.sh/nodeclaim=default-workers-wi-f05d0b2f" },
	{ "C4 a NodePool's name has 28 characters", LKE_TAGS_COLON, LKE_TAG_NODEPOOL,
	    "abcdefghijklmnopqrstuvwxyz01", "karpenter.sh/nodepool:abcdefghijklmnopqrstuvwxyz01" },
	{ "C4 a NodePool's long name", LKE_TAGS_COLON, LKE_TAG_NODEPOOL, LONG_NAME, "karpenter.sh/nodepool:default-workers-wit-f05d0b2f" },
	{ "C4 a class's long name", LKE_TAGS_COLON, LKE_TAG_NODECLASS, LONG_NAME, "karpenter.k8s.linode/linodenodeclass:defa-f05d0b2f" },
	{ "C4 a cluster's long name", LKE_TAGS_EQUALS, LKE_TAG_CLUSTER, LONG_NAME, "lke-cluster-name=default-workers-with-a-r-f05d0b2f" },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	char buf[LKE_TAG_SIZE];
	struct wire_str value;
	enum lke_tag key;

	assert_int_equal(lke_tag_put(buf, r->style, r->key, wire_str_of(r->value)), strlen(r->want));
	assert_string_equal(buf, r->want);
	assert_true(strlen(buf) <= LKE_TAG_MAX);
	/* What is written is recognised, in either style. */
	assert_true(lke_tag_read(wire_str_of(buf), &key, &value));
	assert_int_equal(key, r->key);
	assert_true(lke_tag_means(key, value, wire_str_of(r->value)));
	assert_false(lke_tag_means(key, value, wire_str_of("other")));
}

/* Names that differ behind the cut are different tags. */
static void
c4_a_cut_tag_has_a_hash(void **state)
{
	char name[254], a[LKE_TAG_SIZE], b[LKE_TAG_SIZE];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[253] = '\0';
	lke_tag_put(a, LKE_TAGS_COLON, LKE_TAG_CLAIM, wire_str_of(name));
	name[252] = 'm';
	lke_tag_put(b, LKE_TAGS_COLON, LKE_TAG_CLAIM, wire_str_of(name));
	assert_int_equal(strlen(a), LKE_TAG_MAX);
	assert_string_not_equal(a, b);
	assert_memory_equal(a, b, LKE_TAG_MAX - 8);
}

static void
tags_of_others_are_not_ours(void **state)
{
	static const char *const others[] = {
		"", "karpenter.sh/nodeclaim", "karpenter.sh/nodeclaim:", "karpenter.sh/nodeclaims:a",
		"xkarpenter.sh/nodeclaim:a", "nodepool=7", "lke7", "team-a", "karpenter.sh/nodeclaim a",
	};
	struct wire_str value;
	enum lke_tag key;

	(void)state;
	for (size_t i = 0; i < NITEMS(others); i++)
		assert_false(lke_tag_read(wire_str_of(others[i]), &key, &value));
}

static void
c3_tags_of_enterprise(void **state)
{
	static const struct {
		const char	*tag;
		int64_t		 pool, cluster;		/* 0: none */
	} tags[] = {
		{ "nodepool=90001", 90001, 0 }, { "lke70001", 0, 70001 }, { "nodepool=", 0, 0 },
		{ "nodepool=07", 0, 0 }, { "nodepool=7x", 0, 0 }, { "nodepool:7", 0, 0 }, { "lke", 0, 0 },
		{ "lke-7", 0, 0 }, { "xlke7", 0, 0 }, { "lke12345678901234567890", 0, 0 },
		{ "nodepool=999999999999999999", 999999999999999999, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(tags); i++) {
		int64_t pool = 0, cluster = 0;

		assert_int_equal(lke_tag_pool_id(wire_str_of(tags[i].tag), &pool), tags[i].pool != 0);
		assert_int_equal(lke_tag_cluster_id(wire_str_of(tags[i].tag), &cluster),
		    tags[i].cluster != 0);
		assert_true(pool == tags[i].pool && cluster == tags[i].cluster);
	}
}

/* ---- Lists of tags, in words ---- */

static uint32_t
split(char *text, struct wire_str *out)
{
	uint32_t n = 0;

	for (char *save, *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		out[n++] = wire_str_of(w);
	return n;
}

static void
c7_claims_of_an_instance(void **state)
{
	static const struct {
		const char	*tags;
		unsigned	 want;
		const char	*value;
	} lists[] = {
		{ "", 0, NULL },
		{ "team-a nodepool=7", 0, NULL },
		{ "team-a karpenter.sh/nodeclaim:a", 1, "a" },
		{ "karpenter.sh/nodeclaim=a", 1, "a" },
		{ "karpenter.sh/nodeclaim=a karpenter.sh/nodeclaim:a", 1, "a" },
		{ "karpenter.sh/nodeclaim:a karpenter.sh/nodeclaim:b", 2, "a" },
		{ "karpenter.sh/nodeclaim:a karpenter.sh/nodeclaim=b", 2, "a" },
		{ "karpenter.sh/nodeclaim:a karpenter.sh/nodeclaim:b karpenter.sh/nodeclaim:c", 2, "a" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(lists); i++) {
		char text[256];
		struct wire_str tags[8], value;

		snprintf(text, sizeof(text), "%s", lists[i].tags);
		assert_int_equal(lke_tags_claim(tags, split(text, tags), &value), lists[i].want);
		if (lists[i].value != NULL)
			assert_true(wire_str_is(value, lists[i].value));
	}
}

static void
c15_tags_of_others_are_kept(void **state)
{
	static const struct {
		const char	*there, *want;
	} lists[] = {
		{ "", "" },
		{ "team-a backup", "team-a backup" },
		{ "team-a lke7 nodepool=9", "team-a lke7 nodepool=9" },
		{ "karpenter.sh/nodepool:old team-a", "team-a" },
		{ "karpenter.sh/nodeclaim=gone karpenter.sh/nodeclaim:gone", "" },
		{ "lke-cluster-name=demo x=y", "lke-cluster-name=demo x=y" },
		{ "team-a team-a", "team-a" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(lists); i++) {
		struct lke_tag_list l = { .n = 0 };
		char there[256], got[1024] = "";
		struct wire_str tags[8];

		snprintf(there, sizeof(there), "%s", lists[i].there);
		assert_true(lke_tag_list_add(&l, LKE_TAGS_COLON, LKE_TAG_NODEPOOL, wire_str_of("np")));
		assert_true(lke_tag_list_add(&l, LKE_TAGS_COLON, LKE_TAG_CLAIM, wire_str_of("a")));
		assert_true(lke_tag_list_merge(&l, tags, split(there, tags)));
		assert_string_equal(l.text[0], "karpenter.sh/nodepool:np");
		assert_string_equal(l.text[1], "karpenter.sh/nodeclaim:a");
		for (uint32_t t = 2; t < l.n; t++) {
			strcat(got, t > 2 ? " " : "");
			strcat(got, l.text[t]);
		}
		assert_string_equal(got, lists[i].want);
	}
}

/* A list that would lose a tag is not sent. */
static void
c15_a_full_list_is_refused(void **state)
{
	struct lke_tag_list l = { .n = 0 };
	char tag[16], wide[] = "012345678901234567890123456789012345678901234567890";

	(void)state;
	assert_false(lke_tag_list_keep(&l, wire_str_of(wide)));
	for (unsigned i = 0; i < LKE_TAGS_MAX; i++) {
		snprintf(tag, sizeof(tag), "tag-%u", i);
		assert_true(lke_tag_list_keep(&l, wire_str_of(tag)));
	}
	assert_true(lke_tag_list_keep(&l, wire_str_of("tag-3")));
	assert_false(lke_tag_list_keep(&l, wire_str_of("one-more")));
	assert_false(lke_tag_list_add(&l, LKE_TAGS_COLON, LKE_TAG_CLAIM, wire_str_of("a")));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];
	const struct CMUnitTest more[] = {
		cmocka_unit_test(c4_a_cut_tag_has_a_hash), cmocka_unit_test(tags_of_others_are_not_ours),
		cmocka_unit_test(c3_tags_of_enterprise), cmocka_unit_test(c7_claims_of_an_instance),
		cmocka_unit_test(c15_tags_of_others_are_kept), cmocka_unit_test(c15_a_full_list_is_refused),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("lke_tag_put", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("lke_tags", more, NULL, NULL);
}
