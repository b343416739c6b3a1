/*
 * tests/unit/vpsie_words.h - inputs of the VPSie matching in words.
 *
 * Objects are separated by ';', words by blanks. A word is "field=value" or a flag. Times are seconds.
 */
#ifndef MUSTER_TEST_VPSIE_WORDS_H
#define MUSTER_TEST_VPSIE_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/vpsie-claimer/discover.h"
#include "obj.h"

enum { WORLD_MAX = 64, WORLD_TEXT = 8192 };

/* One matching: its input, the texts that it refers to, its result. */
struct world {
	struct discover_vpsienode vpsienodes[WORLD_MAX];
	struct machine machines[WORLD_MAX];
	struct discover_fact facts[WORLD_MAX];
	struct machine_group groups[4];
	struct wire_str addresses[WORLD_MAX][4], before[WORLD_MAX][4];
	char text[WORLD_TEXT];
	size_t len;
	struct discover_input in;
	struct discover_result out;
	void *memory;
};

static inline struct wire_str
world_text(struct world *w, const char *p, size_t len)
{
	char *const to = w->text + w->len;

	MUST(w->len + len < sizeof(w->text));
	memcpy(to, p, len);
	w->len += len;
	return (struct wire_str){ .p = to, .len = (uint32_t)len };
}

