/* sim/kube/store/sim_objects.c - creating and deleting from inside. */
#include "sim_objects.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim_store.h"

static const char own_name[] = "muster-sim";

struct blob *
object_create(struct sim *s, const struct resource *r, const json_t *object, char *err, size_t size)
{
	char now[SIM_TIME_MAX], uid[SIM_UID_MAX], suffix[SIM_SUFFIX_MAX], key[512];
	json_t *status = NULL;
	struct blob *b = NULL;
	const char *const ns = r->namespaced ? json_text_at(object, "metadata.namespace") : "";

	json_t *const made = semantics_create(
	    &(struct ask){
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
	    },
	    object, &status);
	if (made != NULL && strcmp(r->kind, "CustomResourceDefinition") == 0)
		status = semantics_crd_refusal(made);
	snprintf(key, sizeof(key), "%s%s%s", ns, ns[0] != '\0' ? "/" : "",
	    json_text_at(made, "metadata.name"));
	if (made != NULL && status == NULL && storage_get(r->storage, key) != NULL)
		status = semantics_already_exists(r, json_text_at(made, "metadata.name"));
	if (status != NULL)
		snprintf(err, size, "%s", json_text(status, "message"));
	else
		b = depot_put(s->depot, r->storage, made);
	json_decref(status);
	json_decref(made);
	return b;
}

void
object_delete(struct sim *s, struct storage *st, struct blob *b, const json_t *options)
{
	char now[SIM_TIME_MAX];
	json_t *const old = blob_parse(b, st->form);
	json_t *marked = NULL, *status = NULL;
	const enum deletion how = semantics_delete(
	    &(struct ask){
		.resource = st->form,
		.namespace = json_text_at(old, "metadata.namespace"),
		.name = blob_name(b),
		.subresource = "",
		.field_manager = own_name,
		.user_agent = own_name,
		.field_validation = "",
		.now = sim_now(now),
	    },
	    old, options, &marked, &status);

	if (how == DELETION_GONE)
		depot_remove(s->depot, st, blob_key(b));
	else if (how == DELETION_MARKED && !json_equal(old, marked))
		depot_put(s->depot, st, marked);
	json_decref(status);
	json_decref(marked);
	json_decref(old);
}
