/* sim/faults/sim_faults.c - the table of armed faults. */
#include "sim_faults.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"

struct sim_fault_table {
	uint32_t		 magic;
#define FAULTS_MAGIC	0x464c5453u
	struct sim_fault	**all, **cleared;
	size_t			 n, ncleared;
	uint32_t		 last_id;
};

enum fault_point { CALL, EVENT };

static const enum fault_point points[FAULT_MAX] = {
#define FAULT_POINT(ID, name, point) [FAULT_##ID] = point,
	FAULTS(FAULT_POINT)
#undef FAULT_POINT
};

static bool matches(const struct sim_fault *, const struct sim_fault_subject *);
static bool in_list(const char *, const char *);
static bool strike(struct sim_fault *, const struct sim_fault_subject *);

struct sim_fault_table *
sim_faults_new(void)
{
	struct sim_fault_table *f;

	OBJ_NEW(f, FAULTS_MAGIC);
	return f;
}

void
sim_faults_free(struct sim_fault_table **fp)
{
	struct sim_fault_table *f;

	if (*fp == NULL)
		return;
	OBJ_TAKE(f, fp, FAULTS_MAGIC);
	sim_faults_clear(f, 0);
	for (size_t i = 0; i < f->ncleared; i++) {
		free(f->cleared[i]->text);
		free(f->cleared[i]);
	}
	free(f->cleared);
	free(f->all);
	OBJ_FREE(f);
}

const struct sim_fault *
sim_faults_arm(struct sim_fault_table *f, const json_t *spec, char *err, size_t size)
{
	struct sim_fault *const made = sim_fault_from_json(spec, err, size);

	if (made == NULL)
		return NULL;
	made->id = ++f->last_id;
	f->all = obj_realloc(f->all, (f->n + 1) * sizeof(struct sim_fault *));
	f->all[f->n++] = made;
	return made;
}

void
sim_faults_clear(struct sim_fault_table *f, int64_t id)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (id != 0 && f->all[i]->id != id) {
			f->all[kept++] = f->all[i];
			continue;
		}
		f->cleared = obj_realloc(f->cleared, (f->ncleared + 1) * sizeof(struct sim_fault *));
		f->cleared[f->ncleared++] = f->all[i];
	}
	f->n = kept;
}

json_t *
sim_faults_list(const struct sim_fault_table *f)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < f->n; i++)
		json_array_append_new(list, sim_fault_to_json(f->all[i]));
	return list;
}

const struct sim_fault *
sim_faults_hit(struct sim_fault_table *f, enum sim_fault_kind kind, const struct sim_fault_subject *s)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->all[i]->kind == kind && !f->all[i]->now && strike(f->all[i], s))
			return f->all[i];
	}
	return NULL;
}

struct sim_fault_plan
sim_faults_plan(struct sim_fault_table *f, const struct sim_fault_subject *s)
{
	struct sim_fault_plan plan = { { NULL } };

	for (int kind = 0; kind < FAULT_MAX; kind++) {
		if (points[kind] == CALL)
			plan.of[kind] = sim_faults_hit(f, (enum sim_fault_kind)kind, s);
	}
	return plan;
}

bool
sim_faults_hit_now(struct sim_fault_table *f, const struct sim_fault *what, const struct sim_fault_subject *s)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->all[i] == what)
			return strike(f->all[i], s);
	}
	return false;
}

static bool
strike(struct sim_fault *x, const struct sim_fault_subject *s)
{
	if (x->count == 0 || !matches(x, s))
		return false;
	x->seen++;
	if (x->after > 0) {
		x->after--;
		return false;
	}
	if (x->count > 0)
		x->count--;
	x->hits++;
	return true;
}

static bool
matches(const struct sim_fault *x, const struct sim_fault_subject *s)
{
	if (strcmp(x->api, s->api != NULL ? s->api : "") != 0
	    || (x->class[0] != '\0' && (s->class == NULL || strcmp(x->class, s->class) != 0)))
		return false;
	return (x->verb[0] == '\0' || in_list(x->verb, s->verb))
	    && (x->resource[0] == '\0' || strcmp(x->resource, s->resource) == 0
	    || strcmp(x->resource, s->qualified) == 0)
	    && (x->name[0] == '\0' || strcmp(x->name, s->name) == 0)
	    && (x->event[0] == '\0' || strcmp(x->event, s->event) == 0)
	    && strncmp(x->user_agent, s->user_agent, strlen(x->user_agent)) == 0;
}

static bool
in_list(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = list; *p != '\0';) {
		const size_t n = strcspn(p, ",");

		if (n == len && strncmp(p, word, n) == 0)
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}
