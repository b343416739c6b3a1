/*
 * tests/dst/cluster.h - a model of the API server, and of kube-watcher in front of it, for worlds that
 * run whole programs of actors (runtime.h).
 *
 * cluster.c holds the objects as JSON, with uids, resourceVersions, preconditions, finalizers and CRDs
 * that come and go, Pods that end, and one Lease; cluster_patch.c applies patches. watcher_model.c is
 * the program of a kube-watcher: it publishes what it has seen, late, and answers writes with every
 * outcome. A request that has left it takes effect even if it is killed; its answer is then lost.
 *
 * The first member of a world that uses them is its struct cluster.
 */
#ifndef MUSTER_DST_CLUSTER_H
#define MUSTER_DST_CLUSTER_H

#include <jansson.h>
#include <sys/queue.h>

#include "kinds.h"
#include "kube/project.h"
#include "runtime.h"
#include "writes.h"

enum { CLUSTER_OBJECTS_MAX = 384, CLUSTER_NAME_MAX = 64 };

struct cluster_object {
	enum kind	 kind;
	/* "namespace/name" in another namespace than "default". */
	char		 name[CLUSTER_NAME_MAX], key[2 * CLUSTER_NAME_MAX];
	json_t		*json;		/* NULL: it does not exist */
	uint64_t	 rv;		/* of its last change; also of its end */
	struct cluster_copies *copies;	/* of the JSON, as its readers get it (cluster.c) */
};

struct cluster_request {
	enum op		 op;
	enum kind	 kind;		/* KIND_MAX: nobody reads it */
	char		 name[CLUSTER_NAME_MAX], subresource[32], uid[64], rv[32];
	char		 fields[2 * CLUSTER_NAME_MAX];	/* selector of a list */
	char		*body;		/* owned */
	size_t		 len;
};

struct cluster_answer {
	enum outcome		 outcome;
	unsigned		 status;
	uint64_t		 rv;		/* of the object; 0: none */
	const char		*why;
};

/* A request on its way: from a kube-watcher to the server and back. */
struct flight {
	LIST_ENTRY(flight)	 next;
	struct cluster		*cluster;
	uint64_t		 id, handle, incarnation;	/* of the kube-watcher */
	struct runtime_actor	*watcher;
	enum role		 from;		/* whose request it is */
	struct cluster_request	 request;
	struct cluster_answer	 answer;
	bool			 answer_lost;	/* it takes effect, and its outcome is UNKNOWN */
	bool			 late;		/* the same, and the effect comes after the outcome */
	bool			 sent, arrived, answered;
};

/* In a thousand writes. */
struct cluster_faults {
	uint32_t	failed, lost, late, limited, busy, denied, expired, slow;
	uint32_t	lag;		/* in a thousand changes: kube-watcher sees it late */
};

struct cluster {
	struct sim		*sim;
	uint64_t		 rv, uids, flight_ids;
	struct cluster_object	 objects[CLUSTER_OBJECTS_MAX];
	unsigned		 count;
	bool			 absent[KIND_MAX];	/* its CRD is not installed */
	bool			 forbidden[KIND_MAX];	/* RBAC forbids writes */
	bool			 down;			/* it answers nobody */
	bool			 reads_versions;	/* of merge patches: an old one is a conflict */
	bool			 budgets;		/* PodDisruptionBudgets refuse every eviction */
	int64_t			 clock_ms;		/* its clock is ahead by so much */
	bool			 cut[RUNTIME_TREES];	/* it answers everybody but that tree */
	struct cluster_faults	 faults;
	LIST_HEAD(, flight)	 flights;
	struct runtime_actor	*watchers[RUNTIME_TREES];
	/* The Lease. */
	int			 holder;		/* a tree; -1: nobody */
	int64_t			 until_ms;
	uint64_t		 term;
	/* Why the server refuses this content; NULL: it does not. */
	const char		*(*refusal)(struct cluster *c, const struct cluster_request *r);
	/* A request has taken effect, or was answered with an error. before: the object, or NULL. */
	void			(*executed)(struct cluster *c, const struct flight *f, const json_t *before);
};

void cluster_init(struct cluster *c, struct sim *sim);
void cluster_free(struct cluster *c);
/* NULL: it never existed. */
struct cluster_object *cluster_find(struct cluster *c, enum kind k, const char *name);
/* A request is not at the server yet, or a kube-watcher waits for its answer. */
bool cluster_in_flight(const struct cluster *c);
struct cluster_answer cluster_execute(struct cluster *c, const struct cluster_request *r);
/* The version of that kind that the server has: the first that we can read. */
const char *cluster_version(enum kind k);
int64_t cluster_time_us(const struct cluster *c);	/* as its answers have it in their Date */
/* As JSON, until its next change. */
const char *cluster_text(const struct cluster_object *o);
/* False: its fields that the role reads cannot be read. */
bool cluster_project(const struct cluster_object *o, enum role reader, struct projected *out);

/* ---- What other clients do ---- */

/* The name that an object of that namespace ("": it has none) has here. */
void cluster_name(char buf[CLUSTER_NAME_MAX], const char *namespace, const char *name);
/* The object with this spec or status, which is taken; a new one if there is none. */
void cluster_put(struct cluster *c, enum kind k, const char *name, const char *part, json_t *value);
/* A change of a field that nobody reads. */
void cluster_touch(struct cluster *c, struct cluster_object *o);
void cluster_remove(struct cluster *c, struct cluster_object *o);
/* It is gone, finalizers or not; nothing if it is already. */
void cluster_drop(struct cluster *c, struct cluster_object *o);
/* As after an eviction or a deletion. */
void cluster_end_pod(struct cluster *c, struct cluster_object *o);
void cluster_set_finalizer(struct cluster *c, struct cluster_object *o, bool set);
void cluster_set_absent(struct cluster *c, enum kind k, bool absent);

/* ---- Patches and selectors (cluster_patch.c) ---- */

/* NULL: applied; else why the server refuses it. Only object itself changes: it may be a shallow copy. */
const char *cluster_merge(json_t *object, const char *body, size_t len);
/* A merge patch that would leave the object as it is. */
bool cluster_merge_is_empty(const json_t *object, const char *body, size_t len);
/* False: it names a resourceVersion that the object does not have any more. */
bool cluster_merge_is_current(const struct cluster_object *o, const char *body, size_t len);
const char *cluster_json_patch(json_t *object, const char *body, size_t len);
bool cluster_selects(const struct cluster_object *o, const char *fields);

/* The program of the modelled kube-watcher. */
int watcher_model_main(int argc, char **argv);
/* Something in the cluster has changed: each kube-watcher sees it some time later. */
void watcher_model_notify(struct cluster *c);
/* It leads long enough to send a write. */
bool watcher_model_leads(struct runtime_actor *r);

#endif
