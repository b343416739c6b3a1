/* sim/linode/sim_linode_instances.c - calls of /linode/instances. */
#include <stdlib.h>

#include "sim/base/sim_json.h"
#include "sim_linode_private.h"

enum { ARG_INSTANCE = 1 };

struct sim_provider_answer
linode_list_instances(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	const char *const fields[] = { "id", "label", "tags", "region", "type", "status", "image", "group",
		"watchdog_enabled", l->settings.filter_lke_cluster_id ? "lke_cluster_id" : NULL, NULL };

	linode_refresh(l);
	json_t *const earlier = json_object_get(sim_provider_past_at(l->past, c->behind), "instances");
	return linode_list(l, c, earlier != NULL ? json_incref(earlier) : linode_instances_json(l), fields);
}

struct sim_provider_answer
linode_get_instance(void *model, const struct sim_provider_call *c)
{
	linode_refresh(model);
	const struct linode_node *const n = linode_find_instance(model, c->args.of[ARG_INSTANCE]);
	return n != NULL ? linode_ok(linode_instance_json(model, n), NULL)
	    : linode_fail(404, NULL, "Not found");
}

/* Of what may change, only tags mean something here. They replace all that were there. */
struct sim_provider_answer
linode_update_instance(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	json_t *const tags = json_object_get(c->body, "tags");

	linode_refresh(l);
	struct linode_node *const n = linode_find_instance(l, c->args.of[ARG_INSTANCE]);
	if (n == NULL)
		return linode_fail(404, NULL, "Not found");
	if (linode_machine(l, n)->state == MACHINE_DELETING)
		return linode_fail(400, NULL, "Linode busy.");
	if (linode_wrong_tags(tags) != NULL)
		return linode_fail(400, "tags", linode_wrong_tags(tags));
	if (!json_is_array(tags))
		return linode_ok(linode_instance_json(l, n), NULL);
	linode_keep_past(l);
	json_decref(n->tags);
	n->tags = json_deep_copy(tags);
	char *const text = json_dumps(tags, JSON_COMPACT);
	json_t *const effect = json_sprintf("instance %llu tagged %s",
	    (unsigned long long)linode_instance_id(n), text);
	free(text);
	return linode_ok(linode_instance_json(l, n), effect);
}
