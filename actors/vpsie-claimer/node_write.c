/* actors/vpsie-claimer/node_write.c - the writes of a VPSieNode and its Node, all with resourceVersion. */
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "kube/time.h"
#include "obj.h"
#include "random.h"
#include "stat.h"
#include "watermark.h"

static void put_status(struct json *, struct vpsienode_view *, const struct vpsie_step *);
static void put_intent(struct json *, struct vpsienode_view *);
static void put_withdrawal(struct json *);
static void put_binding(struct json *, struct vpsienode_view *);
static void put_labels(struct json *, const struct vpsienode_view *);
static void write_node(struct vpsienode_view *, enum op, struct reconcile_write *);
static void count_discovery(const struct vpsienode_view *);
static void copy_text(char *, size_t, struct wire_str);

/* Label of a Node, without the prefix, and its value; "": it is left out. */
struct node_label {
	const char	*name;
	struct wire_str	 value;
};
enum { NODE_LABELS = 6 };

static void labels_of(const struct vpsienode_view *, struct node_label[NODE_LABELS]);

bool
vpsie_node_write(struct vpsienode_view *v, const struct vpsie_step *s, struct reconcile_step *step)
{
	struct json j = { .buf = v->c->r.body, .size = sizeof(v->c->r.body) };
	struct reconcile_write *const w = &step->write;

	w->op = OP_MERGE;
	copy_text(w->rv, sizeof(w->rv), v->object.rv);
	if (v->now[0] == '\0')
		return false;
	json_open(&j, NULL, '{');
	switch (s->verb) {
	case VPSIE_HOLD:
	case VPSIE_RELEASE:
		json_open(&j, "metadata", '{');
		body_finalizers(
		    &j, v->body.vpsie_node.finalizers, VPSIE_NODE_FINALIZER, s->verb == VPSIE_HOLD);
		json_close(&j, '}');
		break;
	case VPSIE_MOVE:
	case VPSIE_STATUS:
		w->subresource = "status";
		put_status(&j, v, s);
		break;
	case VPSIE_INTEND:
		put_intent(&j, v);
		break;
	case VPSIE_WITHDRAW:
		put_withdrawal(&j);
		break;
	case VPSIE_BIND:
		put_binding(&j, v);
		break;
	case VPSIE_LABEL:
		write_node(v, OP_MERGE, w);
		put_labels(&j, v);
		break;
	case VPSIE_UNJOIN:
		step->destroys = true;
		write_node(v, OP_DELETE, w);
		break;
	default:
		MUST(false);
	}
	json_close(&j, '}');
	w->body_len = json_end(&j);
	MUST(w->body_len > 0);
	if (w->op == OP_DELETE)
		w->body_len = 0;
	return true;
}

static void
put_status(struct json *j, struct vpsienode_view *v, const struct vpsie_step *s)
{
	struct node_status desired;

	vpsie_status_desire(&v->stored,
	    &(struct status_input){ .next = s->next,
		.reason = s->verb == VPSIE_MOVE ? s->reason : NULL,
		.message = s->message,
		.generation = v->body.vpsie_node.generation,
		.now = wire_str_of(v->now),
		.machine = v->machine,
		.node = v->facts.node && v->facts.labelled ? v->fact->name : wire_str_of(""),
		.node_ready = v->facts.node_ready,
		.error_reason = v->error_reason,
		.error = v->error },
	    &desired);
	vpsie_status_put(j, &desired);
}

/* D10: time and watermark are in the object before the request leaves. */
static void
put_intent(struct json *j, struct vpsienode_view *v)
{
	struct vpsie_claimer *const c = v->c;
	const struct discover_result *result;
	const struct discover_input *const in = vpsie_matching_input(c, &result);
	struct watermark *const mark = obj_alloc(sizeof(*mark));
	char text[WATERMARK_TEXT_MAX];
	uint64_t unique;

	random_secret(&unique, sizeof(unique));
	intent_begin(&v->claim->intent, call_effects_lease(&c->calls), v->cluster_us, unique);
	v->claim->refused = v->claim->capacity = false;
	watermark_take(in->machines, result->owners, in->nmachines, v->cluster, mark);
	watermark_print(mark, text);
	free(mark);
	json_open(j, "metadata", '{');
	json_open(j, "annotations", '{');
	json_str(j, VPSIE_GROUP "/" ANNOTATION_REQUESTED, "true");
	json_str(j, VPSIE_GROUP "/" ANNOTATION_REQUEST, v->claim->intent.text);
	json_str(j, VPSIE_GROUP "/" ANNOTATION_WATERMARK, text);
	json_close(j, '}');
	json_close(j, '}');
}

static void
put_withdrawal(struct json *j)
{
	json_open(j, "metadata", '{');
	json_open(j, "annotations", '{');
	json_str(j, VPSIE_GROUP "/" ANNOTATION_REQUESTED, NULL);
	json_str(j, VPSIE_GROUP "/" ANNOTATION_REQUEST, NULL);
	json_str(j, VPSIE_GROUP "/" ANNOTATION_WATERMARK, NULL);
	json_close(j, '}');
	json_close(j, '}');
}

