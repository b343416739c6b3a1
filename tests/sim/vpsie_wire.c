/*
 * tests/sim/vpsie_wire.c - the requests and answers of vpsie-claimer as a program (sim/test_vpsie_wire.py).
 *
 *	muster-test-vpsie requests URL CLUSTER IDENTIFIER VM GROUP OFFSET
 *		a line for each call: {"call", "method", "path", "type", "body"}; VM 0: by its identifier
 *	muster-test-vpsie read CLUSTER (vms|cluster|groups|vm|added|token|answer STATUS FILE)...
 *		{"answers": [what each means], "machines": [of all lists, merged], "groups": [...]}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/vpsie-claimer/request.h"
#include "actors/vpsie-claimer/wire.h"
#include "json.h"
#include "obj.h"

enum { BODY_MAX = 4 << 20, OUT_MAX = 8 << 20 };

static const char *const calls[VPSIE_CALL_MAX] = {
#define CALL_NAME(ID, method, vms) [CALL_##ID] = #ID,
	VPSIE_CALLS(CALL_NAME)
};

static void
put_text(struct json *j, const char *key, struct wire_str s)
{
	json_strn(j, key, s.p, s.len);
}

static void
print_requests(char **argv)
{
	struct vpsie_base base;
	struct vpsie_request r;
	const struct vpsie_target t = { .cluster = wire_str_of(argv[1]), .identifier = wire_str_of(argv[2]),
		.group_name = wire_str_of("web"), .id = strtoll(argv[3], NULL, 10),
		.group_id = strtoll(argv[4], NULL, 10), .kube_size = 12,
		.offset = strtoll(argv[5], NULL, 10), .client_id = wire_str_of("client-of-the-test"),
		.client_secret = wire_str_of("secret-of-the-test") };

	MUST(vpsie_base_parse(argv[0], &base) == NULL);
	for (unsigned c = 0; c < VPSIE_CALL_MAX; c++) {
		static char out[3 * VPSIE_BODY_MAX];
		struct json j = { .buf = out, .size = sizeof(out) };

		if (vpsie_request(&base, (enum vpsie_call)c, &t, &r) != NULL)
			continue;
		json_open(&j, NULL, '{');
		json_str(&j, "call", calls[c]);
		json_str(&j, "method", r.method);
		json_str(&j, "path", r.path);
		json_str(&j, "type", r.content_type != NULL ? r.content_type : "");
		json_str(&j, "body", r.body);
		json_close(&j, '}');
		MUST(json_end(&j) > 0);
		puts(out);
	}
}

static void
put_answer(struct json *j, const char *kind, const struct vpsie_answer *a)
{
	json_str(j, "kind", kind);
	json_str(j, "verdict", vpsie_verdict_name(a->verdict));
	json_int(j, "code", a->code);
	json_str(j, "message", a->message);
}

/* The answer goes to the reader of its kind; what is read of a list stays in it. */
static void
read_answer(struct json *j, struct vpsie_list *l, struct wire_str cluster, const char *kind, int status,
    const char *file)
{
	static const char *const pages[] = { [PAGE_LAST] = "last", [PAGE_MORE] = "more",
		[PAGE_FAILED] = "failed" };
	static char body[BODY_MAX];
	struct vpsie_answer a;
	struct vpsie_added added;
	char *token = NULL;
	int64_t refresh_us = 0;
	bool is_short = false;
	int page = -1;
	FILE *const f = fopen(file, "r");

	MUST(f != NULL);
	const size_t len = fread(body, 1, sizeof(body), f);
	fclose(f);
	json_open(j, NULL, '{');
	if (strcmp(kind, "vms") == 0) {
		page = (int)vpsie_list_vms(l, status, body, len, &a);
	} else if (strcmp(kind, "cluster") == 0) {
		page = (int)vpsie_list_cluster(l, cluster, status, body, len, &is_short, &a);
		json_bool(j, "short", is_short);
	} else if (strcmp(kind, "groups") == 0) {
		page = (int)vpsie_list_groups(l, wire_str_of("c1"), status, body, len, &a);
	} else if (strcmp(kind, "vm") == 0) {
		page = (int)vpsie_list_vm(l, status, body, len, &a);
	} else if (strcmp(kind, "added") == 0) {
		a = vpsie_added_read(status, body, len, &added);
		json_int(j, "id", added.id);
		json_str(j, "identifier", added.identifier);
		json_str(j, "hostname", added.hostname);
	} else if (strcmp(kind, "token") == 0) {
		a = vpsie_token_read(status, body, len, 0, &token, &refresh_us);
		json_str(j, "token", token != NULL ? token : "");
		json_int(j, "refresh_us", refresh_us);
		vpsie_token_free(&token);
	} else {
		a = vpsie_answer_read(status, body, len);
	}
	if (page >= 0)
		json_str(j, "page", pages[page]);
	put_answer(j, kind, &a);
	json_close(j, '}');
}

