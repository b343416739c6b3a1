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
	json_t *status = NULL;
	struct sim_blob *b = NULL;
	const char *const ns = r->namespaced ? sim_json_text_at(object, "metadata.namespace") : "";

	json_t *const made = sim_semantics_create(
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
	snprintf(key, sizeof(key), "%s%s%s", ns, ns[0] != '\0' ? "/" : "",
	    sim_json_text_at(made, "metadata.name"));
	if (made != NULL && status == NULL && sim_storage_get(r->storage, key) != NULL)
		status = sim_semantics_already_exists(r, sim_json_text_at(made, "metadata.name"));
	if (status != NULL)
		snprintf(err, size, "%s", sim_json_text(status, "message"));
	else
		b = sim_store_put(s->store, r->storage, made);
	json_decref(status);
	json_decref(made);
	return b;
}

void
sim_object_delete(struct simulator *s, struct sim_storage *st, struct sim_blob *b, const json_t *options)
{
	char now[SIM_TIME_MAX];
	json_t *const old = sim_blob_parse(b, st->form);
	json_t *marked = NULL, *status = NULL;
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
	json_decref(status);
	json_decref(marked);
	json_decref(old);
}
