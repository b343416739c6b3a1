/*
 * sim/kube/semantics/sim_semantics_rules.h - what the files of the semantics share with each other,
 * and no other part needs.
 */
#ifndef MUSTER_SIM_SEMANTICS_RULES_H
#define MUSTER_SIM_SEMANTICS_RULES_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/base/sim_json.h"
#include "sim_semantics.h"

/* Names: what an object may be called. */
enum sim_name_form { NAME_SUBDOMAIN, NAME_LABEL, NAME_RESOURCE };	/* the last: a DNS-1035 label */
/* prefix: a generateName, to which characters will be added: it may end in a dash. */
void sim_name_check(json_t *errors, const char *field, const char *name, enum sim_name_form form,
    bool prefix);
/* shown: as the text calls it; an annotation is judged in lower case. */
void sim_name_check_qualified(json_t *errors, const char *field, const char *shown, const char *name);
void sim_name_check_label_value(json_t *errors, const char *field, const char *value);

/* Metadata: the same for every kind. */
#define sim_metadata_of(object)	sim_json_branch((object), "metadata")	/* made where it is missing */
void sim_metadata_wipe(json_t *object);		/* what a new object cannot bring with it */
void sim_metadata_place(const struct sim_write_params *a,
    json_t *object);	/* in the namespace of the URL */
void sim_metadata_fill(const struct sim_write_params *a, json_t *object);
void sim_metadata_check(json_t *errors, const struct sim_resource *r, const json_t *object,
    enum sim_name_form form);
/* custom: the kind's own rules, which check metadata once more, are those of a CRD. */
void sim_metadata_check_update(json_t *errors, const json_t *object, const json_t *old, bool custom);
/* What a client cannot change is taken from the old object. */
void sim_metadata_keep(json_t *object, const json_t *old);

/*
 * Kinds: what holds for one kind alone. complete sets defaults that no schema can express, before
 * managedFields are reckoned; prepare sets what the server and its admission decide, after that;
 * check finds what the server refuses. `old` NULL: the object is being created.
 */
struct sim_kind_rules {
	const char		*group, *kind;
	enum sim_name_form	 name_form;
	bool			 creates_on_update;	/* PUT of a missing object makes it */
	bool			 needs_version;		/* PUT without resourceVersion is refused */
	bool			 keeps_status;		/* POST may bring a status */
	bool			 zero_status;		/* a new one has a status of zeroes */
	bool			 status_keeps_metadata;	/* /status changes no metadata */
	const char		*invalid_group;		/* as "is invalid" names it; NULL: the same */
	void		(*complete)(json_t *object);
	void		(*prepare)(const struct sim_write_params *a, json_t *object, const json_t *old);
	void		(*check)(json_t *errors, const struct sim_write_params *a,
	    const json_t *object, const json_t *old);
};
const struct sim_kind_rules *sim_kind_rules(const struct sim_resource *r);

void sim_node_complete(json_t *object);
void sim_node_prepare(const struct sim_write_params *a, json_t *object, const json_t *old);
void sim_node_check(json_t *errors, const struct sim_write_params *a, const json_t *object,
    const json_t *old);
void sim_pod_complete(json_t *object);
void sim_pod_prepare(const struct sim_write_params *a, json_t *object, const json_t *old);
void sim_pod_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old);
void sim_event_check(json_t *errors, const struct sim_write_params *a, const json_t *object,
    const json_t *old);
void sim_lease_check(json_t *errors, const struct sim_write_params *a, const json_t *object,
    const json_t *old);

/* NULL, or the Status that ends the request. */
json_t *sim_refuse_options(const struct sim_write_params *a, const char *kind, bool patch, bool apply);
json_t *sim_refuse_address(const struct sim_write_params *a, const json_t *object);
json_t *sim_refuse_version(const struct sim_write_params *a, const json_t *object, const json_t *old);
json_t *sim_refuse_uid(const struct sim_write_params *a, const json_t *object, const json_t *old);
json_t *sim_refuse_orphan_uid(const struct sim_write_params *a, const json_t *object);

/* What a patch makes of old, decoded; an apply also of nothing (old NULL). NULL: see *status. */
json_t *sim_patch_object(const struct sim_write_params *a, const json_t *old,
    enum sim_patch_type type, const char *bytes, size_t len, json_t **status);

#define sim_status_bad_request(...)	sim_semantics_failure(400, "BadRequest", __VA_ARGS__)
json_t *sim_status_other_namespace(void);
/* called: the plural, or where the real server names it the kind. */
json_t *sim_status_conflict(const struct sim_resource *r, const char *called, const char *name,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
