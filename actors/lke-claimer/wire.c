/* actors/lke-claimer/wire.c - requests to the Linode API. Pure. */
#include "wire.h"

#include <string.h>

#include "ascii.h"
#include "json.h"
#include "obj.h"
#include "text_buffer.h"

const struct lke_call_row lke_calls[LKE_CALL_MAX] = {
#define LKE_CALL_ROW(ID, name_, bucket_, method_, mutating_, idempotent_)			\
	[LKE_CALL_##ID] = { .name = (name_), .bucket = (bucket_), .method = (method_),		\
		.mutating = (mutating_), .idempotent = (idempotent_) },
	LKE_CALLS(LKE_CALL_ROW)
#undef LKE_CALL_ROW
};

/* Parts of a path: texts, and a letter for each part that the target has. */
static const char *const paths[LKE_CALL_MAX] = {
	[LKE_CALL_FIND_CLUSTER] = "/lke/clusters?P",
	[LKE_CALL_GET_CLUSTER] = "/lke/clusters/C",
	[LKE_CALL_LIST_POOLS] = "/lke/clusters/C/pools?P",
	[LKE_CALL_CREATE_POOL] = "/lke/clusters/C/pools",
	[LKE_CALL_SCALE_POOL] = "/lke/clusters/C/pools/O",
	[LKE_CALL_DELETE_POOL] = "/lke/clusters/C/pools/O",
	[LKE_CALL_DELETE_NODE] = "/lke/clusters/C/nodes/N",
	[LKE_CALL_LIST_INSTANCES] = "/linode/instances?P",
	[LKE_CALL_TAG_INSTANCE] = "/linode/instances/I",
	[LKE_CALL_LIST_TYPES] = "/linode/types?P",
	[LKE_CALL_AVAILABILITY] = "/regions/R/availability",
};

static bool put_part(struct text_buffer *, char, const struct lke_target *);
static bool put_name(struct text_buffer *, const char *);
static void put_tags(struct json *, const struct lke_tag_list *);

size_t
lke_path(char buf[LKE_PATH_SIZE], enum lke_call c, const struct lke_target *t)
{
	struct text_buffer text = { .p = buf, .size = LKE_PATH_SIZE };

	MUST((unsigned)c < LKE_CALL_MAX);
	buf[0] = '\0';
	for (const char *p = paths[c]; *p != '\0'; p++) {
		if (*p < 'A' || *p > 'Z')
			text_putn(&text, p, 1);
		else if (!put_part(&text, *p, t))
			return 0;
	}
	/* A path that has been cut would name something else. */
	return text.len < LKE_PATH_SIZE - 1 ? text.len : 0;
}

size_t
lke_filter_cluster(char buf[LKE_FILTER_SIZE], const char *label)
{
	struct json j = { .buf = buf, .size = LKE_FILTER_SIZE };

	json_open(&j, NULL, '{');
	json_str(&j, "label", label);
	json_close(&j, '}');
	return json_end(&j);
}

size_t
lke_filter_instances(
    char buf[LKE_FILTER_SIZE], enum lke_tier tier, const char *region, int64_t cluster_id)
{
	struct json j = { .buf = buf, .size = LKE_FILTER_SIZE };
	char tag[32];
	struct text_buffer text = { .p = tag, .size = sizeof(tag) };

	text_put(&text, "lke");
	text_put_int(&text, cluster_id);
	json_open(&j, NULL, '{');
	json_str(&j, "region", region);
	/* One key once: of a key that stands twice in an object only the last counts. */
	if (tier == LKE_ENTERPRISE)
		json_str(&j, "tags", tag);
	json_close(&j, '}');
	return json_end(&j);
}

size_t
lke_body_create(char *buf, size_t size, const struct lke_new_pool *p)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_str(&j, "type", p->type);
	json_int(&j, "count", p->count);
	put_tags(&j, p->tags);
	if (p->firewall_id > 0)
		json_int(&j, "firewall_id", p->firewall_id);
	if (p->tier == LKE_ENTERPRISE) {
		if (p->k8s_version[0] != '\0')
			json_str(&j, "k8s_version", p->k8s_version);
		/* A rolling update would replace machines without their claims being asked. */
		json_str(&j, "update_strategy", "on_recycle");
	}
	json_close(&j, '}');
	return json_end(&j);
}

size_t
lke_body_scale(char *buf, size_t size, uint32_t count)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	json_int(&j, "count", count);
	json_close(&j, '}');
	return json_end(&j);
}

size_t
lke_body_tags(char *buf, size_t size, const struct lke_tag_list *tags)
{
	struct json j = { .buf = buf, .size = size };

	json_open(&j, NULL, '{');
	put_tags(&j, tags);
	json_close(&j, '}');
	return json_end(&j);
}

static bool
put_part(struct text_buffer *text, char part, const struct lke_target *t)
{
	const int64_t id = part == 'C' ? t->cluster_id : part == 'O' ? t->pool_id
	    : part == 'I' ? t->instance_id : t->page;

	if (part == 'N')
		return put_name(text, t->node_id);
	if (part == 'R')
		return put_name(text, t->region);
	if (id <= 0)
		return false;
	text_put(text, part == 'P' ? "page=" : "");
	text_put_int(text, id);
	if (part == 'P') {
		text_put(text, "&page_size=");
		text_put_int(text, LKE_PAGE_SIZE);
	}
	return true;
}

/* A name from an answer becomes a part of a path only if it cannot be more than that. */
static bool
put_name(struct text_buffer *text, const char *name)
{
	if (name == NULL || name[0] == '\0' || name[0] == '.')
		return false;
	for (const char *p = name; *p != '\0'; p++) {
		if (!ascii_letter(*p) && !ascii_digit(*p) && *p != '-' && *p != '_' && *p != '.')
			return false;
	}
	text_put(text, name);
	return true;
}

static void
put_tags(struct json *j, const struct lke_tag_list *tags)
{
	json_open(j, "tags", '[');
	for (uint32_t i = 0; i < tags->n; i++)
		json_str(j, NULL, tags->text[i]);
	json_close(j, ']');
}
