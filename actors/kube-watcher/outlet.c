/*
 * actors/kube-watcher/outlet.c - one link per reader; kinds, objects and leadership as keyed state
 * on each.
 */
#include "outlet.h"

#include <stdio.h>
#include <string.h>

#include "groups.h"
#include "links.h"
#include "log.h"
#include "obj.h"

struct outlet {
	uint32_t	 magic;
#define OUTLET_MAGIC	0x4f55544cu
	struct actor	*actor;
	uint64_t	 enabled;		/* roles that are configured and have a link with us */
	enum link	 links[ROLE_MAX];
	enum kind_state	 states[KIND_MAX];
	bool		 painted[KIND_MAX];	/* complete once, and not taken away since */
	bool		 ready[ROLE_MAX];
	bool		 leader_known;
};

static void open_ready_links(struct outlet *);
static bool complete(const struct outlet *, enum role);

struct outlet *
outlet_new(struct actor *a)
{
	struct outlet *o;

	OBJ_NEW(o, OUTLET_MAGIC);
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
			actor_link_ready(a, (enum link)l);	/* nothing is all that there is to hand out */
	}
	return o;
}

void
outlet_free(struct outlet **op)
{
	struct outlet *o;

	if (*op == NULL)
		return;
	OBJ_TAKE(o, op, OUTLET_MAGIC);
	OBJ_FREE(o);
}

uint64_t
outlet_readers(const struct outlet *o, enum kind k)
{
	return kind_table[k].readers & o->enabled;
}

bool
outlet_key(char *buf, size_t size, enum kind k, const char *ns, const char *name)
{
	const int n = ns[0] == '\0' ? snprintf(buf, size, "%s/%s", kind_table[k].resource, name)
				    : snprintf(buf, size, "%s/%s/%s", kind_table[k].resource, ns, name);

	return n > 0 && (size_t)n < size;
}

void
outlet_object(struct outlet *o, enum kind k, const char *key, const struct projected *p, bool own,
    uint64_t trace)
{
	for (size_t i = 0; i < p->nvalues; i++) {
		const struct projected_value *const v = &p->values[i];
		const enum err e = actor_publish_packed(o->actor, o->links[v->role], key, p->uid, p->rv,
		    (enum msg)kind_table[k].message, v->bytes, v->len, trace, own);

		if (e != E_OK)
			log_warnx("an object is not handed on; its readers keep the last one they had",
			    KV_S(OBJECT, key), KV_S(PEER, role_name(v->role)), KV_S(WHY, err_text(e)));
	}
}

void
outlet_gone(struct outlet *o, enum kind k, const char *key, uint64_t trace)
{
	const uint64_t readers = outlet_readers(o, k);

	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((readers >> r & 1) != 0)
			actor_retract(o->actor, o->links[r], key, trace);
	}
}

void
outlet_kind(struct outlet *o, enum kind k, enum kind_state s, const char *version, const char *detail,
    uint32_t skipped)
{
	const struct kind_row *const row = &kind_table[k];
	const uint64_t readers = outlet_readers(o, k);
	const union msg_body body = { .kind = {
		.group = wire_str_of(group_served(row->group)), .resource = wire_str_of(row->resource),
		.version = wire_str_of(version), .state = s, .detail = wire_str_of(detail),
		.skipped = skipped,
	} };
	char key[OUTLET_KEY_MAX];

	o->states[k] = s;
	if (s == KIND_STATE_SYNCED || s == KIND_STATE_ABSENT)
		o->painted[k] = s == KIND_STATE_SYNCED;
	snprintf(key, sizeof(key), ":kind/%s", row->resource);
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((readers >> r & 1) != 0)
			MUST(actor_publish(o->actor, o->links[r], key, "", "", MSG_KIND, &body, 0) == E_OK);
	}
	open_ready_links(o);
}

enum kind_state
outlet_kind_state(const struct outlet *o, enum kind k)
{
	return o->states[k];
}

void
outlet_leader(struct outlet *o, const struct body_leader *l)
{
	const union msg_body body = { .leader = *l };

	o->leader_known = true;
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((o->enabled >> r & 1) != 0)
			MUST(actor_publish(
				 o->actor, o->links[r], ":leader", "", "", MSG_LEADER, &body, 0)
			    == E_OK);
	}
	open_ready_links(o);
}

void
outlet_count(const struct outlet *o, unsigned *kinds, unsigned *synced)
{
	*kinds = *synced = 0;
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (outlet_readers(o, (enum kind)k) == 0)
			continue;
		++*kinds;
		*synced += o->states[k] == KIND_STATE_SYNCED;
	}
}

static void
open_ready_links(struct outlet *o)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((o->enabled >> r & 1) == 0 || o->ready[r] || !complete(o, (enum role)r))
			continue;
		o->ready[r] = true;
		actor_link_ready(o->actor, o->links[r]);
	}
}

static bool
complete(const struct outlet *o, enum role r)
{
	for (unsigned k = 0; k < KIND_MAX; k++) {
		const bool reads = (kind_table[k].readers >> r & 1) != 0;

		if (reads && !o->painted[k] && o->states[k] != KIND_STATE_ABSENT)
			return false;
	}
	return o->leader_known;
}
