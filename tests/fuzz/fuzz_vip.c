/*
 * tests/fuzz/fuzz_vip.c - any bytes as a hook request of Cluster API.
 *
 * Input: which hook (1 byte), then the body. Rules: what jansson accepts is JSON here, too, depth apart; a
 * request is taken without an error, or refused with one; what is taken has names that can be keys and lies
 * within the body; its answers are JSON and fit.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "actors/vip-claimer/wire.h"
#include "kube/json_check.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_within(struct wire_str s, const char *body, size_t len)
{
	MUST(s.len == 0 || (s.p >= body && s.p + s.len <= body + len));
}

static void
check_name(struct wire_str s)
{
	MUST(s.len <= 253);
	for (uint32_t i = 0; i < s.len; i++)
		MUST(s.p[i] > ' ' && s.p[i] != '/' && s.p[i] != '"' && s.p[i] != '\\');
}

static void
check_answer(const char *text, size_t len)
{
	MUST(len > 0 && len < VIP_ANSWER_MAX && strlen(text) == len);
	json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	MUST(json_is_object(root));
	json_decref(root);
}

static void
check_request(const struct vip_request *q, const char *body, size_t len)
{
	static char buf[VIP_ANSWER_MAX];
	static struct vip_gate g;
	static struct vip_patch_plan p;
	const struct vip_cluster *const c = &q->cluster;
	const struct wire_str texts[] = { c->namespace, c->name, c->uid, c->class_name,
		c->class_namespace, c->host };
	struct vip_input in = { .synced = true, .cluster = *c, .default_port = 6443, .budget_ms = 55000 };

	for (size_t i = 0; i < NITEMS(texts); i++)
		check_within(texts[i], body, len);
	check_name(c->namespace);
	check_name(c->name);
	check_name(c->class_name);
	check_name(c->class_namespace);
	MUST(c->port >= 0 && c->port <= 65535 && q->ntemplates <= VIP_ITEMS_MAX);
	for (unsigned i = 0; i < q->ntemplates; i++) {
		check_within(q->templates[i].uid, body, len);
		MUST(q->templates[i].uid.len > 0 && q->templates[i].depth <= 3);
	}
	vip_gate_plan(&in, &g);
	check_answer(buf, vip_answer_gate(buf, &g));
	vip_patch_plan(&in, &p);
	check_answer(buf, vip_answer_patches(buf, &p, q));
	p.result = VIP_PATCHES_GIVE;
	check_answer(buf, vip_answer_patches(buf, &p, q));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vip_request q;
	size_t at;

	if (size < 1)
		return 0;
	const size_t len = size - 1;
	char *const body = obj_memdup(data + 1, len);
	json_t *const tree = json_loadb(body, len, JSON_DECODE_ANY, NULL);
	const char *const wrong = json_check(body, len, &at);
	MUST(at <= len);
	/* Jansson refuses numbers that no int64_t or double holds, has a larger depth, and ends at a NUL. */
	MUST(tree == NULL || wrong == NULL || strcmp(wrong, "more than 64 brackets deep") == 0
	    || memchr(body, '\0', len) != NULL);

	const bool good = vip_request_read((enum vip_hook)(data[0] % VIP_HOOK_MAX), body, len, &q);
	MUST(good == (q.err[0] == '\0') && (!good || wrong == NULL));
	if (good)
		check_request(&q, body, len);
	json_decref(tree);
	free(body);
	return 0;
}
