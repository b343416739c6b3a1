/* actors/capa-annotator/explain.c - `muster explain machinedeployment/NAMESPACE/NAME`. */
#include <stdio.h>
#include <string.h>

#include "annotator.h"
#include "clock.h"
#include "json.h"
#include "obj.h"

static void put_inputs(const struct deployment_view *, const struct annotator *, struct json *);
static void put_reference(struct json *, const char *, const struct capa_object *, enum capa_presence);
static void put_catalogue(const struct deployment_view *, const struct annotator *, struct json *);
static void put_annotations(const struct deployment_view *, struct json *);

void
annotator_explain(struct actor *actor, void *self, const char *resource, const char *name, struct json *out)
{
	struct annotator *const a = self;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%s", resource, name);
	const struct work w = { .key = key, .len = (size_t)n };
	struct deployment_view v;

	(void)actor;
	if (n < 0 || (size_t)n >= sizeof(key) || strcmp(resource, ANNOTATOR_OBJECTS) != 0)
		return;
	const struct journal_entry *const entry = journal_find(a->r.journal, key, (size_t)n);
	if (entry == NULL || entry->why == NULL)
		return;
	deployment_view_plan(&v, a, &w);
	if (v.exists) {
		json_open(out, "inputs", '{');
		put_inputs(&v, a, out);
		json_close(out, '}');
		json_str(out, "rule", v.plan.message);
		json_open(out, "decided", '{');
		json_str(out, "verb", capa_verb_name(v.plan.verb));
		put_annotations(&v, out);
		json_close(out, '}');
	}
	journal_put_write(entry, out);
}

static void
put_inputs(const struct deployment_view *v, const struct annotator *a, struct json *out)
{
	put_reference(out, "template", &v->template_ref, v->in.template);
	json_strn(out, "instance type", v->in.instance_type.p, v->in.instance_type.len);
	put_reference(out, "cluster", &v->cluster_ref, v->in.cluster);
	put_reference(out, v->region_ref.name.len > 0 && v->region_row == ANNOTATOR_CONTROL_PLANES
	    ? "control plane" : "AWS cluster", &v->region_ref, v->in.region_object);
	json_strn(out, "region", v->plan.region.p, v->plan.region.len);
	if (v->in.region.len == 0 && v->plan.region.len > 0)
		json_str(out, "region from", CAPA_REGION_ANNOTATION);
	json_str(out, "partition of the role", aws_partition_name(v->in.partition));
	put_catalogue(v, a, out);
	if (a->session.error[0] != '\0')
		json_str(out, "credentials", a->session.error);
}

static void
put_reference(struct json *out, const char *what, const struct capa_object *ref, enum capa_presence presence)
{
	static const char *const texts[] = { [CAPA_ABSENT] = "does not exist",
		[CAPA_UNREAD] = "not listed yet",
		[CAPA_FORBIDDEN] = "may not be read",
		[CAPA_PRESENT] = "" };
	char text[400];

	if (ref->name.len == 0)
		return;
	snprintf(text, sizeof(text), "%.*s/%.*s%s%s",
	    (int)(ref->namespace.len < 64 ? ref->namespace.len : 64), ref->namespace.p,
	    (int)(ref->name.len < 254 ? ref->name.len : 254), ref->name.p,
	    presence == CAPA_PRESENT ? "" : ": ", texts[presence]);
	json_str(out, what, text);
}

static void
put_catalogue(const struct deployment_view *v, const struct annotator *a, struct json *out)
{
	struct catalogue_state state;

	if (!catalogue_state(a->catalogue, v->plan.region, &state))
		return;
	json_int(out, "types of the region", state.types);
	if (state.completed_ms >= 0)
		json_int(out, "read seconds ago", (clock_mono_ms() - state.completed_ms) / 1000);
	if (state.walking)
		json_int(out, "pages read so far", state.pages);
	if (state.error[0] != '\0')
		json_str(out, "last reading", state.error);
	if (v->in.found && v->in.answer == CATALOGUE_KNOWN) {
		json_int(out, "vCPUs", v->in.type.vcpus);
		json_int(out, "memory MiB", v->in.type.memory_mib);
		json_int(out, "GPUs", v->in.type.gpus);
		json_str(out, "architecture", v->in.type.arch == ARCH_ARM64 ? "arm64" : "amd64");
	}
}

static void
put_annotations(const struct deployment_view *v, struct json *out)
{
	for (unsigned k = 0; v->plan.verb == CAPA_PATCH && k < CAPA_KEY_MAX; k++) {
		const char *const key = capa_key_name((enum capa_key)k);
		const struct wire_str value = v->plan.annotations.value[k];

		if (v->plan.annotations.change[k] == CAPA_SET)
			json_strn(out, key, value.p, value.len);
		else if (v->plan.annotations.change[k] == CAPA_REMOVE)
			json_str(out, key, "removed");
	}
}
