/* actors/lke-claimer/answers.c - clusters, pools and instances in answers of the Linode API. */
#include "answers.h"

#include <string.h>

#include "answers_private.h"
#include "obj.h"

enum { COUNT_MAX = 100 * 1000, ENTRY_TAGS_MAX = 512 };

static void read_pool(const struct reply_at *, struct lke_pool *);
static void read_nodes(const struct reply_at *, struct lke_pool *);
static void read_instance(
    const struct reply_at *, const struct lke_snapshot *, struct lke_instance *, bool *);
static void read_cluster(const struct reply_at *, struct lke_cluster *);
static struct lke_tag_set read_tags(const struct reply_at *);

bool
lke_answer_clusters(
    struct lke_body *b, const char *label, struct lke_walk *w, unsigned *found, struct lke_cluster *out)
{
	struct lke_walk walk = *w;
	struct lke_cluster first = *out;
	unsigned n = *found;
	struct reply r;
	struct reply_at root, data, at;

	answer_page(&r, b, &root, &data, &walk);
	for (size_t i = 0; reply_element(&data, i, &at); i++) {
		struct lke_cluster c = { 0 };

		read_cluster(&at, &c);
		/* A filter may match more than the label as it is. */
		if (strcmp(c.label, label) == 0 && n++ == 0)
			first = c;
	}
	if (!answer_end(&r, b))
		return false;
	*w = walk;
	*found = n;
	*out = first;
	return true;
}

bool
lke_answer_cluster(struct lke_body *b, struct lke_cluster *out)
{
	struct lke_cluster c = { 0 };
	struct reply r;

	reply_parse(&r, b->p, b->len);
	const struct reply_at root = reply_root(&r);
	read_cluster(&root, &c);
	if (!answer_end(&r, b))
		return false;
	*out = c;
	return true;
}

bool
lke_answer_pools(struct lke_body *b, struct lke_snapshot *s)
{
	struct lke_walk walk = s->pool_walk;
	struct reply r;
	struct reply_at root, data, at;

	answer_page(&r, b, &root, &data, &walk);
	const size_t n = reply_count(&data);
	struct lke_pool *const pools = obj_alloc((n + 1) * sizeof(*pools));
	for (size_t i = 0; reply_element(&data, i, &at); i++)
		read_pool(&at, &pools[i]);
	const bool good = answer_end(&r, b);
	for (size_t i = 0; i < n; i++) {
		if (good)
			snapshot_put_pool(s, &pools[i]);
		lke_pool_free(&pools[i]);
	}
	free(pools);
	if (good)
		s->pool_walk = walk;
	return good;
}

bool
lke_answer_instances(struct lke_body *b, struct lke_snapshot *s)
{
	struct lke_walk walk = s->instance_walk;
	struct reply r;
	struct reply_at root, data, at;
	size_t ours = 0;

	answer_page(&r, b, &root, &data, &walk);
	const size_t n = reply_count(&data);
	struct lke_instance *const instances = obj_alloc((n + 1) * sizeof(*instances));
	for (size_t i = 0; reply_element(&data, i, &at); i++) {
		bool member;

		read_instance(&at, s, &instances[ours], &member);
		if (member)
			ours++;
		else
			lke_instance_free(&instances[ours]);
	}
	const bool good = answer_end(&r, b);
	for (size_t i = 0; i < ours; i++) {
		if (good)
			snapshot_put_instance(s, &instances[i]);
		lke_instance_free(&instances[i]);
	}
	free(instances);
	if (good) {
		s->instance_walk = walk;
		s->ours += ours;
	}
	return good;
}

bool
lke_answer_pool(struct lke_body *b, struct lke_snapshot *s, int64_t *id)
{
	struct lke_pool p = { 0 };
	struct reply r;

	reply_parse(&r, b->p, b->len);
	const struct reply_at root = reply_root(&r);
	read_pool(&root, &p);
	const bool good = answer_end(&r, b);
	if (good) {
		*id = p.id;
		snapshot_put_pool(s, &p);
	}
	lke_pool_free(&p);
	return good;
}

bool
lke_answer_instance(struct lke_body *b, struct lke_snapshot *s, int64_t *id)
{
	struct lke_instance i = { 0 };
	struct reply r;
	bool member;

	reply_parse(&r, b->p, b->len);
	const struct reply_at root = reply_root(&r);
	read_instance(&root, s, &i, &member);
	const bool good = answer_end(&r, b);
	if (good) {
		*id = i.id;
		/* A PUT in Enterprise may have taken the cluster's own tag: it is ours all the same. */
		snapshot_put_instance(s, &i);
	}
	lke_instance_free(&i);
	return good;
}

