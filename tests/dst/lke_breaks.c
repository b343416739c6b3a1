/* tests/dst/lke_breaks.c - redirected calls between files of lke-claimer: the real ones unless broken. */
#include <string.h>

#include "lke-claimer/plan.h"
#include "lke-claimer/tags.h"
#include "obj.h"
#include "runtime_breaks.h"

void __real_lke_plan(const struct lke_plan_input *in, uint32_t *assign, struct lke_plan *out);
void __wrap_lke_plan(const struct lke_plan_input *in, uint32_t *assign, struct lke_plan *out);
size_t __real_lke_tag_value(char *buf, enum lke_tag t, struct wire_str value);
size_t __wrap_lke_tag_value(char *buf, enum lke_tag t, struct wire_str value);
bool __real_lke_tag_list_add(
    struct lke_tag_list *l, enum lke_tag_style style, enum lke_tag t, struct wire_str value);
bool __wrap_lke_tag_list_add(
    struct lke_tag_list *l, enum lke_tag_style style, enum lke_tag t, struct wire_str value);
bool __real_lke_tags_have(const struct wire_str *tags, uint32_t n, enum lke_tag t, struct wire_str name);
bool __wrap_lke_tags_have(const struct wire_str *tags, uint32_t n, enum lke_tag t, struct wire_str name);

static struct wire_str cut(enum lke_tag, struct wire_str);

void
__wrap_lke_plan(const struct lke_plan_input *in, uint32_t *assign, struct lke_plan *out)
{
	struct lke_plan_input broken = *in;

	if (runtime_breaks.first_match && broken.pools > 1)
		broken.pools = 1;
	if (runtime_breaks.stale_list)
		broken.current = broken.settled = broken.settled_list = true;
	__real_lke_plan(&broken, assign, out);
	if (!runtime_breaks.no_intent || out->verb != LKE_INTEND || out->kind != LKE_INTEND_CREATE)
		return;
	broken.intent = LKE_INTENT_READY;
	broken.intent_kind = out->kind;
	broken.intent_count = out->count;
	__real_lke_plan(&broken, assign, out);
}

/* ---- Tags that are cut ---- */

size_t
__wrap_lke_tag_value(char *buf, enum lke_tag t, struct wire_str value)
{
	return __real_lke_tag_value(buf, t, cut(t, value));
}

bool
__wrap_lke_tag_list_add(
    struct lke_tag_list *l, enum lke_tag_style style, enum lke_tag t, struct wire_str value)
{
	return __real_lke_tag_list_add(l, style, t, cut(t, value));
}

bool
__wrap_lke_tags_have(const struct wire_str *tags, uint32_t n, enum lke_tag t, struct wire_str name)
{
	return __real_lke_tags_have(tags, n, t, cut(t, name));
}

static struct wire_str
cut(enum lke_tag t, struct wire_str value)
{
	const uint32_t room = (uint32_t)(LKE_TAG_MAX - strlen(lke_tag_key(t)) - 1);

	if (runtime_breaks.cut_tag && value.len > room)
		value.len = room;
	return value;
}