/* "field=value": the value, or NULL for another field. */
static inline const char *
world_field(const char *word, const char *field)
{
	const size_t len = strlen(field);

	return strncmp(word, field, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

static inline bool
world_set_text(struct world *w, const char *word, const char *field, struct wire_str *to)
{
	const char *const value = world_field(word, field);

	if (value != NULL)
		*to = world_text(w, value, strlen(value));
	return value != NULL;
}

static inline bool
world_set_number(const char *word, const char *field, int64_t unit, int64_t *to)
{
	const char *const value = world_field(word, field);

	if (value != NULL)
		*to = strtoll(value, NULL, 10) * unit;
	return value != NULL;
}

/* "a+b" */
static inline uint32_t
world_set_list(struct world *w, const char *value, struct wire_str list[4])
{
	uint32_t n = 0;

	for (size_t len; *value != '\0' && n < 4; value += len + (value[len] == '+')) {
		len = strcspn(value, "+");
		list[n++] = world_text(w, value, len);
	}
	return n;
}

static inline void
world_vpsienode(struct world *w, const char *word)
{
	const uint32_t i = w->in.nvpsienodes - 1;
	struct discover_vpsienode *const v = &w->vpsienodes[i];
	const char *const slash = strchr(word, '/');
	const char *const before = world_field(word, "before");
	int64_t group = -1;

	if (before != NULL) {
		v->has_before = true;
		v->before = w->before[i];
		v->nbefore = world_set_list(w, before, w->before[i]);
	} else if (strcmp(word, "waits") == 0) {
		v->waits = true;
	} else if (strcmp(word, "late") == 0 || strcmp(word, "unsent") == 0) {
		v->waits = true;
		v->turn = word[0] == 'l' ? TURN_LATE : TURN_UNSENT;
	} else if (strcmp(word, "seeks") == 0) {
		v->seeks_node = true;
	} else if (world_set_number(word, "g", 1, &group)) {
		v->group = (uint32_t)group;
	} else if (slash != NULL && strchr(word, '=') == NULL) {
		v->namespace = world_text(w, word, (size_t)(slash - word));
		v->name = world_text(w, slash + 1, strlen(slash + 1));
	} else {
		MUST(world_set_number(word, "req", 1000000, &v->requested_us)
		    || world_set_number(word, "until", 1000000, &v->until_us)
		    || world_set_number(word, "newest", 1000000, &v->newest_us)
		    || world_set_number(word, "id", 1, &v->id)
		    || world_set_text(w, word, "c", &v->cluster)
		    || world_set_text(w, word, "uuid", &v->identifier)
		    || world_set_text(w, word, "ip", &v->address)
		    || world_set_text(w, word, "ip6", &v->address6)
		    || world_set_text(w, word, "host", &v->hostname)
		    || world_set_text(w, word, "node", &v->node_name)
		    || world_set_text(w, word, "dc", &v->datacenter)
		    || world_set_text(w, word, "uid", &v->uid));
	}
}

static inline void
world_machine(struct world *w, const char *word)
{
	struct machine *const m = &w->machines[w->in.nmachines - 1];

	if (strcmp(word, "master") == 0)
		m->master = true;
	else if (strcmp(word, "deleted") == 0)
		m->deleted = true;
	else
		MUST(world_set_number(word, "id", 1, &m->id)
		    || world_set_number(word, "at", 1000000, &m->created_us)
		    || world_set_text(w, word, "uuid", &m->identifier)
		    || world_set_text(w, word, "host", &m->hostname)
		    || world_set_text(w, word, "ip", &m->addresses[0])
		    || world_set_text(w, word, "private", &m->addresses[1])
		    || world_set_text(w, word, "nodeip", &m->addresses[2])
		    || world_set_text(w, word, "ip6", &m->addresses[3])
		    || world_set_text(w, word, "st", &m->status)
		    || world_set_text(w, word, "c", &m->cluster)
		    || world_set_text(w, word, "dc", &m->datacenter)
		    || world_set_number(word, "dcid", 1, &m->datacenter_id)
		    || world_set_number(word, "size", 1, &m->boxsize_id)
		    || world_set_number(word, "cpu", 1, &m->cpu)
		    || world_set_number(word, "ram", 1, &m->ram));
}

static inline void
world_fact(struct world *w, const char *word)
{
	const uint32_t i = w->in.nfacts - 1;
	struct discover_fact *const f = &w->facts[i];
	const char *const ips = world_field(word, "ip");

	f->addresses = w->addresses[i];
	if (ips != NULL)
		f->naddresses = world_set_list(w, ips, w->addresses[i]);
	else if (strcmp(word, "cp") == 0)
		f->control_plane = true;
	else if (strcmp(word, "deleting") == 0)
		f->deleting = true;
	else if (strcmp(word, "newer") == 0)
		f->newer = true;
	else if (strchr(word, '=') == NULL)
		f->name = world_text(w, word, strlen(word));
	else
		MUST(world_set_text(w, word, "host", &f->hostname)
		    || world_set_text(w, word, "claim", &f->claim_name)
		    || world_set_text(w, word, "ns", &f->claim_namespace)
		    || world_set_text(w, word, "uid", &f->claim_uid));
}

static inline void
world_group(struct world *w, const char *word)
{
	struct machine_group *const g = &w->groups[w->in.ngroups - 1];

	MUST(world_set_number(word, "size", 1, &g->boxsize_id)
	    || world_set_number(word, "dcid", 1, &g->datacenter_id)
	    || world_set_number(word, "cpu", 1, &g->cpu)
	    || world_set_number(word, "ram", 1, &g->ram)
	    || world_set_text(w, word, "dc", &g->datacenter));
}

/* Each object that the text describes is counted, then its words are set. */
static inline void
world_read(
    struct world *w, const char *text, uint32_t *count, void (*set)(struct world *, const char *))
{
	char copy[WORLD_TEXT], *object, *word, *objects = copy, *words;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((object = strsep(&objects, ";")) != NULL && object[strspn(object, " ")] != '\0') {
		++*count;
		words = object;
		while ((word = strsep(&words, " ")) != NULL) {
			if (*word != '\0')
				set(w, word);
		}
	}
}

static inline struct world *
world_new(const char *vpsienodes, const char *machines, const char *facts, const char *groups)
{
	struct world *const w = obj_alloc(sizeof(*w));

	w->in = (struct discover_input){ .vpsienodes = w->vpsienodes,
		.machines = w->machines,
		.facts = w->facts,
		.groups = w->groups,
		.skew_us = 5000000,
		.seed = 42 };
	for (size_t i = 0; i < WORLD_MAX; i++) {
		w->vpsienodes[i].group = DISCOVER_NONE;
		w->vpsienodes[i].cluster = wire_str_of("c1");
	}
	world_read(w, vpsienodes, &w->in.nvpsienodes, world_vpsienode);
	world_read(w, machines, &w->in.nmachines, world_machine);
	world_read(w, facts, &w->in.nfacts, world_fact);
	world_read(w, groups, &w->in.ngroups, world_group);
	return w;
}

static inline void
world_match(struct world *w)
{
	free(w->memory);
	w->memory = obj_alloc(discover_bytes(&w->in) + 1);
	discover(&w->in, w->memory, &w->out);
}

static inline void
world_free(struct world *w)
{
	free(w->memory);
	free(w);
}

#endif
