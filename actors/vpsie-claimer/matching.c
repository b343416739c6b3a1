/*
 * actors/vpsie-claimer/matching.c - the matching of discover.h over mirrors and the last list. It is made
 * anew when an input has changed, at the next question; texts of mirrors are copied, since mirrors move.
 */
#include <string.h>

#include "vpsie.h"
#include "kube/time.h"
#include "obj.h"
#include "random.h"
#include "watermark.h"

enum { CHUNK_BYTES = 64 * 1024, ALIGN = 16 };

struct chunk {
	struct chunk	*next;
	size_t		 size, used;
	_Alignas(ALIGN) char data[];
};

struct vpsie_matching {
	bool				 valid;
	uint64_t			 seed;
	struct chunk			*chunks;
	struct keytab			*index;		/* key of a VPSieNode -> uint32_t */
	struct keytab			*came;		/* key of a Node -> uint64_t: lists that had begun */
	struct discover_vpsienode	*vpsienodes;
	struct discover_fact		*facts;
	uint32_t			 vpsienodes_room, facts_room;
	struct machine_group		*groups;
	struct discover_input		 in;
	struct discover_result		 result;
	void				*memory;
	struct vpsie_claimer			*c;
};

static void build(struct vpsie_claimer *);
static void add_object(const struct change *, void *);
static void add_vpsienode(struct vpsie_matching *, const struct change *);
static void add_fact(const struct change *, void *);
static void add_request(struct vpsie_matching *, const struct body_vpsie_node *, struct discover_vpsienode *);
static bool is_unsent(struct vpsie_matching *, uint32_t, const struct body_vpsie_node *);
static int64_t late_until(const struct vpsie_matching *, uint32_t, const struct body_vpsie_node *);
static uint32_t group_index(struct vpsie_claimer *, int64_t);
static void *take(struct vpsie_matching *, size_t);
static struct wire_str copy(struct vpsie_matching *, struct wire_str);
static void release(struct vpsie_matching *);

struct vpsie_matching *
vpsie_matching_new(void)
{
	struct vpsie_matching *const m = obj_alloc(sizeof(*m));

	random_secret(&m->seed, sizeof(m->seed));
	m->index = keytab_new(sizeof(uint32_t));
	m->came = keytab_new(sizeof(uint64_t));
	return m;
}

void
vpsie_matching_free(struct vpsie_matching **mp)
{
	struct vpsie_matching *const m = *mp;

	if (m == NULL)
		return;
	release(m);
	keytab_free(&m->index);
	keytab_free(&m->came);
	free(m->vpsienodes);
	free(m->facts);
	free(m->groups);
	free(m->memory);
	free(m);
	*mp = NULL;
}

void
vpsie_matching_node_gone(struct vpsie_claimer *c, const char *key, size_t len)
{
	vpsie_forget(c->matching->came, key, len);
}

void
vpsie_matching_changed(struct vpsie_claimer *c)
{
	c->matching->valid = false;
}

const struct discover_input *
vpsie_matching_input(struct vpsie_claimer *c, const struct discover_result **result)
{
	if (!c->matching->valid)
		build(c);
	*result = &c->matching->result;
	return &c->matching->in;
}

uint32_t
vpsie_matching_find(struct vpsie_claimer *c, const char *key)
{
	const uint32_t id = keytab_find(c->matching->index, key, strlen(key));

	return id == KEYTAB_NONE ? DISCOVER_NONE : *(uint32_t *)keytab_value(c->matching->index, id);
}

void
vpsie_matching_group(struct vpsie_claimer *c, struct wire_str ns, const struct body_vpsie_node *b,
    struct wire_str *cluster, struct wire_str *datacenter, int64_t *group_id)
{
	char key[OBJECT_KEY_MAX + 1], space[64], name[254];
	struct change found;
	union msg_body value;

