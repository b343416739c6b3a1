/* actors/vpsie-claimer/wire.c - reads the answers of the VPSie API. */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "actors/provider/reply.h"
#include "obj.h"
#include "request.h"

/* Texts of a list, in pieces that never move. */
struct piece {
	struct piece	*next;
	size_t		 used;
	char		 text[8192];
};

struct vpsie_list {
	uint32_t		 magic;
#define VPSIE_LIST_MAGIC	0x56504c53u
	struct machine		*machines;
	uint32_t		 nmachines, size, nvms;
	struct vpsie_group	*groups;
	uint32_t		 ngroups;
	struct piece		*pieces;
};

static struct machine *add_machine(struct vpsie_list *);
static void read_machine(struct vpsie_list *, const struct reply_at *, struct machine *);
static void read_group(struct vpsie_list *, const struct reply_at *, struct vpsie_group *);
static enum vpsie_page page_end(struct vpsie_list *, const struct reply_at *, uint32_t, uint32_t,
    struct vpsie_answer *);
static bool same_entry(const struct machine *, const struct machine *);
static bool read_nodes(struct vpsie_list *, const struct reply_at *, const char *, struct wire_str, bool);
static struct wire_str keep(struct vpsie_list *, struct wire_str);
static struct wire_str text_of(struct vpsie_list *, const struct reply_at *, const char *);
static int64_t number_of(const struct reply_at *, const char *);
static int64_t time_of(const struct reply_at *, const char *);
static bool flag_of(const struct reply_at *, const char *);

/* ---- Lists ---- */

struct vpsie_list *
vpsie_list_new(void)
{
	struct vpsie_list *l;

	OBJ_NEW(l, VPSIE_LIST_MAGIC);
	return l;
}

void
vpsie_list_free(struct vpsie_list **lp)
{
	struct vpsie_list *l;

	if (*lp == NULL)
		return;
	OBJ_TAKE(l, lp, VPSIE_LIST_MAGIC);
	for (struct piece *p = l->pieces, *next; p != NULL; p = next) {
		next = p->next;
		free(p);
	}
	free(l->machines);
	free(l->groups);
	OBJ_FREE(l);
}

size_t
vpsie_list_count(const struct vpsie_list *l)
{
	return l->nvms;
}

const struct machine *
vpsie_list_machines(const struct vpsie_list *l, uint32_t *n)
{
	*n = l->nmachines;
	return l->machines;
}

const struct vpsie_group *
vpsie_list_group_rows(const struct vpsie_list *l, uint32_t *n)
{
	*n = l->ngroups;
	return l->groups;
}

enum vpsie_page
vpsie_list_vms(struct vpsie_list *l, int status, const char *body, size_t len, struct vpsie_answer *a)
{
	struct reply r;
	struct reply_at data, at;
	enum vpsie_page page = PAGE_FAILED;
	const uint32_t before = l->nmachines;

	/* Nodes of clusters come behind all VMs. */
	MUST(l->nvms == l->nmachines);
	if (vpsie_answer_open(&r, status, body, len, false, a)) {
		const struct reply_at root = reply_root(&r);

		reply_list(&root, "data", REPLY_REQUIRED, &data);
		for (size_t i = 0; reply_element(&data, i, &at) && l->nmachines < VPSIE_MACHINES_MAX; i++)
			read_machine(l, &at, add_machine(l));
		page = page_end(l, &root, before, (uint32_t)reply_count(&data), a);
	} else {
		vpsie_answer_needs_body(a, "data: missing");
	}
	if (!vpsie_answer_close(&r, a))
		page = PAGE_FAILED;
	l->nvms = l->nmachines;
	return page;
}

/* Whether the list goes on. Entries of this page are those from `before` on. */
static enum vpsie_page
page_end(struct vpsie_list *l, const struct reply_at *root, uint32_t before, uint32_t entries,
    struct vpsie_answer *a)
{
	struct reply_at pagination;
	int64_t total = -1;

	reply_i64(root, "total", REPLY_OPTIONAL, &total);
	if (total < 0 && reply_object(root, "pagination", REPLY_OPTIONAL, &pagination))
		reply_i64(&pagination, "total", REPLY_OPTIONAL, &total);
	const bool repeated =
	    before > 0 && entries > 0 && same_entry(&l->machines[0], &l->machines[before]);
	if (l->nmachines >= VPSIE_MACHINES_MAX || total > VPSIE_MACHINES_MAX) {
		reply_fail(root, "data", "more than 100000 entries");
		return PAGE_FAILED;
	}
	if (!repeated && total >= 0 && l->nmachines >= total)
		return PAGE_LAST;
	if (!repeated && total < 0 && entries != VPSIE_PAGE)
		return PAGE_LAST;
	if (!repeated && entries > 0)
		return PAGE_MORE;
	a->verdict = ANSWER_UNUSABLE;
	snprintf(a->message, sizeof(a->message), "the list is truncated: %u entries%s",
	    repeated ? before : l->nmachines, repeated ? ", and the offset is ignored" : "");
	return PAGE_FAILED;
}

