/*
 * actors/kube-watcher/publisher.c - one link per reader; kinds, objects and leadership as keyed state
 * on each.
 */
#include "publisher.h"

#include <stdio.h>
#include <string.h>

#include "groups.h"
#include "links.h"
#include "log.h"
#include "obj.h"

struct publisher {
	uint32_t	 magic;
#define PUBLISHER_MAGIC	0x4f55544cu
	struct actor	*actor;
	uint64_t	 enabled;
	enum link	 links[ROLE_MAX];
	enum kind_state	 states[KIND_MAX];
	bool		 synced_once[KIND_MAX];	/* and not absent since */
	bool		 ready[ROLE_MAX];
	bool		 leader_known;
};

static void publish(struct publisher *, uint64_t, const char *, enum msg, const union msg_body *);
static void open_ready_links(struct publisher *);
static bool is_synced(const struct publisher *, enum role);

struct publisher *
publisher_new(struct actor *a)
{
	struct publisher *o;

	OBJ_NEW(o, PUBLISHER_MAGIC);
	o->actor = a;
	for (unsigned r = 0; r < ROLE_MAX; r++)
		o->links[r] = LINK_MAX;
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (link_table[l].binder != ROLE_KUBE_WATCHER)
			continue;
		bool read = false;
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			if (!link_connects((enum link)l, (enum role)r) || !actor_has_peer(a, (enum role)r))
				continue;
			o->links[r] = (enum link)l;
			o->enabled |= UINT64_C(1) << r;
			read = true;
		}
		if (!read)
			actor_link_ready(a, (enum link)l);	/* there is nothing to publish on it */
	}
	return o;
}

void
publisher_free(struct publisher **op)
{
	struct publisher *o;

	if (*op == NULL)
		return;
	OBJ_TAKE(o, op, PUBLISHER_MAGIC);
	OBJ_FREE(o);
}

uint64_t
publisher_enabled(const struct publisher *o)
{
	return o->enabled;
}

uint64_t
publisher_readers(const struct publisher *o, enum kind k)
{
	return kind_table[k].readers & o->enabled;
}

void
publisher_object(struct publisher *o, enum kind k, const char *key, const struct projected *p, bool own,
    uint64_t trace)
{
	for (size_t i = 0; i < p->nvalues; i++) {
		const struct projected_value *const v = &p->values[i];
		const enum err e = actor_publish_packed(o->actor, o->links[v->role], key, p->uid, p->rv,
		    (enum msg)kind_table[k].message, v->bytes, v->len, trace, own);

		if (e != E_OK)
			log_warnx("object not published; its consumers keep the last value",
			    KV_S(OBJECT, key), KV_S(PEER, role_name(v->role)), KV_S(WHY, err_text(e)));
	}
}

void
publisher_gone(struct publisher *o, enum kind k, const char *key, uint64_t trace)
{
	const uint64_t readers = publisher_readers(o, k);

	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((readers >> r & 1) != 0)
			actor_retract(o->actor, o->links[r], key, trace);
	}
}

void
publisher_kind(struct publisher *o, enum kind k, enum kind_state s, const char *version, const char *detail,
    uint32_t skipped)
{
	const struct kind_row *const row = &kind_table[k];
	const union msg_body body = { .kind = {
		.group = wire_str_of(group_served(row->group)), .resource = wire_str_of(row->resource),
		.version = wire_str_of(version), .state = s, .detail = wire_str_of(detail),
		.skipped = skipped,
	} };
	char key[PUBLISHER_KEY_MAX];

	o->states[k] = s;
	if (s == KIND_STATE_SYNCED || s == KIND_STATE_ABSENT)
		o->synced_once[k] = s == KIND_STATE_SYNCED;
	snprintf(key, sizeof(key), ":kind/%s", row->resource);
	publish(o, publisher_readers(o, k), key, MSG_KIND, &body);
}

void
publisher_leader(struct publisher *o, const struct body_leader *l)
{
	const union msg_body body = { .leader = *l };

	o->leader_known = true;
	publish(o, o->enabled, ":leader", MSG_LEADER, &body);
}

void
publisher_count(const struct publisher *o, unsigned *kinds, unsigned *synced)
{
	*kinds = *synced = 0;
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (publisher_readers(o, (enum kind)k) == 0)
			continue;
		++*kinds;
		*synced += o->states[k] == KIND_STATE_SYNCED;
	}
}

/* What is not an object; it may be what a link waited for. */
static void
publish(struct publisher *o, uint64_t readers, const char *key, enum msg type, const union msg_body *body)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((readers >> r & 1) != 0)
			MUST(actor_publish(o->actor, o->links[r], key, "", "", type, body, 0) == E_OK);
	}
	open_ready_links(o);
}

static void
open_ready_links(struct publisher *o)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((o->enabled >> r & 1) == 0 || o->ready[r] || !is_synced(o, (enum role)r))
			continue;
		o->ready[r] = true;
		actor_link_ready(o->actor, o->links[r]);
	}
}

static bool
is_synced(const struct publisher *o, enum role r)
{
	for (unsigned k = 0; k < KIND_MAX; k++) {
		const bool reads = (kind_table[k].readers >> r & 1) != 0;

		if (reads && !o->synced_once[k] && o->states[k] != KIND_STATE_ABSENT)
			return false;
	}
	return o->leader_known;
}