	*cluster = b->cluster;
	*datacenter = b->datacenter;
	*group_id = b->group_id;
	snprintf(space, sizeof(space), "%.*s", (int)ns.len, ns.p);
	snprintf(name, sizeof(name), "%.*s", (int)b->group.len, b->group.p);
	if (!object_key(key, sizeof(key), NODE_GROUPS, space, name)
	    || !actor_read(c->r.actor, LINK_KUBE_VPSIE, key, strlen(key), &found, &value))
		return;
	if (cluster->len == 0)
		*cluster = value.node_group.cluster;
	if (datacenter->len == 0)
		*datacenter = value.node_group.datacenter;
	if (*group_id <= 0)
		*group_id = value.node_group.group_id;
}

/* ---- Input ---- */

static void
build(struct vpsie_claimer *c)
{
	struct vpsie_matching *const m = c->matching;
	uint32_t ngroups = 0, nmachines = 0;

	release(m);
	keytab_free(&m->index);
	m->index = keytab_new(sizeof(uint32_t));
	m->c = c;
	m->in = (struct discover_input){ .skew_us = c->set.skew_ms * 1000, .seed = m->seed };
	if (c->machines != NULL) {
		const struct vpsie_group *const rows = vpsie_list_group_rows(c->machines, &ngroups);

		m->in.machines = vpsie_list_machines(c->machines, &nmachines);
		free(m->groups);
		m->groups = obj_alloc((ngroups + 1) * sizeof(*m->groups));
		for (uint32_t i = 0; i < ngroups; i++)
			m->groups[i] = rows[i].is;
	}
	m->in.groups = m->groups;
	m->in.ngroups = ngroups;
	m->in.nmachines = nmachines;
	actor_each(c->r.actor, LINK_KUBE_VPSIE, add_object, m);
	actor_each(c->r.actor, LINK_FACTS, add_fact, m);
	m->in.vpsienodes = m->vpsienodes;
	m->in.facts = m->facts;
	for (uint32_t i = 0; i < m->in.nvpsienodes; i++) {
		struct discover_vpsienode *const v = &m->vpsienodes[i];

		/* `group` holds the platform's id until here: NodeGroups are read after the walk. */
		v->group = v->group == DISCOVER_NONE ? DISCOVER_NONE : group_index(c, (int64_t)v->group);
	}
	free(m->memory);
	m->memory = obj_alloc(discover_bytes(&m->in) + 1);
	discover(&m->in, m->memory, &m->result);
	m->valid = true;
}

static void
add_object(const struct change *change, void *arg)
{
	if (change->type == MSG_VPSIE_NODE)
		add_vpsienode(arg, change);
}

