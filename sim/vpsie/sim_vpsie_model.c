/* sim/vpsie/sim_vpsie_model.c - clusters, groups and workers: how they come and go. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "random.h"
#include "sim/base/sim_json.h"
#include "sim_vpsie_private.h"

/* Ids of different lengths, so that nobody takes one for another. */
enum { GROUP_BASE = 300, VM_BASE = 41000 };

static const struct vpsie_size sizes[] = {
	{ .id = 11, .cpu = 1, .ram = 2048, .ssd = 40, .traffic = 2000, .name = "k8s-small" },
	{ .id = 12, .cpu = 2, .ram = 4096, .ssd = 80, .traffic = 3000, .name = "k8s-medium" },
	{ .id = 13, .cpu = 4, .ram = 8192, .ssd = 160, .traffic = 4000, .name = "k8s-large" },
};

static void make_uuid(struct vpsie *, char[VPSIE_UUID_MAX]);
static struct vpsie_manner next_manner(struct vpsie *, const struct vpsie_group *);
static struct vpsie_manner usual_manner(const struct vpsie *);
static void set_names(struct vpsie *, struct vpsie_worker *, char[VPSIE_NAME_MAX]);
static bool name_is_taken(const struct vpsie *, const char *);
static json_t *capacity_of(const struct vpsie_size *);

const struct vpsie_size *
vpsie_sizes(size_t *n)
{
	*n = NITEMS(sizes);
	return sizes;
}

const struct vpsie_size *
vpsie_find_size(int64_t id)
{
	for (size_t i = 0; i < NITEMS(sizes); i++) {
		if (sizes[i].id == id)
			return &sizes[i];
	}
	return NULL;
}

/* Tests name clusters: their identifiers are numbers in a row. */
struct vpsie_cluster *
vpsie_add_cluster(struct vpsie *v, const char *name, const char *datacenter)
{
	struct vpsie_cluster *const c = obj_alloc(sizeof(*c));

	c->number = (int64_t)v->nclusters + 1;
	c->created_us = clock_wall_us();
	snprintf(c->identifier, sizeof(c->identifier), "c1000000-0000-4000-8000-%012llx",
	    (unsigned long long)c->number);
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->datacenter, sizeof(c->datacenter), "%s", datacenter);
	make_uuid(v, c->master);
	v->clusters = obj_realloc(v->clusters, (v->nclusters + 1) * sizeof(struct vpsie_cluster *));
	v->clusters[v->nclusters++] = c;
	return c;
}

struct vpsie_group *
vpsie_add_group(struct vpsie *v, const struct vpsie_cluster *c, const char *name,
    const struct vpsie_size *size)
{
	struct vpsie_group *const g = obj_alloc(sizeof(*g));

	g->id = GROUP_BASE + ++v->last_group;
	g->created_us = clock_wall_us();
	g->since_ms = sim_machines_now_ms(v->machines);
	g->cluster = c;
	g->size = size;
	snprintf(g->name, sizeof(g->name), "%s", name);
	make_uuid(v, g->identifier);
	v->groups = obj_realloc(v->groups, (v->ngroups + 1) * sizeof(struct vpsie_group *));
	v->groups[v->ngroups++] = g;
	return g;
}

void
vpsie_delete_group(struct vpsie *v, struct vpsie_group *g)
{
	size_t at = 0;

	for (size_t i = 0; i < v->nworkers; i++) {
		if (v->workers[i]->group == g->id)
			vpsie_delete_worker(v, v->workers[i]);
	}
	while (v->groups[at] != g)
		at++;
	v->ngroups--;
	memmove(&v->groups[at], &v->groups[at + 1], (v->ngroups - at) * sizeof(struct vpsie_group *));
	free(g);
}

struct vpsie_worker *
vpsie_add_worker(struct vpsie *v, const struct vpsie_cluster *c, const struct vpsie_group *g,
    const char *hostname)
{
	struct vpsie_worker *const w = obj_alloc(sizeof(*w));
	char name[VPSIE_NAME_MAX];

	w->machine = sim_machines_next_id(v->machines);
	w->cluster = c;
	w->group = g != NULL ? g->id : 0;
	w->size = g != NULL ? g->size : &sizes[0];
	w->ordered_us = clock_wall_us();
	w->manner = c != NULL ? next_manner(v, g) : (struct vpsie_manner){ .never = false };
	if (hostname[0] != '\0')
		snprintf(w->manner.hostname, sizeof(w->manner.hostname), "%s", hostname);
	make_uuid(v, w->identifier);
	set_names(v, w, name);
	json_auto_t *capacity = capacity_of(w->size);
	sim_machines_order(v->machines, &(struct sim_machine_order){ .name = name, .provider_id = "",
	    .capacity = capacity, .delay_ms = w->manner.delay_ms,
	    .last = w->manner.never ? MACHINE_ORDERED
		: v->join && c != NULL ? MACHINE_GONE : MACHINE_RUNNING });
	v->workers = obj_realloc(v->workers, (v->nworkers + 1) * sizeof(struct vpsie_worker *));
	v->workers[v->nworkers++] = w;
	return w;
}

