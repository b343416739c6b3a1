/*
 * actors/capa-annotator/main.c - writes down what a machine of each MachineDeployment on AWS would
 * be, so that the cluster-autoscaler can scale it from zero.
 *
 *	kube-watcher ==kube.capa-annotator==> "machinedeployments/<namespace>/<name>"; of a template, a
 *	Cluster or an object with a region: the MachineDeployments that refer to it
 *	reconcile: mirrors and catalogue -> plan.c -> at most one patch of its annotations, or one Event
 */
#include <stdio.h>
#include <string.h>

#include "annotator.h"
#include "clock.h"
#include "log.h"
#include "obj.h"
#include "stat.h"

enum { TICK_MS = 1000 };

static unsigned kinds_of(const char *, size_t);
static void plan(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static void plan_deployment(struct annotator *, const struct reconcile_item *, struct reconcile_step *);
static void warn(struct annotator *, const struct deployment_view *, struct deployment_note *,
    const struct reconcile_write *);
static void forget(struct annotator *, const struct work *);
static ref_unused on_unused;
static void set_status(struct annotator *, struct actor *);

static const struct actor_row rows[] = {
	/* message                only from           handler             */
	{ MSG_MACHINE_DEPLOYMENT, ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_AWS_TEMPLATE,       ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_CAPI_CLUSTER,       ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_AWS_CLUSTER,        ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_AWS_CONTROL_PLANE,  ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_KIND,               ROLE_KUBE_WATCHER,  reconcile_on_kind   },
	{ MSG_LEADER,             ROLE_KUBE_WATCHER,  reconcile_on_leader },
	{ MSG_SNAP_END,           ROLE_KUBE_WATCHER,  reconcile_on_synced },
};

#define INSTALL_CAPI	"install Cluster API"
#define INSTALL_CAPA	"install Cluster API Provider AWS"

static const struct reconcile_kind kinds[ANNOTATOR_KIND_MAX] = {
	[ANNOTATOR_DEPLOYMENTS] = { .group = CAPI_GROUP, .resource = ANNOTATOR_OBJECTS,
	    .message = MSG_MACHINE_DEPLOYMENT, .counted = true, .install = INSTALL_CAPI },
	[ANNOTATOR_TEMPLATES] = { .group = CAPI_INFRA_GROUP, .resource = "awsmachinetemplates",
	    .message = MSG_AWS_TEMPLATE, .optional = true, .install = INSTALL_CAPA },
	[ANNOTATOR_CLUSTERS] = { .group = CAPI_GROUP, .resource = "clusters", .message = MSG_CAPI_CLUSTER,
	    .optional = true, .install = INSTALL_CAPI },
	[ANNOTATOR_AWS_CLUSTERS] = { .group = CAPI_INFRA_GROUP, .resource = "awsclusters",
	    .message = MSG_AWS_CLUSTER, .optional = true, .install = INSTALL_CAPA },
	[ANNOTATOR_CONTROL_PLANES] = { .group = CAPI_CONTROL_GROUP, .resource = "awsmanagedcontrolplanes",
	    .message = MSG_AWS_CONTROL_PLANE, .optional = true, .install = INSTALL_CAPA },
};

static const struct reconcile_spec reconcile = {
	.kinds = kinds, .nkinds = NITEMS(kinds), .links = { LINK_KUBE_CAPA }, .nlinks = 1,
	.refused_reason = "FailedUpdate", .noun = "MachineDeployments", .keys = deployment_view_keys,
	.kinds_of = kinds_of, .plan = plan,
};

/* The form of a step for each verb, and the value of the label `state`. */
static const struct {
	enum step_form	 form;
	const char	*state;
} performed[CAPA_VERB_MAX] = {
	[CAPA_NOTHING] = { STEP_NOTHING, "annotated" },
	[CAPA_WAIT]    = { STEP_WAIT,    "waiting" },
	[CAPA_WARN]    = { STEP_WAIT,    "warned" },
	[CAPA_FIND]    = { STEP_WAIT,    "waiting" },
	[CAPA_PATCH]   = { STEP_WRITE,   "waiting" },
};

static void
start(struct actor *actor, void *self)
{
	struct annotator *const a = self;
	char why[WEB_IDENTITY_ERROR_MAX];

	reconcile_start(&a->r, actor, &reconcile);
	a->retry = (struct aws_retry_times){ .first_ms = actor_setting_i64(actor, "retry-interval"),
		.most_ms = actor_setting_i64(actor, "retry-interval-max") };
	a->slack_ms = actor_setting_i64(actor, "credential-slack");
	const double per_second = (double)actor_setting_i64(actor, "requests-per-second");
	const int64_t timeout_ms = actor_setting_i64(actor, "request-timeout");
	a->classes[AWS_STS] = (struct client_class){ .name = "assume-role", .harmless = true, .secret = true,
		.timeout_ms = timeout_ms };
	a->classes[AWS_EC2] = (struct client_class){ .name = "describe-types", .harmless = true,
		.per_second = per_second, .burst = per_second * 2, .timeout_ms = timeout_ms };
	a->catalogue = catalogue_new(&(struct catalogue_times){
	    .ttl_ms = actor_setting_i64(actor, "catalogue-ttl"),
	    .early_ms = actor_setting_i64(actor, "unknown-type-interval") });
	a->walks = keytab_new(sizeof(struct region_walk *));
	a->notes = keytab_new(sizeof(struct deployment_note));
	a->refs = ref_index_new(on_unused, a);
	aws_session_open(a);
	if (!web_identity_read(&a->identity, why, sizeof(why))) {
		log_error("no web identity: no call to AWS is made", KV_S(WHY, why),
		    KV_S(HINT, "give the Pod a service account with an IAM role, "
			       "or set the variable, then restart musterd"));
		actor_exit(actor, EXIT_CONFIG);
	}
}

static void
tick(struct actor *actor, void *self, int64_t now_ms)
{
	region_walk_tick(self, now_ms);
	reconcile_tick(actor, self, now_ms);
	set_status(self, actor);
}

static void
stop(struct actor *actor, void *self)
{
	struct annotator *const a = self;

	region_walk_close(a);
	aws_session_close(a);
	ref_index_free(&a->refs);
	catalogue_free(&a->catalogue);
	keytab_free(&a->notes);
	reconcile_stop(actor, self);
}

static const struct actor_spec spec = {
	.name = "capa-annotator", .state_size = sizeof(struct annotator), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .work = reconcile_work,
	.explain = annotator_explain, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

/* ---- Plan ---- */

/* What a MachineDeployment refers to may be of a kind that this cluster does not have. */
static unsigned
kinds_of(const char *key, size_t len)
{
	const size_t prefix = strlen(ANNOTATOR_OBJECTS "/");

	return len > prefix && memcmp(key, ANNOTATOR_OBJECTS "/", prefix) == 0
	    ? 1u << ANNOTATOR_DEPLOYMENTS : 0;
}

static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct annotator *const a = annotator_of(r);

	if (strcmp(i->work->key, ANNOTATOR_CREDENTIALS) == 0)
		aws_session_plan(a, step);
	else if (kinds_of(i->work->key, i->work->len) == 0)
		region_walk_plan(a, i->work, step);
	else
		plan_deployment(a, i, step);
}

static void
plan_deployment(struct annotator *a, const struct reconcile_item *i, struct reconcile_step *step)
{
	const struct work *const w = i->work;
	struct deployment_view v;

	deployment_view_plan(&v, a, w);
	if (!v.exists) {
		step->verb = "nothing";
		step->why = "it is gone";
		step->forget = true;
		forget(a, w);
		return;
	}
	deployment_view_index(&v, a);
	step->form = performed[v.plan.verb].form;
	step->verb = capa_verb_name(v.plan.verb);
	step->why = v.plan.why;
	step->after_ms = v.plan.after_ms;
	step->write = (struct reconcile_write){ .op = OP_MERGE, .kind = ANNOTATOR_DEPLOYMENTS,
		.action = "Annotate", .trace = w->trace };
	snprintf(step->write.ns, sizeof(step->write.ns), "%s", v.ns);
	snprintf(step->write.name, sizeof(step->write.name), "%s", v.name);
	snprintf(step->write.uid, sizeof(step->write.uid), "%.*s", (int)v.object.uid.len, v.object.uid.p);
	if (step->form == STEP_WRITE) {
		step->write.body_len =
		    capa_patch_body(a->r.body, sizeof(a->r.body), &v.plan.annotations, v.object.rv);
		MUST(step->write.body_len > 0);
	}
	struct deployment_note *const note =
	    keytab_value(a->notes, keytab_add(a->notes, w->key, w->len, NULL));
	note->state = v.plan.verb;
	warn(a, &v, note, &step->write);
}

/* Once for each text; what only waits does not end it. */
static void
warn(struct annotator *a, const struct deployment_view *v, struct deployment_note *note,
    const struct reconcile_write *about)
{
	const struct capa_plan *const p = &v->plan;
	const uint64_t hash = hash64(p->message, strlen(p->message));

	if (p->verb == CAPA_NOTHING || p->verb == CAPA_PATCH)
		note->warned = 0;
	if (p->event == CAPA_EVENT_NONE || note->warned == hash)
		return;
	note->warned = hash;
	log_warnx("a MachineDeployment cannot be annotated", KV_S(OBJECT, v->work->key),
	    KV_S(WHY, p->message), KV_S(REASON, capa_event_reason(p->event)),
	    KV_S(HINT, "what is there stays as it is"));
	reconcile_event(&a->r, about, "Warning", capa_event_reason(p->event), wire_str_of(p->message));
}

static void
forget(struct annotator *a, const struct work *w)
{
	const uint32_t id = keytab_find(a->notes, w->key, w->len);

	if (id != KEYTAB_NONE)
		keytab_remove(a->notes, id);
	ref_index_drop(a->refs, (struct wire_str){ .p = w->key, .len = (uint32_t)w->len });
}

/* A region that nobody is in is not read any more. */
static void
on_unused(void *arg, const char *target)
{
	struct annotator *const a = arg;

	if (strncmp(target, ANNOTATOR_REGIONS, strlen(ANNOTATOR_REGIONS)) == 0)
		actor_enqueue(a->r.actor, target, strlen(target), WORK_LIVE, 0);
}

/* ---- Status ---- */

static void
set_status(struct annotator *a, struct actor *actor)
{
	unsigned counts[CAPA_VERB_MAX] = { 0 };
	char label[48];
	struct catalogue_state state;

	KEYTAB_EACH(a->notes, id)
		counts[((const struct deployment_note *)keytab_value(a->notes, id))->state]++;
	counts[CAPA_WAIT] += counts[CAPA_FIND] + counts[CAPA_PATCH];
	for (unsigned v = CAPA_NOTHING; v <= CAPA_WARN; v++) {
		snprintf(label, sizeof(label), "state=\"%s\"", performed[v].state);
		stat_set(stat_get(STAT_CAPA_DEPLOYMENTS, label), counts[v]);
	}
	KEYTAB_EACH(a->walks, id) {
		const struct region_walk *const w = *(struct region_walk **)keytab_value(a->walks, id);

		if (catalogue_state(a->catalogue, wire_str_of(w->region), &state) && state.error[0] != '\0') {
			actor_status(actor, "the instance types of %s could not be read: %s", w->region,
			    state.error);
			return;
		}
	}
}