/* From now on it counts as bound: another key is not given the same machine while this is in flight. */
static void
put_binding(struct json *j, struct vpsienode_view *v)
{
	const struct body_vpsie_node *const b = &v->body.vpsie_node;
	struct vpsienode_claim *const claim = v->claim;
	const struct wire_str identifier = vpsie_node_view_identifier(v);
	const int64_t id = vpsie_node_view_id(v);
	struct wire_str address = { "", 0 }, address6 = { "", 0 };

	if (v->machine != NULL) {
		vpsie_machine_address(v->machine, &address);
		address6 = vpsie_machine_address6(v->machine);
	}
	if (v->facts.found && v->c->r.leading)
		count_discovery(v);
	json_open(j, "spec", '{');
	if (id > 0)
		json_int(j, "vpsieInstanceID", id);
	if (identifier.len > 0)
		body_text(j, "vpsieNodeIdentifier", identifier);
	if (address.len > 0)
		body_text(j, "ipAddress", address);
	if (address6.len > 0)
		body_text(j, "ipv6Address", address6);
	if (b->group_id <= 0 && v->group_id > 0)
		json_int(j, "vpsieGroupID", v->group_id);
	json_close(j, '}');
	if (b->id <= 0 && b->identifier.len == 0 && !claim->made) {
		claim->bind_id = id;
		copy_text(claim->bind_identifier, sizeof(claim->bind_identifier), identifier);
		copy_text(claim->bind_rv, sizeof(claim->bind_rv), v->object.rv);
		vpsie_matching_changed(v->c);
	}
}

static void
count_discovery(const struct vpsienode_view *v)
{
	struct wire_str text;
	int64_t requested_us = 0;
	char label[64];

	snprintf(label, sizeof(label), "outcome=\"%s\"",
	    v->machine != NULL ? discover_reason_name(v->how) : "answer");
	stat_add(stat_get(STAT_VPSIE_DISCOVERY, label), 1);
	if (!map_get(v->body.vpsie_node.annotations, ANNOTATION_REQUEST, &text))
		return;
	const char *const blank = memchr(text.p, ' ', text.len);
	if (time_parse(text.p, blank != NULL ? (size_t)(blank - text.p) : text.len, &requested_us))
		stat_observe(stat_get(STAT_VPSIE_DISCOVERY_TIME, ""),
		    (double)(v->cluster_us - requested_us) / 1e6);
}

/* ---- The Node ---- */

static void
write_node(struct vpsienode_view *v, enum op op, struct reconcile_write *w)
{
	w->kind = VPSIE_KIND_CLUSTER_NODES;
	w->op = op;
	w->ns[0] = '\0';
	copy_text(w->name, sizeof(w->name), v->fact->name);
	copy_text(w->uid, sizeof(w->uid), v->written.uid);
	copy_text(w->rv, sizeof(w->rv), op == OP_DELETE ? wire_str_of("") : v->written.rv);
}

static void
labels_of(const struct vpsienode_view *v, struct node_label out[NODE_LABELS])
{
	struct wire_str ns, name;

	vpsie_key_split(v->work->key, &ns, &name);
	out[0] = (struct node_label){ "managed", wire_str_of("true") };
	out[1] = (struct node_label){ "nodegroup", v->body.vpsie_node.group };
	out[2] = (struct node_label){ "nodegroup-namespace", ns };
	out[3] = (struct node_label){ "vpsienode", name };
	out[4] = (struct node_label){ LABEL_UID, v->object.uid };
	out[5] = (struct node_label){ "datacenter", v->datacenter };
	for (size_t i = 0; i < NODE_LABELS; i++) {
		if (out[i].value.len > VPSIE_LABEL_MAX)
			out[i].value = wire_str_of("");
	}
}

bool
vpsie_node_labelled(const struct vpsienode_view *v, struct wire_map labels)
{
	struct node_label want[NODE_LABELS];
	struct wire_str value;

	labels_of(v, want);
	for (size_t i = 0; i < NODE_LABELS; i++) {
		if (want[i].value.len > 0
		    && (!map_get(labels, want[i].name, &value) || !wire_str_same(value, want[i].value)))
			return false;
	}
	return true;
}

bool
vpsie_node_claimed(const struct vpsienode_view *v, struct wire_map labels)
{
	struct wire_str ns, name, value;

	vpsie_key_split(v->work->key, &ns, &name);
	if (!map_get(labels, "vpsienode", &value))
		return false;
	return !wire_str_same(value, name)
	    || (map_get(labels, "nodegroup-namespace", &value) && !wire_str_same(value, ns))
	    || (map_get(labels, LABEL_UID, &value) && !wire_str_same(value, v->object.uid));
}

/* D13: all in one patch. */
static void
put_labels(struct json *j, const struct vpsienode_view *v)
{
	struct node_label want[NODE_LABELS];
	char name[96];

	labels_of(v, want);
	json_open(j, "metadata", '{');
	json_open(j, "labels", '{');
	for (size_t i = 0; i < NODE_LABELS; i++) {
		snprintf(name, sizeof(name), VPSIE_GROUP "/%s", want[i].name);
		if (want[i].value.len > 0)
			body_text(j, name, want[i].value);
	}
	json_close(j, '}');
	json_close(j, '}');
}

static void
copy_text(char *buf, size_t size, struct wire_str s)
{
	snprintf(buf, size, "%.*s", (int)s.len, s.len > 0 ? s.p : "");
}