static bool
same_entry(const struct machine *a, const struct machine *b)
{
	return a->id == b->id && wire_str_same(a->identifier, b->identifier)
	    && wire_str_same(a->hostname, b->hostname);
}

enum vpsie_page
vpsie_list_vm(struct vpsie_list *l, int status, const char *body, size_t len, struct vpsie_answer *a)
{
	struct reply r;
	struct reply_at data, vm;

	MUST(l->nmachines == 0);
	if (vpsie_answer_open(&r, status, body, len, false, a)) {
		const struct reply_at root = reply_root(&r), *at = &root;

		/* Bare, in the envelope, or wrapped once more inside it. */
		if (reply_object(at, "data", REPLY_OPTIONAL, &data))
			at = &data;
		if (reply_object(at, "vmData", REPLY_OPTIONAL, &vm))
			at = &vm;
		struct machine *const m = add_machine(l);
		read_machine(l, at, m);
		if (m->id == 0 && m->identifier.len == 0)
			reply_fail(at, "id", "missing");
		l->nvms = 1;
	} else {
		vpsie_answer_needs_body(a, "id: missing");
	}
	return vpsie_answer_close(&r, a) ? PAGE_LAST : PAGE_FAILED;
}

enum vpsie_page
vpsie_list_cluster(struct vpsie_list *l, struct wire_str cluster, int status, const char *body, size_t len,
    bool *is_short, struct vpsie_answer *a)
{
	struct reply r;
	struct reply_at data;
	const uint32_t before = l->nmachines;
	bool any = false;

	*is_short = false;
	if (vpsie_answer_open(&r, status, body, len, false, a)) {
		const struct reply_at root = reply_root(&r);
		const struct wire_str kept = keep(l, cluster);

		reply_object(&root, "data", REPLY_REQUIRED, &data);
		any |= read_nodes(l, &data, "nodes", kept, false);
		any |= read_nodes(l, &data, "slaves", kept, false);
		any |= read_nodes(l, &data, "masters", kept, true);
		if (!any && reply_ok(&r))
			reply_fail(&data, "nodes", "missing");
		const int64_t counted = number_of(&data, "slaveCount");
		uint32_t workers = 0;
		for (uint32_t i = before; i < l->nmachines; i++)
			workers += !l->machines[i].master;
		*is_short = workers < counted;
	} else {
		vpsie_answer_needs_body(a, "data: missing");
	}
	if (vpsie_answer_close(&r, a))
		return PAGE_LAST;
	l->nmachines = before;
	return PAGE_FAILED;
}

static bool
read_nodes(struct vpsie_list *l, const struct reply_at *data, const char *member, struct wire_str cluster,
    bool masters)
{
	struct reply_at list, at;
	const char *role;

	if (!reply_list(data, member, REPLY_OPTIONAL, &list))
		return false;
	for (size_t i = 0; reply_element(&list, i, &at) && l->nmachines < VPSIE_MACHINES_MAX; i++) {
		struct machine *const m = add_machine(l);

		read_machine(l, &at, m);
		m->id = 0;
		m->cluster = cluster;
		m->master = masters;
		if (reply_text(&at, "role", REPLY_OPTIONAL, &role))
			m->master |= strcasecmp(role, "master") == 0;
	}
	return true;
}

enum vpsie_page
vpsie_list_groups(struct vpsie_list *l, struct wire_str cluster, int status, const char *body, size_t len,
    struct vpsie_answer *a)
{
	struct reply r;
	struct reply_at data, at;

	if (vpsie_answer_open(&r, status, body, len, false, a)) {
		const struct reply_at root = reply_root(&r);

		const struct wire_str kept = keep(l, cluster);

		reply_list(&root, "data", REPLY_REQUIRED, &data);
		l->groups = obj_realloc(
		    l->groups, (l->ngroups + reply_count(&data) + 1) * sizeof(*l->groups));
		for (size_t i = 0; reply_element(&data, i, &at); i++) {
			read_group(l, &at, &l->groups[l->ngroups]);
			l->groups[l->ngroups++].cluster = kept;
		}
	} else {
		vpsie_answer_needs_body(a, "data: missing");
	}
	return vpsie_answer_close(&r, a) ? PAGE_LAST : PAGE_FAILED;
}

