/*
 * actors/runtime/bus_hop.c - what the bus records about single keys: hops, times, where
 * each is held.
 */
#include <stdio.h>
#include <string.h>

#include "bus_private.h"
#include "clock.h"
#include "obj.h"

_Static_assert((unsigned)LINK_MAX < (unsigned)HOP_NONE && (unsigned)ROLE_NONE < (unsigned)HOP_NONE,
    "a hop has one byte for each");

struct hop_walk {
	void	(*fn)(struct wire_str, void *);
	void	 *arg;
};

static void each_key(const struct body_item *, void *);
static void each_mirrored(enum mirror_change, const struct body_item *, void *);

void
bus_hop(struct bus *b, const struct bus_hop *n)
{
	if (n->link == LINK_STATS || (n->key.len == 0 ? n->hash == 0 : n->key.p[0] == ':'))
		return;
	if (n->spare && hop_log_count(b->hop_log) == HOP_LOG_HOPS)
		return;
	struct hop h = {
		.at_us = n->at_us != 0 ? n->at_us : clock_wall_us(), .trace = n->trace,
		.key = n->key.len == 0 ? n->hash : hop_log_key(n->key.p, n->key.len),
		.what = (uint8_t)n->what,
		.link = n->link == LINK_MAX ? HOP_NONE : (uint8_t)n->link,
		.peer = n->peer == ROLE_NONE ? HOP_NONE : (uint8_t)n->peer,
	};
	if (n->text != NULL || n->rv.len > 0)
		hop_set_text(&h, n->text != NULL ? n->text : "", n->rv);
	hop_log_add(b->hop_log, &h, n->spare);
}

uint32_t
bus_hop_write(struct bus *b, enum hop_what what, enum link l, enum role peer, const struct body_write *w,
    uint64_t trace)
{
	char resource[OBJECT_KEY_MAX + 1], ns[OBJECT_KEY_MAX + 1], name[OBJECT_KEY_MAX + 1];
	char key[OBJECT_KEY_MAX + 1], text[HOP_TEXT + 1];

	if (w->op == OP_EVENT)	/* about another object than it names */
		return 0;
	snprintf(resource, sizeof(resource), "%.*s", (int)w->resource.len, w->resource.p);
	snprintf(ns, sizeof(ns), "%.*s", (int)w->ns.len, w->ns.p);
	snprintf(name, sizeof(name), "%.*s", (int)w->name.len, w->name.p);
	if (!object_key(key, sizeof(key), resource, ns, name))
		return 0;
	snprintf(text, sizeof(text), "%s%s%.*s", op_table[w->op].name, w->subresource.len > 0 ? " " : "",
	    (int)w->subresource.len, w->subresource.p);
	bus_hop(b, &(struct bus_hop){ .what = what, .link = l, .peer = peer, .key = wire_str_of(key),
	    .trace = trace, .text = text });
	return hop_log_key(key, strlen(key));
}

void
bus_hop_outcome(struct bus *b, struct bus_hop h, enum outcome how, unsigned status)
{
	char text[HOP_TEXT + 1];

	if (status != 0)
		snprintf(text, sizeof(text), "%s %u", outcome_name(how), status);
	else
		snprintf(text, sizeof(text), "%s", outcome_name(how));
	h.text = text;
	bus_hop(b, &h);
}

const struct hop_log *
bus_hop_log(const struct bus *b)
{
	return b->hop_log;
}

void
bus_published(struct bus *b, enum link l, struct wire_str key, struct wire_str rv, uint64_t trace, bool gone)
{
	bus_hop(b,
	    &(struct bus_hop){ .what = HOP_PUBLISHED,
		.link = l,
		.peer = ROLE_NONE,
		.key = key,
		.rv = rv,
		.trace = trace,
		.text = gone ? "gone" : NULL,
		.spare = !link_store_ready(b->outs[l]->store) });
	if (b->outs[l]->timing.observe != NULL)
		timing_changed(&b->outs[l]->timing, clock_mono_us());
	bus_touch(b);
}

void
bus_time(struct bus *b, enum link l, notify_time *observe)
{
	MUST(b->outs[l] != NULL && b->outs[l]->timing.observe == NULL);
	b->outs[l]->timing.observe = observe;
}

bool
bus_held(struct bus *b, struct wire_str key, struct json *j)
{
	bool held = false;

	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (b->outs[l] != NULL && out_held(b->outs[l], key, j))
			held = true;
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			if (b->ins[l][r] != NULL && in_held(b->ins[l][r], key, j))
				held = true;
		}
	}
	return held;
}

void
bus_keys(struct bus *b, void (*fn)(struct wire_str, void *), void *arg)
{
	struct hop_walk w = { .fn = fn, .arg = arg };

	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (l == LINK_STATS)
			continue;
		if (b->outs[l] != NULL)
			link_store_each(b->outs[l]->store, each_key, &w);
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			if (b->ins[l][r] != NULL)
				mirror_each(b->ins[l][r]->mirror, each_mirrored, &w);
		}
	}
}

static void
each_key(const struct body_item *item, void *arg)
{
	const struct hop_walk *w = arg;

	w->fn(item->key, w->arg);
}

static void
each_mirrored(enum mirror_change kind, const struct body_item *item, void *arg)
{
	(void)kind;
	each_key(item, arg);
}
