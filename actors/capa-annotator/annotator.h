/*
 * actors/capa-annotator/annotator.h - the running actor: its state and its parts.
 *
 *	main.c			its tables, its start, tick and stop; turns a plan into a step
 *	deployment_view.c	a MachineDeployment and what it refers to; which keys a change concerns
 *	ref_index.c		who refers to what
 *	web_identity.c		environment variables and the token file
 *	aws_session.c		key "credentials": STS
 *	region_walk.c		keys "regions/<region>": EC2, page by page into the catalogue
 *	explain.c		`muster explain`
 *
 * What decides is pure: capa.h, aws_retry.h; catalogue.h has no clock and no I/O. Keys of the work queue:
 *
 *	machinedeployments/<namespace>/<name>	planned when it, or what it refers to, changes
 *	regions/<region>	wanted by a MachineDeployment whose type is not known; then by time
 *	credentials		wanted by a region that has to be read
 */
#ifndef MUSTER_ANNOTATOR_H
#define MUSTER_ANNOTATOR_H

#include "actors/provider/call_effect.h"
#include "actors/reconcile/reconcile.h"
#include "aws_error.h"
#include "capa.h"
#include "kube/kubeconfig_bytes.h"
#include "ref_index.h"
#include "aws_retry.h"
#include "wire.h"

#define ANNOTATOR_OBJECTS	"machinedeployments"
#define ANNOTATOR_REGIONS	"regions/"
#define ANNOTATOR_CREDENTIALS	"credentials"

enum {	/* rows of the kinds */
	ANNOTATOR_DEPLOYMENTS, ANNOTATOR_TEMPLATES, ANNOTATOR_CLUSTERS, ANNOTATOR_AWS_CLUSTERS,
	ANNOTATOR_CONTROL_PLANES, ANNOTATOR_KIND_MAX
};

/* ---- The web identity (web_identity.c). Texts are those of the environment ---- */

struct web_identity {
	struct wire_str		 role_arn, session_name, region;	/* region: "", or that of STS */
	const char		*token_file;
	const char		*ca_file;	/* NULL: the system's authorities */
	enum aws_partition	 partition;	/* of the role */
	struct aws_overrides	 urls;
};

enum { WEB_IDENTITY_ERROR_MAX = 512 };
/* False: a variable is missing or cannot be used, and why has the text. */
bool web_identity_read(struct web_identity *w, char *why, size_t size);
/*
 * The body of the request to STS, with the token as the file has it now; the caller wipes and frees it.
 * NULL: the file cannot be used, and why has the text.
 */
char *web_identity_body(const struct web_identity *w, size_t *len, char *why, size_t size);

/* ---- Credentials (aws_session.c) ---- */

struct aws_session {
	struct call_effects	 calls;		/* of one endpoint of STS; client NULL: none yet */
	struct aws_credentials	 credentials;	/* access_key NULL: none */
	uint64_t		 serial;	/* of the credentials */
	int64_t			 renew_ms;	/* they are not used from then on */
	bool			 in_flight;
	unsigned		 tries;		/* of this request that failed */
	unsigned		 failures;	/* requests in a row that were given up */
	int64_t			 resume_ms;	/* not before */
	char			 error[CATALOGUE_ERROR_MAX];	/* of the last one; "": it succeeded */
	struct keytab		*waiting;	/* keys of regions */
	struct bytes		 body;		/* of the request that is about to be sent; secret */
	/* The clock of AWS, from a Date header: microseconds to add to the monotonic clock. */
	bool			 clock_known;
	int64_t			 clock_us;
};

struct annotator;

void aws_session_open(struct annotator *a);
void aws_session_close(struct annotator *a);
bool aws_session_usable(const struct annotator *a, int64_t now_ms);
/* The key of a region waits for credentials: it is enqueued when they are there, or refused. */
void aws_session_want(struct annotator *a, const char *key, struct wire_str region);
/* EC2 refused the credentials of that serial. */
void aws_session_refused(struct annotator *a, uint64_t serial);
void aws_session_plan(struct annotator *a, struct reconcile_step *step);
/* Now, by the clock of AWS as far as it is known; microseconds since 1970. */
int64_t aws_session_aws_time_us(const struct annotator *a);
/* The clock of AWS is what this answer's Date has. False: it has none. */
bool aws_session_adopt_clock(struct annotator *a, const struct client_answer *answer);
/* What an answer that is not good means. xml: what was read of it. */
enum aws_fault aws_session_fault(const struct annotator *a, enum aws_service service,
    const struct client_answer *answer, const struct aws_answer *xml);