/* ---- One object ---- */

static void
read_cluster(const struct reply_at *at, struct lke_cluster *c)
{
	const char *tier = "standard", *status = "", *version = "";

	answer_id(at, "id", REPLY_REQUIRED, &c->id);
	answer_name(at, "label", c->label, sizeof(c->label));
	answer_name(at, "region", c->region, sizeof(c->region));
	reply_text(at, "tier", REPLY_OPTIONAL, &tier);		/* v4 has none */
	reply_text(at, "status", REPLY_OPTIONAL, &status);
	c->ready = strcmp(status, "not_ready") != 0;
	if (reply_text(at, "k8s_version", REPLY_OPTIONAL, &version))
		answer_name(at, "k8s_version", c->k8s_version, sizeof(c->k8s_version));
	if (strcmp(tier, "enterprise") == 0)
		c->tier = LKE_ENTERPRISE;
	else if (strcmp(tier, "standard") != 0)
		reply_fail(at, "tier", "neither standard nor enterprise");
}

static void
read_pool(const struct reply_at *at, struct lke_pool *p)
{
	answer_id(at, "id", REPLY_REQUIRED, &p->id);
	answer_name(at, "type", p->type, sizeof(p->type));
	if (reply_i64(at, "count", REPLY_REQUIRED, &p->count) && (p->count < 0 || p->count > COUNT_MAX))
		reply_fail(at, "count", "out of range");
	p->tags = read_tags(at);
	read_nodes(at, p);
}

/* Enterprise answers an empty list for a while, or null. */
static void
read_nodes(const struct reply_at *at, struct lke_pool *p)
{
	struct reply_at list, node;

	if (!reply_list(at, "nodes", REPLY_OPTIONAL, &list) || reply_count(&list) == 0)
		return;
	if (reply_count(&list) > COUNT_MAX) {
		reply_fail(at, "nodes", "too many");
		return;
	}
	p->nodes = obj_alloc(reply_count(&list) * sizeof(*p->nodes));
	for (size_t i = 0; reply_element(&list, i, &node); i++) {
		struct lke_node *const n = &p->nodes[p->nnodes++];
		const char *status = "";

		answer_name(&node, "id", n->id, sizeof(n->id));
		/* null until the machine is there; the Go SDK makes it 0. */
		if (!answer_id(&node, "instance_id", REPLY_OPTIONAL, &n->instance_id))
			n->instance_id = 0;
		reply_text(&node, "status", REPLY_OPTIONAL, &status);
		n->ready = strcmp(status, "ready") == 0;
	}
}

static void
read_instance(
    const struct reply_at *at, const struct lke_snapshot *s, struct lke_instance *i, bool *member)
{
	int64_t cluster = 0, id;
	const char *status = "", *text;
	bool tagged = false;

	answer_id(at, "id", REPLY_REQUIRED, &i->id);
	answer_name(at, "label", i->label, sizeof(i->label));
	if (reply_text(at, "type", REPLY_OPTIONAL, &text))	/* null after its plan was withdrawn */
		answer_name(at, "type", i->type, sizeof(i->type));
	reply_time(at, "created", REPLY_REQUIRED, &i->created_us);
	reply_text(at, "status", REPLY_REQUIRED, &status);
	i->leaving = strcmp(status, "deleting") == 0;
	answer_id(at, "lke_cluster_id", REPLY_OPTIONAL, &cluster);
	i->tags = read_tags(at);
	for (uint32_t t = 0; t < i->tags.n; t++) {
		if (lke_tag_pool_id(i->tags.tags[t], &id))
			i->pool_id = id;
		else if (lke_tag_cluster_id(i->tags.tags[t], &id) && id == s->cluster_id)
			tagged = true;
	}
	/* One that names another cluster is not ours, whatever its tags are. */
	*member = cluster == s->cluster_id || (cluster == 0 && s->tier == LKE_ENTERPRISE && tagged);
}

static struct lke_tag_set
read_tags(const struct reply_at *at)
{
	struct wire_str tags[ENTRY_TAGS_MAX];
	struct reply_at list;
	uint32_t n = 0;
	const char *text;

	if (!reply_list(at, "tags", REPLY_REQUIRED, &list))
		return (struct lke_tag_set){ 0 };
	if (reply_count(&list) > ENTRY_TAGS_MAX) {
		reply_fail(at, "tags", "too many");
		return (struct lke_tag_set){ 0 };
	}
	while (reply_text_element(&list, n, &text))
		tags[n++] = wire_str_of(text);
	return reply_ok(at->reply) ? tag_set_new(tags, n) : (struct lke_tag_set){ 0 };
}
