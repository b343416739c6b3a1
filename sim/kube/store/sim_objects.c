/* sim/kube/store/sim_objects.c - creating and deleting from inside. */
#include "sim_objects.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim_store.h"

static const char own_name[] = "muster-sim";

struct sim_blob *
sim_object_create(struct simulator *s, const struct sim_resource *r, const json_t *object,
    char *err, size_t size)
{
	char now[SIM_TIME_MAX], uid[SIM_UID_MAX], suffix[SIM_SUFFIX_MAX], key[512];
	json_auto_t *status = NULL;
	const char *const ns = r->namespaced ? sim_json_text_at(object, "metadata.namespace") : "";

	json_auto_t *made = sim_semantics_create(
	    &(struct sim_write_params){
		.resource = r,
		.namespace = ns,
		.name = "",
		.subresource = "",
		.field_manager = own_name,
		.user_agent = own_name,
		.field_validation = "Ignore",
		.now = sim_now(now),
		.new_uid = sim_uid(s, uid),
		.suffix = sim_suffix(s, suffix),
	    }, object, &status);
	if (made != NULL && strcmp(r->kind, "CustomResourceDefinition") == 0)
		status = sim_semantics_crd_refusal(made);
	sim_resource_key(r, ns, meta_text(made, "name"), key, sizeof(key));
	if (made != NULL && status == NULL && sim_storage_get(r->storage, key) != NULL)
		status = sim_semantics_already_exists(r, sim_json_text_at(made, "metadata.name"));
	if (status == NULL)
		return sim_store_put(s->store, r->storage, made);
	snprintf(err, size, "%s", sim_json_text(status, "message"));
	return NULL;
}

void
sim_object_delete(struct simulator *s, struct sim_storage *st, struct sim_blob *b, bool at_once)
{
	char now[SIM_TIME_MAX];
	json_auto_t *old = sim_blob_parse(b, st->form), *marked = NULL, *status = NULL;
	json_auto_t *options = at_once ? json_pack("{s:i}", "gracePeriodSeconds", 0) : NULL;
	const enum sim_deletion how = sim_semantics_delete(
	    &(struct sim_write_params){
		.resource = st->form,
		.namespace = sim_json_text_at(old, "metadata.namespace"),
		.name = sim_blob_name(b),
		.subresource = "",
		.field_manager = own_name,
		.user_agent = own_name,
		.field_validation = "",
		.now = sim_now(now),
	    }, old, options, &marked, &status);

	if (how == DELETION_GONE)
		sim_store_remove(s->store, st, sim_blob_key(b));
	else if (how == DELETION_MARKED && !json_equal(old, marked))
		sim_store_put(s->store, st, marked);
}
