/* sim/faults/sim_faults.c - the table of armed faults. */
#include "sim_faults.h"

#include <stdio.h>
#include <string.h>

#include "sim_fault_spec.h"
#include "obj.h"

struct faults {
	uint32_t	 magic;
#define FAULTS_MAGIC	0x464c5453u
	struct fault	**all, **cleared;
	size_t		 n, ncleared;
	uint32_t	 last_id;
};

enum point { CALL, EVENT };

static const enum point points[FAULT_MAX] = {
#define FAULT_POINT(ID, name, point) [FAULT_##ID] = point,
	FAULTS(FAULT_POINT)
#undef FAULT_POINT
};

static bool matches(const struct fault *, const struct fault_subject *);
static bool in_list(const char *, const char *);
static bool strike(struct fault *, const struct fault_subject *);

struct faults *
faults_new(void)
{
	struct faults *f;

	OBJ_NEW(f, FAULTS_MAGIC);
	return f;
}

void
faults_free(struct faults **fp)
{
	struct faults *f;

	if (*fp == NULL)
		return;
	OBJ_TAKE(f, fp, FAULTS_MAGIC);
	faults_clear(f, 0);
	for (size_t i = 0; i < f->ncleared; i++) {
		free(f->cleared[i]->text);
		free(f->cleared[i]);
	}
	free(f->cleared);
	free(f->all);
	OBJ_FREE(f);
}

const struct fault *
faults_arm(struct faults *f, const json_t *spec, char *err, size_t size)
{
	struct fault *const made = fault_from_json(spec, err, size);

	if (made == NULL)
		return NULL;
	made->id = ++f->last_id;
	f->all = obj_realloc(f->all, (f->n + 1) * sizeof(struct fault *));
	f->all[f->n++] = made;
	return made;
}

void
faults_clear(struct faults *f, int64_t id)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (id != 0 && f->all[i]->id != id) {
			f->all[kept++] = f->all[i];
			continue;
		}
		f->cleared = obj_realloc(f->cleared, (f->ncleared + 1) * sizeof(struct fault *));
		f->cleared[f->ncleared++] = f->all[i];
	}
	f->n = kept;
}

json_t *
faults_list(const struct faults *f)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < f->n; i++)
		json_array_append_new(list, fault_to_json(f->all[i]));
	return list;
}

const struct fault *
faults_hit(struct faults *f, enum fault_kind kind, const struct fault_subject *s)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->all[i]->kind == kind && !f->all[i]->now && strike(f->all[i], s))
			return f->all[i];
	}
	return NULL;
}

struct fault_plan
faults_plan(struct faults *f, const struct fault_subject *s)
{
	struct fault_plan plan = { { NULL } };

	for (int kind = 0; kind < FAULT_MAX; kind++) {
		if (points[kind] == CALL)
			plan.of[kind] = faults_hit(f, (enum fault_kind)kind, s);
	}
	return plan;
}

bool
faults_strike(struct faults *f, const struct fault *what, const struct fault_subject *s)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->all[i] == what)
			return strike(f->all[i], s);
	}
	return false;
}

static bool
strike(struct fault *x, const struct fault_subject *s)
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
matches(const struct fault *x, const struct fault_subject *s)
{
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