/* Counts it, and writes a text for people. */
void aws_session_describe(enum aws_service service, enum aws_fault fault, const struct client_answer *answer,
    const struct aws_answer *xml, char *buf, size_t size);

/* ---- Reading the types of a region (region_walk.c) ---- */

struct region_walk {
	struct annotator	*annotator;
	char			 region[AWS_REGION_MAX + 1];
	struct call_effects	 calls;		/* of its endpoint of EC2 */
	bool			 begun;		/* catalogue_begin */
	bool			 in_flight;
	struct aws_answer	*answer;	/* of the page in flight */
	char			*next_token;	/* of the page to request; NULL: the first */
	uint64_t		 serial;	/* of the credentials of the last request */
	bool			 renewed, clock_set;	/* once for each page */
	unsigned		 tries;		/* of this page that failed */
	unsigned		 failures;	/* walks in a row that failed */
	int64_t			 resume_ms;	/* the page is not requested before */
	int64_t			 began_ms;
	uint32_t		 pages;
};

void region_walk_want(struct annotator *a, struct wire_str region);
void region_walk_plan(struct annotator *a, const struct work *w, struct reconcile_step *step);
/* Enqueues what is due; figures. */
void region_walk_tick(struct annotator *a, int64_t now_ms);
void region_walk_close(struct annotator *a);
/* Without credentials until then: the walk of that region has failed. */
void region_walk_fail(struct annotator *a, const char *key, int64_t retry_ms, const char *error);

/* ---- The actor ---- */

/* What this incarnation remembers of a MachineDeployment. It is lost with the process. */
struct deployment_note {
	enum capa_verb	state;		/* what was decided last */
	uint64_t	warned;		/* hash of the Event's text that was sent last; 0: none */
};

struct annotator {
	struct reconciler	 r;		/* first: reconcile.h */
	struct aws_retry_times	 retry;
	int64_t			 slack_ms, timeout_ms;
	double			 per_second;
	struct client_class	 classes[AWS_SERVICE_MAX];
	struct web_identity	 identity;
	struct aws_session		 session;
	struct catalogue	*catalogue;
	struct keytab		*walks;		/* struct region_walk *, by key */
	struct ref_index	*refs;
	struct keytab		*notes;		/* struct deployment_note, by key */
};

struct annotator *annotator_of(struct reconciler *r);
/* Of the calls of one endpoint. url: as aws_endpoint_url made it. */
bool annotator_open_calls(struct annotator *a, struct call_effects *calls, enum aws_service service,
    struct wire_str region);

/* ---- A MachineDeployment (deployment_view.c) ---- */

struct deployment_view {
	const struct work	*work;
	bool			 exists;
	struct change		 object;
	union msg_body		 body;
	char			 ns[64], name[254];
	struct capa_input	 in;
	struct capa_plan	 plan;
	/* What it refers to; without a name: nothing. in points into the bodies. */
	struct capa_object	 template_ref, cluster_ref, region_ref;
	unsigned		 region_row;	/* of the kinds */
	union msg_body		 template, cluster, region;
};

/* Reads it and what it refers to, plans, and asks the catalogue if the plan needs it. */
void deployment_view_plan(struct deployment_view *v, struct annotator *a, const struct work *w);
/* ... and keeps in the index what it refers to. */
void deployment_view_index(const struct deployment_view *v, struct annotator *a);
void deployment_view_keys(struct reconciler *r, const struct change *c);
/* A type, or another target of the index, changed: those that refer to it are planned again. */
void deployment_view_target_changed(struct annotator *a, struct wire_str target);
void deployment_view_type_changed(struct annotator *a, const char *region, struct wire_str type);

void annotator_explain(struct actor *actor, void *self, const char *resource, const char *name,
    struct json *out);

#endif
