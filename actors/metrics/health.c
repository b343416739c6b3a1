/* actors/metrics/health.c - the checks behind /healthz and /readyz. Pure. */
#include "health.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>


enum { WHY_MAX = 160 };

/* State while the checks run. */
struct run {
	const char	*only;
	struct text	*out;
	size_t		 seen, failed;
};

static void note(struct run *, const char *, const char *);
/* NULL: fine. Otherwise why not, in buf or constant. */
static const char *supervisor_fault(const struct health_facts *, char *);
static const char *tree_fault(const struct health_facts *, char *);
static const char *actor_fault(const struct tree_status_actor *, char *);

enum health_verdict
health_answer(enum health_kind kind, const char *only, bool verbose, const struct health_facts *f,
    struct text *out)
{
	struct run run = { .only = only, .out = out };
	const size_t start = out->len;
	char name[TREE_STATUS_NAME_MAX + 8], why[WHY_MAX];

	if (kind == HEALTH_ALIVE) {
		note(&run, "loop", NULL);	/* that we answer is the proof */
		note(&run, "supervisor", supervisor_fault(f, why));
	} else {
		note(&run, "tree", tree_fault(f, why));
	}
	for (size_t i = 0; kind == HEALTH_READY && f->tree != NULL && i < f->tree->nactors; i++) {
		const struct tree_status_actor *a = &f->tree->actors[i];

		if (!a->enabled)
			continue;
		snprintf(name, sizeof(name), "actor/%s", a->name);
		note(&run, name, actor_fault(a, why));
	}
	if (run.seen == 0)
		return HEALTH_NO_SUCH_CHECK;
	if (run.failed == 0 && !verbose) {
		out->len = start;
		text_puts(out, "ok");
		return HEALTH_OK;
	}
	text_printf(out, "%s check %s\n", kind == HEALTH_ALIVE ? "healthz" : "readyz",
	    run.failed == 0 ? "passed" : "failed");
	return run.failed == 0 ? HEALTH_OK : HEALTH_FAILED;
}

static void
note(struct run *r, const char *name, const char *fault)
{
	if (r->only != NULL && strcmp(r->only, name) != 0)
		return;
	r->seen++;
	r->failed += fault != NULL;
	if (fault == NULL)
		text_printf(r->out, "[+]%s ok\n", name);
	else
		text_printf(r->out, "[-]%s failed: %s\n", name, fault);
}

static const char *
supervisor_fault(const struct health_facts *f, char *buf)
{
	if (f->tree_age_ms < HEALTH_TREE_OLD_MS)
		return NULL;
	snprintf(buf, WHY_MAX, "no status from the supervisor for %" PRId64 " s", f->tree_age_ms / 1000);
	return buf;
}

static const char *
tree_fault(const struct health_facts *f, char *buf)
{
	if (f->tree == NULL)
		return "the supervisor has not sent the state of its actors yet";
	if (strcmp(f->tree->state, "stopping") == 0)
		return "the supervisor is stopping";
	return supervisor_fault(f, buf);
}

static const char *
actor_fault(const struct tree_status_actor *a, char *buf)
{
	if (tree_status_running(a))
		return a->synced ? NULL : "running, but its inputs are not synced yet";
	snprintf(buf, WHY_MAX, "%.16s%s%.100s", a->state, a->last_exit != NULL ? ", last exit: " : "",
	    a->last_exit != NULL ? a->last_exit : "");
	return buf;
}
