/*
 * tests/dst/world_annotator.h - the worlds `annotator` and `annotator-sweep`: capa-annotator on the
 * harness (harness.h), and modelled STS and EC2 of some regions.
 *
 *	world_annotator.c	acts, the final state, the sweep
 *	annotator_objects.c	MachineDeployments and what they refer to; what follows from them
 *	annotator_aws.c		STS and EC2: credentials, pages of catalogues, errors
 *	annotator_checks.c	what must hold of every request
 *	annotator_breaks.c	rules that can be broken
 */
#ifndef MUSTER_DST_WORLD_ANNOTATOR_H
#define MUSTER_DST_WORLD_ANNOTATOR_H

#include "harness.h"

enum {
	CAPAW_DEPLOYMENTS = 6, CAPAW_TEMPLATES = 5, CAPAW_CLUSTERS = 4,
	CAPAW_REGIONS = 3, CAPAW_TYPES = 8, CAPAW_FORMS = 4, CAPAW_CATALOGUES_MAX = 24,
	CAPAW_TTL_MS = 120 * 1000, CAPAW_EARLY_MS = 20 * 1000, CAPAW_TIMEOUT_MS = 10 * 1000,
};
#define CAPAW_NONE	UINT32_MAX

/* What a region has: for each type 0, or the form of its figures. */
struct capaw_catalogue {
	uint8_t	forms[CAPAW_TYPES];
};

struct capaw_region {
	struct capaw_catalogue	all[CAPAW_CATALOGUES_MAX];	/* one after the other; the last one counts */
	uint32_t		count;
	int64_t			down_until_ms;
};

/* What one life of the actor has read of a region, and what it had reason to read. */
struct capaw_reader {
	uint32_t	catalogue;	/* the last one that was delivered to its end; CAPAW_NONE: none */
	int64_t		completed_ms, began_ms;
	bool		walking;	/* a page has been requested, and the last one was not delivered */
	bool		may_walk;	/* it may have dropped what it had: a walk needs no other reason */
	int64_t		left_ms;	/* a MachineDeployment left the region then, for the last time */
	uint32_t	requests;	/* since the last page that was delivered whole */
	char		last[192];	/* the request whose page was delivered last; "": an error since */
	int64_t		missing_ms[CAPAW_TYPES + 1];	/* wanted, and not in it, since then; 0: no */
	bool		served[CAPAW_TYPES + 1];	/* ... and a walk has been made for it */
};

struct capaw_life {
	uint64_t		incarnation;
	bool			leading;
	int64_t			lost_ms;	/* it does not lead since then */
	uint32_t		wanted[CAPAW_DEPLOYMENTS];	/* the region of each, or CAPAW_NONE */
	struct capaw_reader	regions[CAPAW_REGIONS];
};

struct capaw {
	struct harness		 h;		/* first */
	struct capaw_region	 regions[CAPAW_REGIONS];
	struct capaw_life	 lives[RUNTIME_TREES];
	/* STS. */
	uint32_t		 token, old_token;	/* numbers: valid; valid until old_until_ms */
	int64_t			 old_until_ms;
	char			 token_file[32];	/* its text; "": there is no such file */
	uint64_t		 credentials;		/* serial of the last ones */
	uint64_t		 revoked;		/* serials up to this one are refused */
	int64_t			 ahead_ms;		/* the clock of AWS */
	uint64_t		 page_tokens;
	uint32_t		 aws_faults;		/* in a thousand requests */
	uint64_t		 events, settled_events;
	uint64_t		 completed;		/* catalogues that were delivered to their end */
	/* The last comparison with the final state. */
	uint64_t		 compared;
	int64_t			 compared_ms;
	const char		*differs;
	uint32_t		 effective;		/* patches that changed something */
};

extern const struct world annotator_world, annotator_sweep_world;

/* The entry of the program (tests/CMakeLists.txt). */
int capa_annotator_main(int argc, char **argv);

/* ---- annotator_objects.c ---- */

/* A MachineDeployment as one view has it, and what follows from it. */
struct capaw_view {
	bool		exists;
	const char	*missing;	/* why nothing can be decided; NULL: region and type are */
	uint32_t	region;
	uint32_t	type;		/* CAPAW_TYPES: one that no catalogue has */
	json_t		*annotations;	/* those that are ours; the caller frees it */
};

/* ra NULL: as the cluster has it; else as that process has received it. */
void capaw_read(struct capaw *w, struct runtime_actor *ra, uint32_t deployment, struct capaw_view *out);
void capaw_deployment_name(char buf[CLUSTER_NAME_MAX], uint32_t n);
uint32_t capaw_deployment_number(const char *name);	/* CAPAW_NONE: not one of ours */
struct cluster_object *capaw_deployment(struct capaw *w, uint32_t n);	/* NULL: it does not exist */
bool capaw_our_key(const char *key);
/* NULL: the annotations are those of that type with figures of that form; else what differs. */
const char *capaw_annotations_differ(const json_t *annotations, uint32_t type, uint8_t form);
/* Entries of the annotation for labels that are not ours, in their order. */
void capaw_foreign_labels(char *buf, size_t size, const json_t *object);
/* type, region: "": none. managed: the region is that of a control plane (EKS). */
void capaw_put_template(struct capaw *w, uint32_t n, const char *type);
void capaw_put_cluster(struct capaw *w, uint32_t n, bool managed, const char *region);
void capaw_put_deployment(struct capaw *w, uint32_t n, uint32_t template, uint32_t cluster);
void capaw_set_annotation(struct capaw *w, uint32_t n, const char *key, const char *value);
harness_act_fn capaw_toggle_deployment, capaw_change_deployment, capaw_change_template,
    capaw_change_cluster, capaw_change_annotation, capaw_toggle_kind;

/* ---- annotator_aws.c ---- */

struct capaw_figures {
	uint32_t	 vcpus, memory_mib, gpus;
	const char	*maker;		/* NULL: no GPU */
	const char	*gpu_type;	/* NULL: no resource has a name */
	const char	*arch;		/* of the label */
};

extern const char *const capaw_region_names[CAPAW_REGIONS];
const char *capaw_type_name(uint32_t type);	/* of CAPAW_TYPES: of one that no catalogue has */
struct capaw_figures capaw_figures(uint32_t type, uint8_t form);
const struct capaw_catalogue *capaw_catalogue(const struct capaw *w, uint32_t region);
/* The region of a request to EC2; CAPAW_NONE: it is for STS, or for nobody. */
uint32_t capaw_request_region(const struct http_exchange *x);
void capaw_aws_open(struct capaw *w);
void capaw_serve(struct harness *h, struct http_exchange *x);
/* The catalogue whose page this answer is, and whether it is the last; CAPAW_NONE: it is no whole page. */
uint32_t capaw_answered_catalogue(const struct http_exchange *x, bool *last);
harness_act_fn capaw_change_catalogue, capaw_rotate_token, capaw_revoke_credentials, capaw_move_aws_clock,
    capaw_stop_region;
void capaw_aws_stop_faults(struct capaw *w);

/* ---- annotator_checks.c ---- */

void capaw_requested(struct harness *h, struct runtime_actor *ra, const struct write_request *r);
void capaw_executed(struct harness *h, const struct flight *f, const json_t *before);
void capaw_changed(struct harness *h, struct runtime_actor *ra, const struct change *c);
void capaw_leaves(struct harness *h, const struct http_exchange *x);
void capaw_delivered(struct runtime *r, const struct http_exchange *x);
const char *capaw_file(void *world, const char *path);

#endif