void
vpsie_delete_worker(struct vpsie *v, struct vpsie_worker *w)
{
	sim_machines_delete(v->machines, w->machine);
}

/* The first order that names this group, or none. */
static struct vpsie_manner
next_manner(struct vpsie *v, const struct vpsie_group *g)
{
	struct vpsie_manner m = usual_manner(v);
	const json_t *one;
	size_t i;

	json_array_foreach(v->next, i, one) {
		const char *const group = sim_json_text(one, "group");

		if (group[0] != '\0' && (g == NULL || strcmp(group, g->name) != 0))
			continue;
		snprintf(m.hostname, sizeof(m.hostname), "%s", sim_json_text(one, "hostname"));
		m.delay_ms = sim_json_int_at(one, "delay_ms", m.delay_ms);
		m.ip_lag_ms = sim_json_int_at(one, "ip_lag_ms", m.ip_lag_ms);
		m.ip_settle_ms = sim_json_int_at(one, "ip_settle_ms", m.ip_settle_ms);
		m.never = json_is_true(json_object_get(one, "never"));
		m.hide_vm |= json_is_true(json_object_get(one, "hide_vm"));
		m.hide_identifier |= json_is_true(json_object_get(one, "hide_identifier"));
		json_array_remove(v->next, i);
		break;
	}
	return m;
}

static struct vpsie_manner
usual_manner(const struct vpsie *v)
{
	const struct vpsie_settings *const s = &v->settings;
	const int64_t number = (int64_t)sim_machines_next_id(v->machines);

	return (struct vpsie_manner){ .delay_ms = s->worker_delay_ms, .ip_lag_ms = s->ip_lag_ms,
		.ip_settle_ms = s->ip_settle_ms,
		.hide_vm = s->hide_vm_every > 0 && number % s->hide_vm_every == 0,
		.hide_identifier = s->hide_identifier_every > 0 && number % s->hide_identifier_every == 0 };
}

bool
vpsie_order_next(struct vpsie *v, const json_t *list)
{
	static const struct {
		const char	*name;
		json_type	 type;
	} keys[] = { { "group", JSON_STRING }, { "hostname", JSON_STRING }, { "delay_ms", JSON_INTEGER },
		{ "ip_lag_ms", JSON_INTEGER }, { "ip_settle_ms", JSON_INTEGER }, { "never", JSON_TRUE },
		{ "hide_vm", JSON_TRUE }, { "hide_identifier", JSON_TRUE } };
	const json_t *one;
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach(list, i, one) {
		JSON_EACH(one, key, value) {
			bool fits = false;

			for (size_t k = 0; k < NITEMS(keys); k++)
				fits |= strcmp(key, keys[k].name) == 0 && json_typeof(value) == keys[k].type;
			if (!fits || (json_is_integer(value) && json_integer_value(value) < 0))
				return false;
		}
		if (!json_is_object(one))
			return false;
	}
	if (!json_is_array(list))
		return false;
	json_array_foreach(list, i, one)
		json_array_append_new(v->next, json_deep_copy(one));
	return true;
}

/* Two VMs may have one hostname. Their kubelets register two Nodes all the same: a Node has one machine. */
static void
set_names(struct vpsie *v, struct vpsie_worker *w, char name[VPSIE_NAME_MAX])
{
	if (w->manner.hostname[0] != '\0')
		memcpy(w->hostname, w->manner.hostname, sizeof(w->hostname));
	else
		snprintf(w->hostname, sizeof(w->hostname), "k8s-worker-%08llx",
		    (unsigned long long)(random_next(&v->sim->seed) & 0xffffffffu));
	for (size_t i = 0; i <= strlen(w->hostname); i++)
		name[i] = (char)tolower((unsigned char)w->hostname[i]);
	if (name_is_taken(v, name)) {
		char suffix[24];

		const int len = snprintf(suffix, sizeof(suffix), "-%llu", (unsigned long long)w->machine);
		const size_t most = VPSIE_NAME_MAX - 1 - (size_t)len;
		memcpy(name + (strlen(name) < most ? strlen(name) : most), suffix, (size_t)len + 1);
	}
}

static bool
name_is_taken(const struct vpsie *v, const char *name)
{
	const struct sim_machine *m;

	for (size_t i = 0; (m = sim_machines_nth(v->machines, i)) != NULL; i++) {
		if (strcmp(m->name, name) == 0)
			return true;
	}
	return false;
}

