/* actors/provider/drain_pods.c - reads Pods, and remembers what is known of them between lists. */
#include "drain_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"

static void pod_end(struct drain_pod *);
static bool read_end(const struct body_node_pod *, const struct drain_sight *, struct drain_pod *);
static bool has_daemonset(wire_rows);
static bool is_critical(struct wire_str);
static bool has_entry(wire_map, const char *);
static bool tolerates(wire_rows, const char *);
static char *claims_of(const struct body_node_pod *);
static bool fail(char *, size_t, const struct body_node_pod *, const char *);

bool
drain_pods_add(struct drain_pods *list, const struct body_node_pod *p, struct wire_str uid,
    const struct drain_sight *sight, char *err, size_t size)
{
	struct drain_pod pod = {
		.mirror = has_entry(p->mirror, NULL), .do_not_disrupt = has_entry(p->karpenter, "true"),
		.daemonset = has_daemonset(p->owners), .critical = is_critical(p->priority),
		.finished = wire_str_is(p->phase, "Succeeded") || wire_str_is(p->phase, "Failed"),
		.terminating = p->deleted.len > 0, .grace_ms = p->grace_s * 1000,
		.tolerates = sight->taint != NULL && tolerates(p->tolerations, sight->taint),
	};

	if (p->grace_s < 0 || p->grace_s > INT32_MAX)
		return fail(err, size, p, "spec.terminationGracePeriodSeconds: out of range");
	if (pod.terminating && !read_end(p, sight, &pod))
		return fail(err, size, p, "metadata.deletionTimestamp: not a time");
	pod.uid = obj_strndup(uid.p, uid.len);
	pod.ns = obj_strndup(p->ns.p, p->ns.len);
	pod.name = obj_strndup(p->name.p, p->name.len);
	pod.claims = claims_of(p);
	struct drain_pod *place = drain_pods_find(list, pod.uid);
	if (place == NULL) {
		list->pods = obj_realloc(list->pods, (list->n + 1) * sizeof(*list->pods));
		place = &list->pods[list->n++];
	} else {
		pod_end(place);
	}
	*place = pod;
	return true;
}

bool
drain_pods_replace(struct drain_pods *list, struct drain_pods *fresh)
{
	bool changed = list->n != fresh->n;

	for (size_t i = 0; i < fresh->n; i++) {
		struct drain_pod *const pod = &fresh->pods[i];
		const struct drain_pod *const before = drain_pods_find(list, pod->uid);

		if (before == NULL) {
			changed = true;
			continue;
		}
		changed = changed || before->terminating != pod->terminating;
		/* A9: a clock of the server that moves ends no grace period, and extends none. */
		if (before->terminating && pod->terminating
		    && (before->deleted_us == 0 || before->deleted_us == pod->deleted_us))
			pod->ends_ms = before->ends_ms;
		pod->in_flight = before->in_flight;
		pod->failed_until_ms = before->failed_until_ms;
		pod->refused_since_ms = before->refused_since_ms;
		pod->retry_at_ms = before->retry_at_ms;
	}
	drain_pods_free(list);
	*list = *fresh;
	*fresh = (struct drain_pods){ NULL, 0 };
	return changed;
}

struct drain_pod *
drain_pods_find(const struct drain_pods *list, const char *uid)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->pods[i].uid, uid) == 0)
			return &list->pods[i];
	}
	return NULL;
}

void
drain_pods_free(struct drain_pods *list)
{
	for (size_t i = 0; i < list->n; i++)
		pod_end(&list->pods[i]);
	free(list->pods);
	*list = (struct drain_pods){ NULL, 0 };
}

static void
pod_end(struct drain_pod *pod)
{
	free((char *)(uintptr_t)pod->ns);
	free((char *)(uintptr_t)pod->name);
	free((char *)(uintptr_t)pod->uid);
	free((char *)(uintptr_t)pod->claims);
}

/* The claim of a generic ephemeral volume has the names of Pod and volume. */
static char *
claims_of(const struct body_node_pod *p)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];
	wire_rows volumes = p->volumes;
	enum { NAME, CLAIM, EPHEMERAL };
	size_t len = 0, size = 1;

	while (rows_next(&volumes, cells))
		size += cells[CLAIM].len + p->name.len + cells[NAME].len + 2;
	char *const claims = obj_alloc(size);
	volumes = p->volumes;
	while (rows_next(&volumes, cells)) {
		if (cells[CLAIM].len > 0)
			len += (size_t)snprintf(claims + len, size - len, "%.*s\n", (int)cells[CLAIM].len,
			    cells[CLAIM].p);
		else if (cells[EPHEMERAL].len > 0)
			len += (size_t)snprintf(claims + len, size - len, "%.*s-%.*s\n", (int)p->name.len,
			    p->name.p, (int)cells[NAME].len, cells[NAME].p);
	}
	return claims;
}

/* The deletionTimestamp includes the grace period: it is when the Pod should be gone. */
static bool
read_end(const struct body_node_pod *p, const struct drain_sight *sight, struct drain_pod *pod)
{
	const int64_t grace_ms = p->delete_s > 0 && p->delete_s <= INT32_MAX ? p->delete_s * 1000 : 0;

	if (!time_parse(p->deleted.p, p->deleted.len, &pod->deleted_us))
		return false;
	int64_t left_ms = (pod->deleted_us - sight->cluster_us) / 1000;
	/* It cannot have more left than it was given. What has passed counts from now on (A9). */
	if (left_ms < 0 || (grace_ms > 0 && left_ms > grace_ms))
		left_ms = grace_ms;
	pod->ends_ms = sight->now_ms + left_ms;
	return true;
}

static bool
has_daemonset(wire_rows owners)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];
	enum { KIND, CONTROLLER };

	while (rows_next(&owners, cells)) {
		if (cells[CONTROLLER].len > 0 && wire_str_is(cells[KIND], "DaemonSet"))
			return true;
	}
	return false;
}

static bool
is_critical(struct wire_str class)
{
	return wire_str_is(class, "system-cluster-critical") || wire_str_is(class, "system-node-critical");
}

/* An entry with that value; NULL: any. */
static bool
has_entry(wire_map entries, const char *wanted)
{
	struct wire_str key, value;

	while (map_next(&entries, &key, &value)) {
		if (wanted == NULL ? value.len > 0 : wire_str_is(value, wanted))
			return true;
	}
	return false;
}

/* As the scheduler compares it with the taint `key`:NoSchedule, which has no value. */
static bool
tolerates(wire_rows tolerations, const char *key)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];
	enum { KEY, OPERATOR, VALUE, EFFECT };

	while (rows_next(&tolerations, cells)) {
		const bool exists = wire_str_is(cells[OPERATOR], "Exists");
		const bool any_key = cells[KEY].len == 0 && exists;

		if ((cells[EFFECT].len == 0 || wire_str_is(cells[EFFECT], "NoSchedule"))
		    && (any_key || wire_str_is(cells[KEY], key)) && (exists || cells[VALUE].len == 0))
			return true;
	}
	return false;
}

static bool
fail(char *err, size_t size, const struct body_node_pod *p, const char *why)
{
	snprintf(err, size, "Pod %.*s/%.*s: %s", (int)p->ns.len, p->ns.p, (int)p->name.len, p->name.p, why);
	return false;
}
