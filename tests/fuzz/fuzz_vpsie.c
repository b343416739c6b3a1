/*
 * tests/fuzz/fuzz_vpsie.c - any bytes as an answer of the VPSie API.
 *
 * Input: what was asked (1 byte), the status (1 byte), then the body. Rules: a list that failed has a verdict
 * that is not good, and adds nothing to the cluster's nodes; what was read keeps the limits; a merged list is
 * never longer; messages are printable; a token is only there with a good answer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "actors/vpsie-claimer/wire.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_message(const struct vpsie_answer *a)
{
	MUST(a->verdict < ANSWER_MAX && strlen(a->message) < sizeof(a->message));
	for (const char *p = a->message; *p != '\0'; p++)
		MUST((unsigned char)*p >= ' ' && *p != 127);
}

static void
check_list(struct vpsie_list *l)
{
	uint32_t before, after, groups;

	vpsie_list_machines(l, &before);
	vpsie_list_merge(l, 7);
	const struct machine *const m = vpsie_list_machines(l, &after);
	const struct vpsie_group *const g = vpsie_list_group_rows(l, &groups);
	MUST(after <= before);
	for (uint32_t i = 0; i < after; i++) {
		MUST(m[i].id >= 0 && m[i].created_us >= 0 && m[i].cpu >= 0 && m[i].ram >= 0);
		MUST(m[i].hostname.len <= VPSIE_TEXT_MAX && m[i].identifier.len <= VPSIE_TEXT_MAX);
	}
	for (uint32_t i = 0; i < groups; i++)
		MUST(g[i].id > 0 && g[i].name.len <= VPSIE_TEXT_MAX);
}

static void
read_lists(unsigned kind, int status, const char *body, size_t len)
{
	struct vpsie_list *l = vpsie_list_new();
	struct vpsie_answer a;
	bool is_short;
	uint32_t n;
	const enum vpsie_page page = kind == 0 ? vpsie_list_vms(l, status, body, len, &a)
	    : kind == 1                        ? vpsie_list_vm(l, status, body, len, &a)
	    : kind == 2
	    ? vpsie_list_groups(l, wire_str_of("c1"), status, body, len, &a)
	    : vpsie_list_cluster(l, wire_str_of("c1"), status, body, len, &is_short, &a);

	check_message(&a);
	MUST((page == PAGE_FAILED) == (a.verdict != ANSWER_GOOD));
	vpsie_list_machines(l, &n);
	MUST(page != PAGE_FAILED || kind != 3 || n == 0);
	if (page == PAGE_LAST)
		check_list(l);
	/* The same page again never makes a complete list of more. */
	if (kind == 0 && page == PAGE_MORE)
		MUST(vpsie_list_vms(l, status, body, len, &a) == PAGE_FAILED);
	vpsie_list_free(&l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 200, 204, 400, 401, 403, 404, 408, 429, 500, 502 };
	struct vpsie_added added;
	char *token;
	int64_t refresh_us = 0;

	if (size < 2)
		return 0;
	const int status = statuses[data[1] % NITEMS(statuses)];
	char *const body = obj_memdup(data + 2, size - 2);
	struct vpsie_answer a;
	switch (data[0] % 6) {
	case 4:
		a = vpsie_added_read(status, body, size - 2, &added);
		check_message(&a);
		MUST(a.verdict == ANSWER_GOOD || (added.id == 0 && added.identifier[0] == '\0'));
		break;
	case 5:
		a = vpsie_token_read(status, body, size - 2, 1000000, &token, &refresh_us);
		check_message(&a);
		MUST((token != NULL) == (a.verdict == ANSWER_GOOD));
		MUST(token == NULL || refresh_us > 1000000);
		vpsie_token_free(&token);
		break;
	default:
		read_lists(data[0] % 6, status, body, size - 2);
	}
	free(body);
	return 0;
}
