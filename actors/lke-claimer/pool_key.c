/* actors/lke-claimer/pool_key.c - a pool key, and what a snapshot has of it. Pure. */
#include "pool_key.h"

#include <string.h>

#include "ascii.h"
#include "kube/time.h"
#include "obj.h"
#include "text_buffer.h"

static const char *const kind_names[] = {
	[LKE_INTEND_CREATE] = "create", [LKE_INTEND_SCALE] = "scale", [LKE_INTEND_DELETE] = "delete",
};

static struct wire_str last_word(struct wire_str *);
static const struct lke_node *node_of(const struct lke_pool *, int64_t);

size_t
lke_key_put(char buf[LKE_KEY_SIZE], struct wire_str nodepool, struct wire_str type)
{
	struct text_buffer text = { .p = buf, .size = LKE_KEY_SIZE };

	if (nodepool.len == 0 || type.len == 0 || (size_t)nodepool.len + type.len + 1 >= LKE_KEY_SIZE)
		return 0;
	text_putn(&text, nodepool.p, nodepool.len);
	text_put(&text, "/");
	text_putn(&text, type.p, type.len);
	return text.len;
}

bool
lke_key_read(struct wire_str key, struct wire_str *nodepool, struct wire_str *type)
{
	const char *const slash = key.len == 0 ? NULL : memchr(key.p, '/', key.len);

	if (slash == NULL || slash == key.p || slash + 1 == key.p + key.len)
		return false;
	*nodepool = (struct wire_str){ key.p, (uint32_t)(slash - key.p) };
	*type = (struct wire_str){ slash + 1, key.len - nodepool->len - 1 };
	return true;
}

unsigned
lke_key_pools(const struct lke_snapshot *s, struct wire_str nodepool, struct wire_str type,
    const struct lke_pool **first)
{
	unsigned found = 0;

	for (size_t i = 0; i < s->npools && found < 2; i++) {
		const struct lke_pool *const p = &s->pools[i];

		if (!wire_str_is(type, p->type)
		    || !lke_tags_have(p->tags.tags, p->tags.n, LKE_TAG_NODEPOOL, nodepool)
		    || !lke_tags_have(p->tags.tags, p->tags.n, LKE_TAG_MANAGED, wire_str_of(LKE_TAG_TRUE)))
			continue;
		if (found++ == 0)
			*first = p;
	}
	return found;
}

uint32_t
lke_pool_members(
    const struct lke_snapshot *s, const struct lke_pool *p, struct lke_member *out, uint32_t most)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->ninstances && n < most; i++) {
		const struct lke_instance *const v = &s->instances[i];
		const struct lke_node *const node = node_of(p, v->id);
		const bool tagged = v->pool_id == p->id && strcmp(v->type, p->type) == 0
		    && lke_tags_have(v->tags.tags, v->tags.n, LKE_TAG_MANAGED, wire_str_of(LKE_TAG_TRUE));

		if (s->tier == LKE_STANDARD && node != NULL)
			out[n++] = (struct lke_member){ v, node->id };
		else if (s->tier == LKE_ENTERPRISE && tagged)
			out[n++] = (struct lke_member){ v, node != NULL ? node->id : v->label };
	}
	return n;
}

unsigned
lke_claim_machines(const struct lke_snapshot *s, struct wire_str claim, const struct lke_instance **first)
{
	unsigned found = 0;

	for (size_t i = 0; i < s->ninstances && found < 2; i++) {
		const struct lke_instance *const v = &s->instances[i];

		if (v->leaving || !lke_tags_have(v->tags.tags, v->tags.n, LKE_TAG_CLAIM, claim))
			continue;
		if (found++ == 0)
			*first = v;
	}
	return found;
}

size_t
lke_intent_put(char buf[LKE_INTENT_SIZE], const struct lke_intent_record *r)
{
	struct text_buffer text = { .p = buf, .size = LKE_INTENT_SIZE };

	MUST((unsigned)r->kind < NITEMS(kind_names));
	text_putn(&text, r->text.p, r->text.len);
	text_put(&text, " ");
	text_put(&text, kind_names[r->kind]);
	text_put(&text, " ");
	text_put_int(&text, r->count);
	return text.len;
}

bool
lke_intent_read(struct wire_str text, struct lke_intent_record *out)
{
	struct wire_str left = text;
	const struct wire_str count = last_word(&left), kind = last_word(&left);
	struct lke_intent_record r = { .text = left };
	int64_t at_us;
	unsigned k = 0;

	const char *const blank = left.len == 0 ? NULL : memchr(left.p, ' ', left.len);
	if (count.len == 0 || count.len > 9 || blank == NULL
	    || !time_parse(left.p, (size_t)(blank - left.p), &at_us))
		return false;
	while (k < NITEMS(kind_names) && !wire_str_is(kind, kind_names[k]))
		k++;
	if (k == NITEMS(kind_names))
		return false;
	r.kind = (enum lke_intent_kind)k;
	for (uint32_t i = 0; i < count.len; i++) {
		if (!ascii_digit(count.p[i]))
			return false;
		r.count = r.count * 10 + (count.p[i] - '0');
	}
	*out = r;
	return true;
}

/* Takes the last word and the blank before it off the text; empty when it has no blank. */
static struct wire_str
last_word(struct wire_str *text)
{
	uint32_t at = text->len;

	while (at > 0 && text->p[at - 1] != ' ')
		at--;
	if (at == 0)
		return (struct wire_str){ "", 0 };
	const struct wire_str word = { text->p + at, text->len - at };
	text->len = at - 1;
	return word;
}

static const struct lke_node *
node_of(const struct lke_pool *p, int64_t instance_id)
{
	for (uint32_t i = 0; i < p->nnodes; i++) {
		if (p->nodes[i].instance_id == instance_id)
			return &p->nodes[i];
	}
	return NULL;
}
