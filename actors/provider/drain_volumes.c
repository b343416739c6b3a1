/* actors/provider/drain_volumes.c - counts the volumes that a drain waits for. */
#include "drain_volumes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"

static const struct drain_claim *find_claim(const struct drain_volumes *, const char *, const char *);
static bool next_claim(const char **, char *);
static bool belongs_to_pod_that_stays(
    const struct drain_volumes *, const struct drain_stay *, const char *);

void
drain_volumes_add(struct drain_volumes *v, struct wire_str volume)
{
	v->attached = obj_realloc(v->attached, (v->n + 1) * sizeof(*v->attached));
	v->attached[v->n++] = obj_strndup(volume.p, volume.len);
}

bool
drain_volumes_replace(struct drain_volumes *v, struct drain_volumes *fresh)
{
	const bool changed = v->n != fresh->n;

	for (size_t i = 0; i < v->n; i++)
		free(v->attached[i]);
	free(v->attached);
	v->attached = fresh->attached;
	v->n = fresh->n;
	*fresh = (struct drain_volumes){ 0 };
	return changed;
}

void
drain_volumes_set_claim(struct drain_volumes *v, const char *ns, const char *name, struct wire_str volume)
{
	if (find_claim(v, ns, name) != NULL)
		return;
	v->claims = obj_realloc(v->claims, (v->nclaims + 1) * sizeof(*v->claims));
	v->claims[v->nclaims++] = (struct drain_claim){ .ns = obj_strdup(ns), .name = obj_strdup(name),
		.volume = obj_strndup(volume.p, volume.len) };
}

bool
drain_volumes_unread(const struct drain_volumes *v, const struct drain_stay *s, const char **ns,
    char name[DRAIN_CLAIM_NAME_MAX + 1])
{
	for (size_t i = 0; i < s->pods->n; i++) {
		const struct drain_pod *const pod = &s->pods->pods[i];
		const char *claims = pod->claims;

		if (!drain_keeps_volumes(s->policy, pod, s->now_ms))
			continue;
		while (next_claim(&claims, name)) {
			*ns = pod->ns;
			if (find_claim(v, pod->ns, name) == NULL)
				return true;
		}
	}
	return false;
}

unsigned
drain_volumes_count(const struct drain_volumes *v, const struct drain_stay *s)
{
	unsigned count = 0;

	for (size_t i = 0; i < v->n; i++)
		count += v->attached[i][0] == '\0' || !belongs_to_pod_that_stays(v, s, v->attached[i]);
	return count;
}

void
drain_volumes_free(struct drain_volumes *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->attached[i]);
	for (size_t i = 0; i < v->nclaims; i++) {
		free(v->claims[i].ns);
		free(v->claims[i].name);
		free(v->claims[i].volume);
	}
	free(v->attached);
	free(v->claims);
	*v = (struct drain_volumes){ 0 };
}

static const struct drain_claim *
find_claim(const struct drain_volumes *v, const char *ns, const char *name)
{
	for (size_t i = 0; i < v->nclaims; i++) {
		if (strcmp(v->claims[i].ns, ns) == 0 && strcmp(v->claims[i].name, name) == 0)
			return &v->claims[i];
	}
	return NULL;
}

/* Takes one line. A name that is too long names no object: it is cut, and will not be found. */
static bool
next_claim(const char **claims, char *name)
{
	const size_t len = strcspn(*claims, "\n");

	if (len == 0)
		return false;
	snprintf(name, DRAIN_CLAIM_NAME_MAX + 1, "%.*s", (int)len, *claims);
	*claims += len + 1;
	return true;
}

static bool
belongs_to_pod_that_stays(const struct drain_volumes *v, const struct drain_stay *s, const char *volume)
{
	char name[DRAIN_CLAIM_NAME_MAX + 1];

	for (size_t i = 0; i < s->pods->n; i++) {
		const struct drain_pod *const pod = &s->pods->pods[i];
		const char *claims = pod->claims;

		if (!drain_keeps_volumes(s->policy, pod, s->now_ms))
			continue;
		while (next_claim(&claims, name)) {
			const struct drain_claim *const claim = find_claim(v, pod->ns, name);

			if (claim != NULL && strcmp(claim->volume, volume) == 0)
				return true;
		}
	}
	return false;
}
