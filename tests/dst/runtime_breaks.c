/* tests/dst/runtime_breaks.c - redirected calls between files of the product: the real ones unless broken. */
#include "runtime_breaks.h"

#include "actor.h"
#include "kube/time.h"
#include "provider/absence.h"
#include "provider/brake.h"
#include "provider/call_outcome.h"
#include "provider/fence.h"
#include "reconcile/reconcile.h"
#include "workqueue.h"

bool __real_actor_fresh(const struct actor *a, enum link l);
bool __wrap_actor_fresh(const struct actor *a, enum link l);
struct outcome_action __real_outcome_action(enum op op, enum outcome o, int64_t retry_after_ms);
struct outcome_action __wrap_outcome_action(enum op op, enum outcome o, int64_t retry_after_ms);
void __real_workqueue_finish(struct workqueue *q, const char *key, size_t len, enum work_result result,
    int64_t after_ms, int64_t now_ms);
void __wrap_workqueue_finish(struct workqueue *q, const char *key, size_t len, enum work_result result,
    int64_t after_ms, int64_t now_ms);
bool __real_time_parse(const char *text, size_t len, int64_t *us);
bool __wrap_time_parse(const char *text, size_t len, int64_t *us);
struct fence_verdict __real_fence_check(const struct fence_lease *lease, const struct fence_call *call,
    int64_t started_ms, int64_t now_ms);
struct fence_verdict __wrap_fence_check(const struct fence_lease *lease, const struct fence_call *call,
    int64_t started_ms, int64_t now_ms);
int64_t __real_fence_settled_ms(const struct fence_lease *lease, int64_t started_ms);
int64_t __wrap_fence_settled_ms(const struct fence_lease *lease, int64_t started_ms);
enum absence_verdict __real_absence_observe(struct absence *a, bool absent, uint64_t list, int64_t began_ms,
    int64_t apart_ms, int64_t now_ms);
enum absence_verdict __wrap_absence_observe(struct absence *a, bool absent, uint64_t list, int64_t began_ms,
    int64_t apart_ms, int64_t now_ms);
struct brake_verdict __real_brake_check(const struct brake *b, bool mirror_fresh, int64_t now_ms);
struct brake_verdict __wrap_brake_check(const struct brake *b, bool mirror_fresh, int64_t now_ms);
void __real_brake_called(struct brake *b, int64_t now_ms);
void __wrap_brake_called(struct brake *b, int64_t now_ms);
enum own_write_state __real_own_write_check(
    const struct own_write *o, const struct change *seen, int64_t now_ms);
enum own_write_state __wrap_own_write_check(
    const struct own_write *o, const struct change *seen, int64_t now_ms);
enum work_result __real_reconcile_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms);
enum work_result __wrap_reconcile_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms);
void __real_actor_finish(
    struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms);
void __wrap_actor_finish(
    struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms);
enum call_outcome __real_call_outcome(const struct call_end *e);
enum call_outcome __wrap_call_outcome(const struct call_end *e);

enum { PLAN_AGAIN_MS = 500 };

struct runtime_breaks runtime_breaks;

bool
__wrap_actor_fresh(const struct actor *a, enum link l)
{
	return runtime_breaks.always_fresh || __real_actor_fresh(a, l);
}

struct outcome_action
__wrap_outcome_action(enum op op, enum outcome o, int64_t retry_after_ms)
{
	struct outcome_action action = __real_outcome_action(op, o, retry_after_ms);

	if (runtime_breaks.no_read_live)
		action.read_live = false;
	if (runtime_breaks.busy_is_done && o == OUTCOME_BUSY)
		action.result = WORK_DONE;
	if (runtime_breaks.refused_again && action.refused) {
		action.refused = false;
		action.result = WORK_RETRY;
	}
	return action;
}

void
__wrap_workqueue_finish(struct workqueue *q, const char *key, size_t len, enum work_result result,
    int64_t after_ms, int64_t now_ms)
{
	if (runtime_breaks.no_retry && result == WORK_RETRY)
		result = WORK_DONE;
	__real_workqueue_finish(q, key, len, result, after_ms, now_ms);
}

bool
__wrap_time_parse(const char *text, size_t len, int64_t *us)
{
	return !runtime_breaks.no_times && __real_time_parse(text, len, us);
}

struct fence_verdict
__wrap_fence_check(const struct fence_lease *lease, const struct fence_call *call, int64_t started_ms,
    int64_t now_ms)
{
	struct fence_call broken = *call;

	if (runtime_breaks.flag_as_fence && lease->leading)
		return (struct fence_verdict){ .reason = FENCE_OPEN, .begin_before_ms = INT64_MAX };
	if (runtime_breaks.no_margin)
		broken.timeout_ms = 1;
	if (runtime_breaks.no_settle)
		broken.idempotent = true;
	return __real_fence_check(lease, &broken, started_ms, now_ms);
}

int64_t
__wrap_fence_settled_ms(const struct fence_lease *lease, int64_t started_ms)
{
	return runtime_breaks.no_settle ? 0 : __real_fence_settled_ms(lease, started_ms);
}

enum absence_verdict
__wrap_absence_observe(struct absence *a, bool absent, uint64_t list, int64_t began_ms, int64_t apart_ms,
    int64_t now_ms)
{
	const enum absence_verdict v = __real_absence_observe(a, absent, list, began_ms, apart_ms, now_ms);

	return runtime_breaks.one_observation && v == ABSENCE_WAIT ? ABSENCE_CONFIRMED : v;
}

enum call_outcome
__wrap_call_outcome(const struct call_end *e)
{
	const enum call_outcome o = __real_call_outcome(e);

	return runtime_breaks.blind_repeat && o == CALL_UNKNOWN ? CALL_NOT_SENT : o;
}

struct brake_verdict
__wrap_brake_check(const struct brake *b, bool mirror_fresh, int64_t now_ms)
{
	return runtime_breaks.no_brake ? (struct brake_verdict){ BRAKE_RELEASED, 0 }
				       : __real_brake_check(b, mirror_fresh, now_ms);
}

/* More calls than its window allows would not fit into it. */
void
__wrap_brake_called(struct brake *b, int64_t now_ms)
{
	if (!runtime_breaks.no_brake)
		__real_brake_called(b, now_ms);
}

enum own_write_state
__wrap_own_write_check(const struct own_write *o, const struct change *seen, int64_t now_ms)
{
	return runtime_breaks.stale_own_write ? OWN_WRITE_SEEN : __real_own_write_check(o, seen, now_ms);
}

/* The key leaves the state "in work" at once. It stays in the queue: its effect refers to its text. */
enum work_result
__wrap_reconcile_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	const enum work_result result = __real_reconcile_work(a, self, w, after_ms);

	if (!runtime_breaks.no_defer || result == WORK_RETRY || (result == WORK_AFTER && *after_ms > 0))
		return result;
	*after_ms = PLAN_AGAIN_MS;
	return WORK_AFTER;
}

void
__wrap_actor_finish(struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms)
{
	if (!runtime_breaks.no_defer)
		__real_actor_finish(a, key, len, result, after_ms);
	else
		actor_enqueue(a, key, len, WORK_LIVE, 0);
}