static void
add_vpsienode(struct vpsie_matching *m, const struct change *change)
{
	const struct body_vpsie_node *const b = &change->value->vpsie_node;
	const struct wire_str key = copy(m, change->key);
	const uint32_t claim_id = keytab_find(m->c->claims, key.p, key.len);
	const enum vpsie_phase phase = vpsie_phase_of(b->phase);
	struct wire_str cluster, datacenter, ns, name, requested;
	int64_t group_id;

	if (m->in.nvpsienodes == m->vpsienodes_room) {
		m->vpsienodes_room = m->vpsienodes_room * 2 + 64;
		m->vpsienodes = realloc(m->vpsienodes, m->vpsienodes_room * sizeof(*m->vpsienodes));
		MUST(m->vpsienodes != NULL);
	}
	vpsie_key_split(key.p, &ns, &name);
	vpsie_matching_group(m->c, ns, b, &cluster, &datacenter, &group_id);
	struct discover_vpsienode *const v = &m->vpsienodes[m->in.nvpsienodes];
	*v = (struct discover_vpsienode){ .namespace = ns, .name = name, .uid = copy(m, change->uid),
		.cluster = copy(m, cluster), .datacenter = copy(m, datacenter),
		.group = group_id > 0 && group_id < DISCOVER_NONE ? (uint32_t)group_id : DISCOVER_NONE,
		.id = b->id, .identifier = copy(m, b->identifier), .address = copy(m, b->address),
		.address6 = copy(m, b->address6), .hostname = copy(m, b->hostname),
		.node_name = copy(m, b->joined_node.len > 0 ? b->joined_node : b->node_name) };
	/* A write that is in flight, or the answer to its POST, has bound it already. */
	if (claim_id != KEYTAB_NONE && v->id <= 0 && v->identifier.len == 0) {
		const struct vpsienode_claim *const claim = keytab_value(m->c->claims, claim_id);

		v->id = claim->bind_id;
		v->identifier = copy(m, wire_str_of(claim->bind_identifier));
	}
	const bool identified = v->id > 0 || v->identifier.len > 0;
	const bool requested_once = map_get(b->annotations, ANNOTATION_REQUESTED, &requested)
	    && wire_str_is(requested, "true");
	const bool goes = phase == PHASE_TERMINATING || phase == PHASE_DELETING
	    || (phase == PHASE_PROVISIONING && b->deleted.len > 0);
	const bool late = goes || vpsie_node_timed_out(b), unsent = is_unsent(m, claim_id, b);
	/* One of the original has had its machine, and may have neither id nor UUID of it (D22). */
	const bool had = b->address.len > 0 || b->hostname.len > 0 || b->joined_node.len > 0;
	/* A request that was not sent, and will not be any more, has no machine. */
	v->waits =
	    requested_once && !identified && (late ? !unsent && !had : phase == PHASE_PROVISIONING);
	v->turn = late ? TURN_LATE : unsent ? TURN_UNSENT : TURN_LIVE;
	v->until_us = late ? late_until(m, claim_id, b) : 0;
	v->seeks_node = !v->waits && b->joined_node.len == 0 && phase >= PHASE_PROVISIONED
	    && phase <= PHASE_DELETING;
	add_request(m, b, v);
	*(uint32_t *)keytab_value(m->index, keytab_add(m->index, key.p, key.len, NULL)) = m->in.nvpsienodes++;
}

/* It would take the machine of a request that was sent. Its call may be in flight. */
static bool
is_unsent(struct vpsie_matching *m, uint32_t claim_id, const struct body_vpsie_node *b)
{
	struct wire_str text;

	if (claim_id == KEYTAB_NONE || !map_get(b->annotations, ANNOTATION_REQUEST, &text))
		return false;
	const struct vpsienode_claim *const claim = keytab_value(m->c->claims, claim_id);
	return intent_state(&claim->intent, text, call_effects_lease(&m->c->calls)) == INTENT_OPEN;
}

/*
 * provisioning-timeout after its request: what is made later was requested by somebody else, perhaps by a
 * person. 0: that time is not over, or not known.
 */
static int64_t
late_until(const struct vpsie_matching *m, uint32_t claim_id, const struct body_vpsie_node *b)
{
	const struct vpsienode_claim *const claim =
	    claim_id != KEYTAB_NONE ? keytab_value(m->c->claims, claim_id) : NULL;

	const int64_t until_us = vpsie_node_request_us(b) + m->c->set.provisioning_ms * 1000;
	int64_t now_us;

	if (claim != NULL && claim->request_over)
		return until_us;
	return actor_cluster_time_us(m->c->r.actor, LINK_KUBE_VPSIE, &now_us) && now_us > until_us
	    ? until_us : 0;
}

/* An object of the original has no watermark: its request is not older than itself. */
static void
add_request(struct vpsie_matching *m, const struct body_vpsie_node *b, struct discover_vpsienode *v)
{
	struct wire_str text;
	struct watermark mark;
	struct wire_str *before;

	v->requested_us = vpsie_node_request_us(b);
	if (!map_get(b->annotations, ANNOTATION_WATERMARK, &text) || !watermark_parse(text, &mark))
		return;
	v->newest_us = mark.newest_us;
	v->has_before = mark.has_free;
	before = take(m, (mark.nfree + 1) * sizeof(*before));
	for (uint32_t i = 0; i < mark.nfree; i++)
		before[i] = copy(m, mark.free[i]);
	v->before = before;
	v->nbefore = mark.nfree;
}