void
vpsie_list_merge(struct vpsie_list *l, uint64_t seed)
{
	void *const memory = obj_alloc(machines_merge_bytes(l->nmachines) + 1);

	l->nmachines = machines_merge(l->machines, l->nvms, l->nmachines, memory, seed);
	free(memory);
}

/* ---- Entries ---- */

static struct machine *
add_machine(struct vpsie_list *l)
{
	if (l->nmachines == l->size) {
		l->size = l->size == 0 ? 64 : l->size + l->size / 2;
		l->machines = obj_realloc(l->machines, l->size * sizeof(*l->machines));
	}
	l->machines[l->nmachines] = (struct machine){ .id = 0 };
	return &l->machines[l->nmachines++];
}

/* Of both lists: neither has all of these. */
static void
read_machine(struct vpsie_list *l, const struct reply_at *at, struct machine *m)
{
	*m = (struct machine){ .id = number_of(at, "id"), .identifier = text_of(l, at, "identifier"),
		.hostname = text_of(l, at, "hostname"), .status = text_of(l, at, "status"),
		.addresses = { text_of(l, at, "default_ip"), text_of(l, at, "private_ip"),
		    text_of(l, at, "ip"), text_of(l, at, "default_ipv6") },
		.datacenter = text_of(l, at, "dcIdentifier"),
		.datacenter_id = number_of(at, "datacenter_id"), .boxsize_id = number_of(at, "boxsize_id"),
		.cpu = number_of(at, "cpu"), .ram = number_of(at, "ram"), .ssd = number_of(at, "ssd"),
		.traffic = number_of(at, "traffic"), .created_us = time_of(at, "created_on"),
		.deleted = flag_of(at, "is_deleted") || flag_of(at, "is_terminated") };
	if (m->hostname.len == 0)
		m->hostname = text_of(l, at, "name");
	if (m->ssd == 0)
		m->ssd = number_of(at, "disk");
}

static void
read_group(struct vpsie_list *l, const struct reply_at *at, struct vpsie_group *g)
{
	*g = (struct vpsie_group){ .id = number_of(at, "id"), .nodes = number_of(at, "nodes_count"),
		.name = text_of(l, at, "group_name"), .identifier = text_of(l, at, "identifier"),
		.is = { .datacenter_id = number_of(at, "datacenter_id"),
		    .boxsize_id = number_of(at, "boxsize_id"), .cpu = number_of(at, "cpu"),
		    .ram = number_of(at, "ram"), .datacenter = text_of(l, at, "dcIdentifier") },
		.created_us = time_of(at, "created_on"), .deleted = flag_of(at, "is_deleted") };
	if (g->id == 0)
		reply_fail(at, "id", "missing");
}

static struct wire_str
keep(struct vpsie_list *l, struct wire_str s)
{
	if (s.len == 0)
		return (struct wire_str){ .p = "" };
	MUST(s.len <= VPSIE_TEXT_MAX);
	if (l->pieces == NULL || sizeof(l->pieces->text) - l->pieces->used < s.len) {
		struct piece *const p = obj_alloc(sizeof(*p));

		p->next = l->pieces;
		l->pieces = p;
	}
	char *const to = l->pieces->text + l->pieces->used;
	memcpy(to, s.p, s.len);
	l->pieces->used += s.len;
	return (struct wire_str){ .p = to, .len = s.len };
}

/* "": absent. */
static struct wire_str
text_of(struct vpsie_list *l, const struct reply_at *at, const char *member)
{
	const char *text = "";

	if (reply_text(at, member, REPLY_OPTIONAL, &text) && strlen(text) > VPSIE_TEXT_MAX) {
		reply_fail(at, member, "longer than 512 bytes");
		text = "";
	}
	return keep(l, wire_str_of(text));
}

/* 0: absent. Nothing that is read here can be negative. */
static int64_t
number_of(const struct reply_at *at, const char *member)
{
	int64_t n = 0;

	if (reply_i64(at, member, REPLY_OPTIONAL, &n) && n < 0) {
		reply_fail(at, member, "negative");
		n = 0;
	}
	return n;
}

/* 0: absent, or an empty text. */
static int64_t
time_of(const struct reply_at *at, const char *member)
{
	const char *text;
	int64_t us = 0;

	if (reply_text(at, member, REPLY_OPTIONAL, &text) && text[0] != '\0')
		reply_time(at, member, REPLY_OPTIONAL, &us);
	return us > 0 ? us : 0;
}

/* 0 and 1; true and false are accepted, too. */
static bool
flag_of(const struct reply_at *at, const char *member)
{
	bool flag = false;

	if (at->json != NULL && json_is_boolean(json_object_get(at->json, member))) {
		reply_flag(at, member, REPLY_OPTIONAL, &flag);
		return flag;
	}
	return number_of(at, member) > 0;
}
