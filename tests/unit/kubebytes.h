/*
 * tests/unit/kubebytes.h - the protobuf that a real apiserver would send for an object that is
 * given as JSON.
 *
 * An encoder of its own, from the field numbers of k8s.io/api generated.proto: it shares nothing
 * with the readers under test. Like Go's encoders it writes the fields that are empty, and sorts
 * nothing.
 */
#ifndef MUSTER_TEST_KUBEBYTES_H
#define MUSTER_TEST_KUBEBYTES_H

#include <jansson.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"

struct bytes {
	uint8_t	*p;
	size_t	 len, size;
};

/* s text, i integer, b bool, t Time, m map of texts, q map of quantities; else the name of a message. */
static const struct kube_field {
	const char	*message, *name;
	uint32_t	 number;
	const char	*type;
} kube_fields[] = {
	{ "Node", "metadata", 1, "ObjectMeta" }, { "Node", "spec", 2, "NodeSpec" }, { "Node", "status", 3, "NodeStatus" },
	{ "ObjectMeta", "name", 1, "s" }, { "ObjectMeta", "generateName", 2, "s" }, { "ObjectMeta", "namespace", 3, "s" },
	{ "ObjectMeta", "selfLink", 4, "s" }, { "ObjectMeta", "uid", 5, "s" }, { "ObjectMeta", "resourceVersion", 6, "s" },
	{ "ObjectMeta", "generation", 7, "i" }, { "ObjectMeta", "creationTimestamp", 8, "t" },
	{ "ObjectMeta", "deletionTimestamp", 9, "t" }, { "ObjectMeta", "labels", 11, "m" },
	{ "ObjectMeta", "annotations", 12, "m" }, { "ObjectMeta", "ownerReferences", 13, "OwnerReference" },
	{ "ObjectMeta", "finalizers", 14, "[s" }, { "ObjectMeta", "managedFields", 17, "ManagedFieldsEntry" },
	{ "OwnerReference", "kind", 1, "s" }, { "OwnerReference", "name", 3, "s" }, { "OwnerReference", "uid", 4, "s" },
	{ "OwnerReference", "apiVersion", 5, "s" }, { "OwnerReference", "controller", 6, "b" },
	{ "ManagedFieldsEntry", "manager", 1, "s" }, { "ManagedFieldsEntry", "operation", 2, "s" },
	{ "ManagedFieldsEntry", "apiVersion", 3, "s" }, { "ManagedFieldsEntry", "time", 4, "t" },
	{ "ManagedFieldsEntry", "fieldsType", 6, "s" }, { "ManagedFieldsEntry", "fieldsV1", 7, "FieldsV1" },
	{ "NodeSpec", "podCIDR", 1, "s" }, { "NodeSpec", "externalID", 2, "s" }, { "NodeSpec", "providerID", 3, "s" },
	{ "NodeSpec", "unschedulable", 4, "b" }, { "NodeSpec", "taints", 5, "Taint" }, { "NodeSpec", "podCIDRs", 7, "[s" },
	{ "Taint", "key", 1, "s" }, { "Taint", "value", 2, "s" }, { "Taint", "effect", 3, "s" }, { "Taint", "timeAdded", 4, "t" },
	{ "NodeStatus", "capacity", 1, "q" }, { "NodeStatus", "allocatable", 2, "q" }, { "NodeStatus", "phase", 3, "s" },
	{ "NodeStatus", "conditions", 4, "NodeCondition" }, { "NodeStatus", "addresses", 5, "NodeAddress" },
	{ "NodeStatus", "nodeInfo", 7, "NodeSystemInfo" }, { "NodeStatus", "images", 8, "ContainerImage" },
	{ "NodeCondition", "type", 1, "s" }, { "NodeCondition", "status", 2, "s" },
	{ "NodeCondition", "lastHeartbeatTime", 3, "t" }, { "NodeCondition", "lastTransitionTime", 4, "t" },
	{ "NodeCondition", "reason", 5, "s" }, { "NodeCondition", "message", 6, "s" },
	{ "NodeAddress", "type", 1, "s" }, { "NodeAddress", "address", 2, "s" },
	{ "NodeSystemInfo", "machineID", 1, "s" }, { "NodeSystemInfo", "kernelVersion", 4, "s" },
	{ "ContainerImage", "names", 1, "[s" }, { "ContainerImage", "sizeBytes", 2, "i" },
	{ "Pod", "metadata", 1, "ObjectMeta" }, { "Pod", "spec", 2, "PodSpec" }, { "Pod", "status", 3, "PodStatus" },
	{ "PodSpec", "nodeName", 10, "s" }, { "PodSpec", "priority", 25, "i" }, { "PodSpec", "hostNetwork", 11, "b" },
	{ "PodStatus", "phase", 1, "s" }, { "PodStatus", "message", 3, "s" },
	{ "Namespace", "metadata", 1, "ObjectMeta" },
	{ "PartialObjectMetadata", "metadata", 1, "ObjectMeta" },
	{ "ListMeta", "resourceVersion", 2, "s" }, { "ListMeta", "continue", 3, "s" },
	{ "Status", "metadata", 1, "ListMeta" }, { "Status", "status", 2, "s" }, { "Status", "message", 3, "s" },
	{ "Status", "reason", 4, "s" }, { "Status", "details", 5, "StatusDetails" }, { "Status", "code", 6, "i" },
	{ "StatusDetails", "name", 1, "s" }, { "StatusDetails", "group", 2, "s" }, { "StatusDetails", "kind", 3, "s" },
	{ "StatusDetails", "causes", 4, "StatusCause" }, { "StatusDetails", "retryAfterSeconds", 5, "i" },
	{ "StatusCause", "reason", 1, "s" }, { "StatusCause", "message", 2, "s" }, { "StatusCause", "field", 3, "s" },
};

