/* tests/dst/vpsie_breaks.c - redirected calls between files of vpsie-claimer: the real ones unless broken. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"
#include "vpsie-claimer/vpsie.h"

struct vpsie_step __real_vpsie_step(const struct vpsie_facts *f);
struct vpsie_step __wrap_vpsie_step(const struct vpsie_facts *f);
void __real_discover(const struct discover_input *in, void *memory, struct discover_result *out);
void __wrap_discover(const struct discover_input *in, void *memory, struct discover_result *out);
enum discover_reason __real_candidate_check(const struct discover_input *in,
    const struct discover_vpsienode *v, const struct machine *m, enum discover_reason rule);
enum discover_reason __wrap_candidate_check(const struct discover_input *in,
    const struct discover_vpsienode *v, const struct machine *m, enum discover_reason rule);
bool __real_vpsie_node_write(struct vpsienode_view *v, const struct vpsie_step *s,
    struct reconcile_step *step);
bool __wrap_vpsie_node_write(struct vpsienode_view *v, const struct vpsie_step *s,
    struct reconcile_step *step);

/* The patch of the labels has no resourceVersion. */
bool
__wrap_vpsie_node_write(struct vpsienode_view *v, const struct vpsie_step *s, struct reconcile_step *step)
{
	const bool good = __real_vpsie_node_write(v, s, step);

	if (good && runtime_breaks.blind_label && s->verb == VPSIE_LABEL)
		step->write.rv[0] = '\0';
	return good;
}

/* The request comes first; the intent is written when its answer is there. */
struct vpsie_step
__wrap_vpsie_step(const struct vpsie_facts *f)
{
	const struct vpsienode_view *const v = (const struct vpsienode_view *)(uintptr_t)((const char *)f
	    - offsetof(struct vpsienode_view, facts));
	struct vpsie_facts broken = *f;
	struct vpsie_step s = __real_vpsie_step(f);

	if (!runtime_breaks.no_intent || s.verb != VPSIE_INTEND || v->claim->intent.sent)
		return s;
	broken.intent = true;
	s = __real_vpsie_step(&broken);
	return s;
}

/* What is newest counts as oldest. */
void
__wrap_discover(const struct discover_input *in, void *memory, struct discover_result *out)
{
	struct discover_input broken = *in;
	struct machine *machines;

	if (!runtime_breaks.newest_first || in->nmachines == 0) {
		__real_discover(in, memory, out);
		return;
	}
	machines = obj_memdup(in->machines, in->nmachines * sizeof(*machines));
	for (uint32_t i = 0; i < in->nmachines; i++)
		machines[i].created_us = INT64_MAX / 2 - machines[i].created_us;
	broken.machines = machines;
	__real_discover(&broken, memory, out);
	free(machines);
}

enum discover_reason
__wrap_candidate_check(const struct discover_input *in, const struct discover_vpsienode *v,
    const struct machine *m, enum discover_reason rule)
{
	const enum discover_reason why = __real_candidate_check(in, v, m, rule);
	const bool other = why == DISCOVER_OTHER_SIZE || why == DISCOVER_OTHER_DATACENTER
	    || why == DISCOVER_EXISTED || why == DISCOVER_OLDER || why == DISCOVER_UNDATED;

	return runtime_breaks.newest_first && other ? DISCOVER_FREE : why;
}
