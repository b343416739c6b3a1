/*
 * tests/unit/vip_words.h - inputs of vip-claimer's plans in words.
 *
 * A word is "field=value" or a flag. What no word names is as it should be: Cluster team-a/c1 of class rke2,
 * which exists, without an endpoint; pool cp matches it and has free addresses; there is no claim. "claim" is
 * one of this Cluster in that pool, made now. Pools are separated by ';', the first word is the name.
 */
#ifndef MUSTER_TEST_VIP_WORDS_H
#define MUSTER_TEST_VIP_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/vip-claimer/vip.h"
#include "obj.h"

#define VIP_NOW_US	INT64_C(1800000000000000)
#define VIP_CP		"cp class=rke2 role=control-plane free=5"
#define VIP_EMPTY	"cp class=rke2 role=control-plane free=0"

struct vip_words {
	char			text[1024], pool_text[1024];
	struct vip_pool		pools[8];
	struct vip_input	in;
};

static inline bool
vip_word_is(const char *word, const char *field, const char **value)
{
	const size_t len = strlen(field);

	if (strncmp(word, field, len) != 0 || (word[len] != '=' && word[len] != '\0'))
		return false;
	*value = word[len] == '=' ? word + len + 1 : "yes";
	return true;
}

static inline void
vip_pool_word(struct vip_pool *p, const char *word)
{
	const char *v = NULL;
	const struct {
		const char	*name;
		struct wire_str	*text;
	} texts[] = {
		{ "class", &p->class_label }, { "classes", &p->class_list }, { "role", &p->role_label },
		{ "roles", &p->role_list }, { "priority", &p->priority }, { "ns", &p->namespace },
	};
	unsigned done = 0;

	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (vip_word_is(word, texts[i].name, &v) && ++done)
			*texts[i].text = wire_str_of(v);
	}
	if (vip_word_is(word, "free", &v) && ++done) {
		p->counted = true;
		p->free = strtoll(v, NULL, 10);
	}
	if (vip_word_is(word, "paused", &v) && ++done)
		p->paused = true;
	if (vip_word_is(word, "deleting", &v) && ++done)
		p->deleting = true;
	MUST(done == 1);
	p->namespaced = p->namespace.len > 0;
}

static inline void
vip_words_pools(struct vip_words *w, const char *pools)
{
	MUST((size_t)snprintf(w->pool_text, sizeof(w->pool_text), "%s", pools) < sizeof(w->pool_text));
	w->in.pools = w->pools;
	char *rest = w->pool_text;
	for (char *one; (one = strtok_r(rest, ";", &rest)) != NULL;) {
		struct vip_pool *const p = &w->pools[w->in.npools++];

		MUST(w->in.npools <= NITEMS(w->pools));
		for (char *word; (word = strtok_r(one, " ", &one)) != NULL;) {
			if (p->name.len == 0)
				p->name = wire_str_of(word);
			else
				vip_pool_word(p, word);
		}
	}
}

static inline void
vip_word(struct vip_input *in, const char *word)
{
	struct vip_cluster *const c = &in->cluster;
	struct vip_claim *const claim = &in->claim;
	const struct {
		const char	*name;
		struct wire_str	*text;
	} texts[] = {
		{ "class", &c->class_name }, { "class.ns", &c->class_namespace }, { "host", &c->host },
		{ "vars", &c->variables }, { "ingress.vip", &c->ingress_vip }, { "name", &c->name },
		{ "ingress.label", &c->ingress_vip_label }, { "forbidden", &in->forbidden },
		{ "claim.owner", &claim->owner_uid }, { "claim.label", &claim->cluster_label },
		{ "claim.pool", &claim->pool_name }, { "claim.kind", &claim->pool_kind },
		{ "claim.ref", &claim->address_name }, { "notready", &claim->not_ready },
		{ "address.claim", &in->address.claim_name },
	};
	const struct {
		const char	*name;
		bool		*flag;
	} flags[] = {
		{ "deleting", &c->deleting }, { "paused", &c->paused }, { "reserve", &c->pre_allocate },
		{ "ingress", &c->ingress }, { "declares", &in->class.declares_variable },
		{ "claim.deleting", &claim->deleting },
	};
	const char *v = NULL;
	unsigned done = 0;

	for (size_t i = 0; i < NITEMS(texts); i++) {
		if (vip_word_is(word, texts[i].name, &v) && ++done)
			*texts[i].text = wire_str_of(v);
	}
	for (size_t i = 0; i < NITEMS(flags); i++) {
		if (vip_word_is(word, flags[i].name, &v) && ++done)
			*flags[i].flag = true;
	}
	if (vip_word_is(word, "unsynced", &v) && ++done)
		in->synced = false;
	if (vip_word_is(word, "absent", &v) && ++done)
		c->present = false;
	if (vip_word_is(word, "noclass", &v) && ++done)
		in->class.present = false;
	if (vip_word_is(word, "role", &v) && ++done)
		in->role = VIP_INGRESS;
	if (vip_word_is(word, "port", &v) && ++done)
		c->port = strtoll(v, NULL, 10);
	if (vip_word_is(word, "age", &v) && ++done)
		c->created_us = VIP_NOW_US - strtoll(v, NULL, 10) * 1000;
	if (vip_word_is(word, "claim", &v) && ++done) {
		*claim = (struct vip_claim){ .present = true, .namespace = wire_str_of("team-a"),
			.name = wire_str_of(in->role == VIP_INGRESS ? "vip-ingress-c1" : "vip-cp-c1"),
			.resource_version = wire_str_of("77"), .created_us = VIP_NOW_US, .owners = 1,
			.owner_uid = wire_str_of("u1"), .cluster_label = wire_str_of("c1"),
			.pool_kind = wire_str_of("GlobalInClusterIPPool"), .pool_name = wire_str_of("cp") };
	}
	if (vip_word_is(word, "claim.ms", &v) && ++done)
		claim->created_us = VIP_NOW_US - strtoll(v, NULL, 10) * 1000;
	if (vip_word_is(word, "claim.owners", &v) && ++done) {
		claim->owners = (uint32_t)strtoul(v, NULL, 10);
		claim->owner_uid = wire_str_of("");
	}
	if (vip_word_is(word, "address", &v) && ++done) {
		claim->address_name = claim->name;
		in->address = (struct vip_address){
			.present = true, .address = wire_str_of(v), .claim_name = claim->name
		};
	}
	if (done != 1)
		fprintf(stderr, "unknown word %s\n", word);
	MUST(done == 1);
}

static inline void
vip_words_read(struct vip_words *w, const char *words, const char *pools)
{
	*w = (struct vip_words){ .in = {
		.synced = true, .now_us = VIP_NOW_US, .budget_ms = 55 * 1000, .default_port = 6443,
		.cluster = { .present = true, .namespace = wire_str_of("team-a"), .name = wire_str_of("c1"),
			.uid = wire_str_of("u1"), .resource_version = wire_str_of("5"),
		    .created_us = VIP_NOW_US,
			.class_name = wire_str_of("rke2") },
		.class = { .present = true },
	} };
	MUST((size_t)snprintf(w->text, sizeof(w->text), "%s", words) < sizeof(w->text));
	vip_words_pools(w, pools == NULL ? VIP_CP : pools);
	char *rest = w->text;
	for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
		vip_word(&w->in, word);
}

#endif