static void
put_machines(struct json *j, const struct vpsie_list *l)
{
	uint32_t n;
	const struct machine *const all = vpsie_list_machines(l, &n);

	json_open(j, "machines", '[');
	for (uint32_t i = 0; i < n; i++) {
		const struct machine *const m = &all[i];

		json_open(j, NULL, '{');
		json_int(j, "id", m->id);
		put_text(j, "identifier", m->identifier);
		put_text(j, "hostname", m->hostname);
		put_text(j, "status", m->status);
		put_text(j, "cluster", m->cluster);
		put_text(j, "datacenter", m->datacenter);
		json_open(j, "addresses", '[');
		for (size_t k = 0; k < NITEMS(m->addresses); k++) {
			if (m->addresses[k].len > 0)
				put_text(j, NULL, m->addresses[k]);
		}
		json_close(j, ']');
		json_int(j, "datacenter_id", m->datacenter_id);
		json_int(j, "boxsize_id", m->boxsize_id);
		json_int(j, "cpu", m->cpu);
		json_int(j, "ram", m->ram);
		json_int(j, "ssd", m->ssd);
		json_int(j, "traffic", m->traffic);
		json_int(j, "created_s", m->created_us / 1000000);
		json_bool(j, "master", m->master);
		json_bool(j, "deleted", m->deleted);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
put_groups(struct json *j, const struct vpsie_list *l)
{
	uint32_t n;
	const struct vpsie_group *const all = vpsie_list_group_rows(l, &n);

	json_open(j, "groups", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_int(j, "id", all[i].id);
		json_int(j, "nodes", all[i].nodes);
		put_text(j, "name", all[i].name);
		put_text(j, "identifier", all[i].identifier);
		put_text(j, "datacenter", all[i].is.datacenter);
		json_int(j, "boxsize_id", all[i].is.boxsize_id);
		json_int(j, "cpu", all[i].is.cpu);
		json_int(j, "ram", all[i].is.ram);
		json_int(j, "created_s", all[i].created_us / 1000000);
		json_close(j, '}');
	}
	json_close(j, ']');
}

int
main(int argc, char **argv)
{
	static char out[OUT_MAX];
	struct json j = { .buf = out, .size = sizeof(out) };

	MUST(argc >= 3);
	if (strcmp(argv[1], "requests") == 0) {
		MUST(argc == 8);
		print_requests(argv + 2);
		return 0;
	}
	struct vpsie_list *l = vpsie_list_new();
	json_open(&j, NULL, '{');
	json_open(&j, "answers", '[');
	for (int i = 3; i + 2 < argc; i += 3)
		read_answer(&j, l, wire_str_of(argv[2]), argv[i], (int)strtol(argv[i + 1], NULL, 10),
		    argv[i + 2]);
	json_close(&j, ']');
	vpsie_list_merge(l, 1);
	put_machines(&j, l);
	put_groups(&j, l);
	json_close(&j, '}');
	MUST(json_end(&j) > 0);
	puts(out);
	vpsie_list_free(&l);
	return 0;
}