/* The kernel keeps some of the memory. */
static json_t *
capacity_of(const struct vpsie_size *size)
{
	const int64_t memory_kib = size->ram * 1024;

	return json_pack("{s:o, s:o, s:o, s:s}", "cpu", json_sprintf("%lld", (long long)size->cpu), "memory",
	    json_sprintf("%lldKi", (long long)(memory_kib - memory_kib / 14)), "ephemeral-storage",
	    json_sprintf("%lldGi", (long long)size->ssd), "pods", "110");
}

static void
make_uuid(struct vpsie *v, char uuid[VPSIE_UUID_MAX])
{
	const uint64_t a = random_next(&v->sim->seed), b = random_next(&v->sim->seed);

	snprintf(uuid, VPSIE_UUID_MAX, "%08llx-%04llx-4%03llx-8%03llx-%012llx",
	    (unsigned long long)(a >> 32), (unsigned long long)(a >> 16 & 0xffff),
	    (unsigned long long)(a & 0xfff), (unsigned long long)(b >> 52),
	    (unsigned long long)(b & 0xffffffffffff));
}

struct vpsie_cluster *
vpsie_find_cluster(const struct vpsie *v, const char *identifier)
{
	for (size_t i = 0; i < v->nclusters; i++) {
		if (strcmp(v->clusters[i]->identifier, identifier) == 0)
			return v->clusters[i];
	}
	return NULL;
}

struct vpsie_group *
vpsie_find_group(const struct vpsie *v, const struct vpsie_cluster *c, int64_t id)
{
	for (size_t i = 0; i < v->ngroups; i++) {
		if ((c == NULL || v->groups[i]->cluster == c) && v->groups[i]->id == id)
			return v->groups[i];
	}
	return NULL;
}

struct vpsie_worker *
vpsie_find_vm(const struct vpsie *v, const char *id)
{
	char *end;

	errno = 0;
	const int64_t number = strtoll(id, &end, 10);
	const bool is_number = *end == '\0' && errno == 0;
	for (size_t i = 0; i < v->nworkers; i++) {
		struct vpsie_worker *const w = v->workers[i];
		const struct sim_machine *const m = vpsie_machine(v, w);

		if (m != NULL && m->state != MACHINE_ORDERED
		    && (is_number ? vpsie_vm_id(w) == number : strcmp(w->identifier, id) == 0))
			return w;
	}
	return NULL;
}

int64_t
vpsie_vm_id(const struct vpsie_worker *w)
{
	return VM_BASE + (int64_t)w->machine;
}

const struct sim_machine *
vpsie_machine(const struct vpsie *v, const struct vpsie_worker *w)
{
	return sim_machines_find(v->machines, w->machine);
}

bool
vpsie_exists(const struct vpsie *v, const struct vpsie_worker *w)
{
	const struct sim_machine *const m = vpsie_machine(v, w);

	return m != NULL && m->state != MACHINE_ORDERED && m->state != MACHINE_DELETING;
}

/* Those that are ordered count, too: they cost, and become more. */
int64_t
vpsie_count_workers(const struct vpsie *v)
{
	int64_t n = 0;

	for (size_t i = 0; i < v->nworkers; i++) {
		const struct sim_machine *const m = vpsie_machine(v, v->workers[i]);

		n += m != NULL && m->state != MACHINE_DELETING;
	}
	return n;
}

void
vpsie_refresh(struct vpsie *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->nworkers; i++) {
		if (vpsie_machine(v, v->workers[i]) != NULL)
			v->workers[kept++] = v->workers[i];
		else
			free(v->workers[i]);
	}
	v->nworkers = kept;
}

void
vpsie_keep_past(struct vpsie *v)
{
	json_t *const clusters = json_object(), *const groups = json_object();

	for (size_t i = 0; i < v->nclusters; i++) {
		const struct vpsie_cluster *const c = v->clusters[i];

		json_object_set_new(clusters, c->identifier, vpsie_cluster_json(v, c, true));
		json_object_set_new(groups, c->identifier, vpsie_groups_json(v, c));
	}
	sim_provider_past_keep(v->past, json_pack("{s:o, s:o, s:o}", "vms", vpsie_vms_json(v), "clusters",
	    clusters, "groups", groups));
}

void
vpsie_free_all(struct vpsie *v)
{
	for (size_t i = 0; i < v->nworkers; i++)
		free(v->workers[i]);
	for (size_t i = 0; i < v->ngroups; i++)
		free(v->groups[i]);
	for (size_t i = 0; i < v->nclusters; i++)
		free(v->clusters[i]);
	free(v->workers);
	free(v->groups);
	free(v->clusters);
	json_decref(v->next);
	json_decref(v->clients);
}