static void
add_fact(const struct change *change, void *arg)
{
	struct vpsie_matching *const m = arg;
	const struct body_node_fact *const b = &change->value->node_fact;
	struct wire_rows left = b->addresses;
	struct wire_str cells[ROWS_COLUMNS_MAX], label;

	if (change->type != MSG_NODE_FACT)
		return;
	if (m->in.nfacts == m->facts_room) {
		m->facts_room = m->facts_room * 2 + 64;
		m->facts = realloc(m->facts, m->facts_room * sizeof(*m->facts));
		MUST(m->facts != NULL);
	}
	struct discover_fact *const f = &m->facts[m->in.nfacts++];
	struct wire_str *const addresses = take(m, (b->addresses.count + 1) * sizeof(*addresses));
	const struct wire_str key = copy(m, change->key);
	const uint32_t prefix = (uint32_t)strlen("nodes/");
	*f = (struct discover_fact){ .name = { key.p + prefix, key.len - prefix },
		.hostname = copy(m, b->hostname), .addresses = addresses, .deleting = b->deleted.len > 0 };
	while (rows_next(&left, cells)) {
		if (wire_str_is(cells[0], "InternalIP") || wire_str_is(cells[0], "ExternalIP"))
			addresses[f->naddresses++] = copy(m, cells[1]);
	}
	if (map_get(b->labels, VPSIE_GROUP "/vpsienode", &label))
		f->claim_name = copy(m, label);
	if (map_get(b->labels, VPSIE_GROUP "/nodegroup-namespace", &label))
		f->claim_namespace = copy(m, label);
	if (map_get(b->labels, VPSIE_GROUP "/" LABEL_UID, &label))
		f->claim_uid = copy(m, label);
	bool added;
	const uint32_t id = keytab_add(m->came, key.p, key.len, &added);
	uint64_t *const begun = keytab_value(m->came, id);
	if (added)
		*begun = m->c->list.begun;
	f->newer = m->c->list.number <= *begun;
	f->control_plane = map_get(b->labels, "node-role.kubernetes.io/control-plane", &label)
	    || map_get(b->labels, "node-role.kubernetes.io/master", &label);
}

static uint32_t
group_index(struct vpsie_claimer *c, int64_t id)
{
	uint32_t n = 0;
	const struct vpsie_group *const rows =
	    c->machines != NULL ? vpsie_list_group_rows(c->machines, &n) : NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (rows[i].id == id)
			return i;
	}
	return DISCOVER_NONE;
}

/* ---- Memory ---- */

static void *
take(struct vpsie_matching *m, size_t bytes)
{
	const size_t size = (bytes + ALIGN - 1) / ALIGN * ALIGN;

	if (m->chunks == NULL || m->chunks->size - m->chunks->used < size) {
		const size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
		struct chunk *const k = malloc(sizeof(*k) + room);

		MUST(k != NULL);
		*k = (struct chunk){ .next = m->chunks, .size = room };
		m->chunks = k;
	}
	void *const p = m->chunks->data + m->chunks->used;
	m->chunks->used += size;
	return p;
}

/* With a NUL at its end. */
static struct wire_str
copy(struct vpsie_matching *m, struct wire_str s)
{
	if (s.len == 0)
		return (struct wire_str){ "", 0 };
	char *const p = take(m, s.len + 1);
	memcpy(p, s.p, s.len);
	p[s.len] = '\0';
	return (struct wire_str){ p, s.len };
}

static void
release(struct vpsie_matching *m)
{
	struct chunk *next;

	for (struct chunk *k = m->chunks; k != NULL; k = next) {
		next = k->next;
		free(k);
	}
	m->chunks = NULL;
	m->valid = false;
}
