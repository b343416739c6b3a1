/*
 * tests/dst/annotator_breaks.c - redirected calls between files of capa-annotator: the real ones unless
 * broken.
 */
#include <string.h>

#include "capa-annotator/capa.h"
#include "capa-annotator/ref_index.h"
#include "obj.h"
#include "runtime_breaks.h"
#include "world_annotator.h"

enum catalogue_answer __real_catalogue_find(struct catalogue *c, struct wire_str region, struct wire_str type,
    int64_t now_ms, struct instance_type *out);
enum catalogue_answer __wrap_catalogue_find(struct catalogue *c, struct wire_str region, struct wire_str type,
    int64_t now_ms, struct instance_type *out);
enum catalogue_page __real_catalogue_page(
    struct catalogue *c, struct wire_str region, struct wire_str next_token);
enum catalogue_page __wrap_catalogue_page(
    struct catalogue *c, struct wire_str region, struct wire_str next_token);
bool __real_catalogue_state(
    const struct catalogue *c, struct wire_str region, struct catalogue_state *out);
bool __wrap_catalogue_state(
    const struct catalogue *c, struct wire_str region, struct catalogue_state *out);
void __real_capa_plan(const struct capa_input *s, struct capa_plan *out);
void __wrap_capa_plan(const struct capa_input *s, struct capa_plan *out);
bool __real_capa_annotations(const struct instance_type *type,
    const struct wire_str current[CAPA_KEY_MAX], struct capa_annotations *out);
bool __wrap_capa_annotations(const struct instance_type *type,
    const struct wire_str current[CAPA_KEY_MAX], struct capa_annotations *out);
size_t __real_capa_patch_body(
    char *buf, size_t size, const struct capa_annotations *a, struct wire_str resource_version);
size_t __wrap_capa_patch_body(
    char *buf, size_t size, const struct capa_annotations *a, struct wire_str resource_version);
void __real_ref_index_each(
    const struct ref_index *x, struct wire_str target, ref_owner *fn, void *arg);
void __wrap_ref_index_each(
    const struct ref_index *x, struct wire_str target, ref_owner *fn, void *arg);

enum catalogue_answer
__wrap_catalogue_find(struct catalogue *c, struct wire_str region, struct wire_str type, int64_t now_ms,
    struct instance_type *out)
{
	const enum catalogue_answer answer = __real_catalogue_find(c, region, type, now_ms, out);

	return runtime_breaks.failed_is_unknown && answer == CATALOGUE_FAILED ? CATALOGUE_UNKNOWN : answer;
}

enum catalogue_page
__wrap_catalogue_page(struct catalogue *c, struct wire_str region, struct wire_str next_token)
{
	const enum catalogue_page page = __real_catalogue_page(c, region, next_token);

	return runtime_breaks.first_page ? CATALOGUE_LAST : page;
}

bool
__wrap_catalogue_state(const struct catalogue *c, struct wire_str region, struct catalogue_state *out)
{
	const bool known = __real_catalogue_state(c, region, out);

	if (runtime_breaks.walk_again && known && out->completed_ms >= 0 && !out->walking
	    && out->error[0] == '\0')
		out->due_ms = out->completed_ms + CAPAW_EARLY_MS;
	return known;
}

void
__wrap_capa_plan(const struct capa_input *s, struct capa_plan *out)
{
	__real_capa_plan(s, out);
	if (!runtime_breaks.clear_when_gone || out->verb != CAPA_WARN)
		return;
	for (unsigned k = 0; k < CAPA_KEY_MAX; k++) {
		out->annotations.change[k] = s->current[k].p != NULL ? CAPA_REMOVE : CAPA_KEEP;
		out->annotations.changes += s->current[k].p != NULL;
	}
	out->verb = out->annotations.changes > 0 ? CAPA_PATCH : CAPA_WARN;
}

bool
__wrap_capa_annotations(const struct instance_type *type, const struct wire_str current[CAPA_KEY_MAX],
    struct capa_annotations *out)
{
	const bool fits = __real_capa_annotations(type, current, out);

	for (unsigned k = CAPA_KEY_GPU_COUNT; runtime_breaks.keep_gpus && k <= CAPA_KEY_GPU_TYPE; k++) {
		out->changes -= out->change[k] == CAPA_REMOVE;
		out->change[k] = out->change[k] == CAPA_REMOVE ? CAPA_KEEP : out->change[k];
	}
	return fits;
}

size_t
__wrap_capa_patch_body(
    char *buf, size_t size, const struct capa_annotations *a, struct wire_str resource_version)
{
	if (runtime_breaks.no_version)
		resource_version.len = 0;
	return __real_capa_patch_body(buf, size, a, resource_version);
}

/* Only types and regions of the catalogue have owners that are planned again. */
void
__wrap_ref_index_each(const struct ref_index *x, struct wire_str target, ref_owner *fn, void *arg)
{
	const bool catalogue = target.len > strlen("types/")
	    && (memcmp(target.p, "types/", strlen("types/")) == 0 || target.p[0] == 'r');

	if (!runtime_breaks.unwatched || catalogue)
		__real_ref_index_each(x, target, fn, arg);
}
