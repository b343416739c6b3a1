/*
 * sim/kube/discovery/sim_resource.h - a resource the simulated apiserver serves: built in, or
 * brought by a CRD.
 *
 * One struct sim_resource is one (group, version, plural): a CRD with two versions makes two, which
 * share one `storage`: objects are kept in the stored version's form and given the requested apiVersion
 * on the way out (conversion strategy None).
 *
 * The contract between server and semantics (sim/kube/semantics/sim_semantics.h): the server finds the
 * resource and the old object, decodes the body (JSON or YAML, sim/base/sim_yaml.h) and checks that
 * it is an object; semantics turns it into the new object or a Status; the server gives it
 * metadata.resourceVersion and keeps it. What semantics returns has apiVersion, kind and metadata;
 * its resourceVersion is ignored. A resource lives as long as its CRD: semantics may keep a
 * pointer to one during a call, never after it.
 */
#ifndef MUSTER_SIM_RESOURCE_H
#define MUSTER_SIM_RESOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sim_storage;			/* sim/kube/store/sim_store.h: the objects of one group and plural */

enum sim_verb {
	VERB_CREATE		= 1 << 0,
	VERB_DELETE		= 1 << 1,
	VERB_DELETECOLLECTION	= 1 << 2,
	VERB_GET		= 1 << 3,
	VERB_LIST		= 1 << 4,
	VERB_PATCH		= 1 << 5,
	VERB_UPDATE		= 1 << 6,
	VERB_WATCH		= 1 << 7,
	VERBS_ALL		= (1 << 8) - 1,
};

enum { RESOURCE_NAMES_MAX = 8 };

/* A field that a selector may name. */
struct sim_selectable {
	const char	*name;
	const char	*path;		/* dotted; NULL: the name is the path */
	const char	*absent;	/* the value where the object has none; NULL: "" */
};

/* Two versions of one kind that differ in the names of top-level members (events). */
struct sim_rename {
	const char	*served, *stored;
};

struct sim_resource {
	const char			*group, *version, *plural, *singular, *kind, *list_kind;
	/* Lists that end with NULL. */
	const char			*short_names[RESOURCE_NAMES_MAX], *categories[RESOURCE_NAMES_MAX];
	/* Lists that end with a NULL name, or NULL: fields beside metadata.name and metadata.namespace ... */
	const struct sim_selectable	*fields;
	/* ... and names other than those of the stored form. */
	const struct sim_rename		*renames;
	unsigned			 verbs;			/* of enum sim_verb */
	bool				 namespaced;
	bool				 served, stored;	/* of a CRD's versions */
	bool				 has_status;		/* it has /status */
	bool				 has_eviction;		/* pods */
	bool				 graceful;		/* pods: marked first on a node */
	bool				 returns_deleted;	/* DELETE answers the object */
	bool				 counts_generation;	/* not of metadata and status */
	bool				 builtin;
	bool				 answers_only;		/* reviews: `storage` is NULL */
	json_t				*schema;		/* openAPIV3Schema; NULL: built in */
	json_t				*columns;		/* additionalPrinterColumns; NULL: none */
	struct sim_storage		*storage;
};

/* The built-in ones, in the order of discovery. */
extern const struct sim_resource sim_resource_builtin[];
extern const size_t sim_resource_nbuiltin;

/* "v1", "apps/v1": as in apiVersion. */
const char *sim_resource_api_version(const struct sim_resource *r, char *buf, size_t size);
/* "NAMESPACE/NAME" or "NAME" of an object, as the store has it. */
const char *sim_resource_key(const struct sim_resource *r, const char *ns, const char *name, char *buf,
    size_t size);
/* "nodes", "machines.cluster.x-k8s.io": as in errors. */
const char *sim_resource_qualified(const struct sim_resource *r, char *buf, size_t size);

#endif