/* JSON that can be read here: 'text' for "text". The answer is good for the next seven calls. */
static inline const char *
json_text(const char *single)
{
	static char bufs[8][8192];
	static unsigned turn;
	char *text = bufs[turn++ % NITEMS(bufs)];
	const size_t len = strlen(single);

	MUST(len < sizeof(bufs[0]));
	for (size_t i = 0; i <= len; i++)
		text[i] = single[i] == '\'' ? '"' : single[i];
	return text;
}

static inline void
bytes_add(struct bytes *b, const void *p, size_t len)
{
	if (b->len + len > b->size) {
		b->size = (b->len + len) * 2 + 64;
		b->p = obj_realloc(b->p, b->size);
	}
	if (len > 0)	/* the text of a null has no address */
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

static inline void
bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

static inline void
bytes_varint(struct bytes *b, uint64_t v)
{
	do {
		const uint8_t byte = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

		bytes_add(b, &byte, 1);
		v >>= 7;
	} while (v > 0);
}

static inline void
bytes_int(struct bytes *b, uint32_t number, int64_t v)
{
	bytes_varint(b, (uint64_t)number << 3);
	bytes_varint(b, (uint64_t)v);
}

static inline void
bytes_field(struct bytes *b, uint32_t number, const void *p, size_t len)
{
	bytes_varint(b, (uint64_t)number << 3 | 2);
	bytes_varint(b, len);
	bytes_add(b, p, len);
}

static inline void
bytes_text(struct bytes *b, uint32_t number, const char *text)
{
	bytes_field(b, number, text, strlen(text));
}

/* Takes what is inside. */
static inline void
bytes_message(struct bytes *b, uint32_t number, struct bytes *inside)
{
	bytes_field(b, number, inside->p == NULL ? (const uint8_t *)"" : inside->p, inside->len);
	bytes_free(inside);
}

static inline void kube_encode(struct bytes *b, const char *message, const json_t *object);

static inline void
kube_encode_map(struct bytes *b, uint32_t number, bool quantities, json_t *map)
{
	for (void *at = json_object_iter(map); at != NULL; at = json_object_iter_next(map, at)) {
		struct bytes entry = { 0 }, quantity = { 0 };
		const json_t *value = json_object_iter_value(at);

		bytes_text(&entry, 1, json_object_iter_key(at));
		if (quantities) {
			bytes_text(&quantity, 1, json_string_value(value));
			bytes_message(&entry, 2, &quantity);
		} else {
			bytes_field(&entry, 2, json_string_value(value), json_string_length(value));
		}
		bytes_message(b, number, &entry);
	}
}

static inline void
kube_encode_time(struct bytes *b, uint32_t number, const json_t *text)
{
	struct bytes time = { 0 };
	int64_t us;

	if (json_is_string(text)) {
		MUST(time_parse(json_string_value(text), json_string_length(text), &us));
		bytes_int(&time, 1, us / 1000000);
		bytes_int(&time, 2, 0);
	}
	bytes_message(b, number, &time);
}

static inline void
kube_encode_value(struct bytes *b, const struct kube_field *f, json_t *v)
{
	const char type = f->type[0] == '[' ? f->type[1] : f->type[0];

	if (json_is_array(v)) {
		for (size_t i = 0; i < json_array_size(v); i++)
			kube_encode_value(b, f, json_array_get(v, i));
	} else if (type == 's') {
		bytes_field(b, f->number, json_string_value(v), json_string_length(v));
	} else if (type == 'i') {
		bytes_int(b, f->number, json_integer_value(v));
	} else if (type == 'b') {
		bytes_int(b, f->number, json_is_true(v));
	} else if (type == 't') {
		kube_encode_time(b, f->number, v);
	} else if (type == 'm' || type == 'q') {
		kube_encode_map(b, f->number, type == 'q', v);
	} else if (strcmp(f->type, "FieldsV1") == 0) {	/* {1: its JSON as bytes} */
		struct bytes raw = { 0 };
		char *text = json_dumps(v, JSON_COMPACT);

		bytes_text(&raw, 1, text);
		bytes_message(b, f->number, &raw);
		free(text);
	} else {
		struct bytes inside = { 0 };

		kube_encode(&inside, f->type, v);
		bytes_message(b, f->number, &inside);
	}
}

static inline void
kube_encode(struct bytes *b, const char *message, const json_t *object)
{
	for (size_t i = 0; i < NITEMS(kube_fields); i++) {
		const struct kube_field *f = &kube_fields[i];
		json_t *value = json_object_get(object, f->name);

		if (strcmp(f->message, message) != 0)
			continue;
		if (value != NULL && !json_is_null(value))
			kube_encode_value(b, f, value);
		else if (strcmp(f->type, "s") == 0)
			bytes_text(b, f->number, "");
		else if (strcmp(f->type, "i") == 0 || strcmp(f->type, "b") == 0)
			bytes_int(b, f->number, 0);
		else if (strcmp(f->type, "t") == 0)
			kube_encode_time(b, f->number, NULL);
	}
}

/* `k8s\0` and runtime.Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: raw}; takes raw. */
static inline struct bytes
kube_wrap(const char *version, const char *kind, struct bytes *raw)
{
	struct bytes b = { 0 }, type = { 0 };

	bytes_add(&b, "k8s\0", 4);
	bytes_text(&type, 1, version);
	bytes_text(&type, 2, kind);
	bytes_message(&b, 1, &type);
	bytes_message(&b, 2, raw);
	bytes_text(&b, 3, "");
	bytes_text(&b, 4, "");
	return b;
}

/* {1: type, 2: RawExtension{1: raw}}; takes object. */
static inline struct bytes
kube_event(const char *type, struct bytes *object)
{
	struct bytes b = { 0 }, extension = { 0 };

	bytes_text(&b, 1, type);
	bytes_message(&extension, 1, object);
	bytes_message(&b, 2, &extension);
	return b;
}

/* An object of kind `message`, from its JSON (json_text's). */
static inline struct bytes
kube_object(const char *message, const char *text)
{
	struct bytes b = { 0 };
	json_error_t err;
	json_t *object = json_loads(json_text(text), JSON_ALLOW_NUL, &err);

	MUST(object != NULL);
	kube_encode(&b, message, object);
	json_decref(object);
	return b;
}

#endif
