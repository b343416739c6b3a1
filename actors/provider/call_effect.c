/* actors/provider/call_effect.c - calls of a provider as effects of a reconciler. */
#include "call_effect.h"

#include <string.h>

#include "call_action.h"
#include "clock.h"
#include "log.h"
#include "obj.h"
#include "token.h"

struct call_effect {
	TAILQ_ENTRY(call_effect)	 next;
	struct call_effects		*all;
	struct inflight_effect		*effect;
	const char			*key;		/* of the work queue: valid until it is finished */
	bool				 (*answered)(struct reconciler *, const char *,
					    const struct reconcile_write *, const struct client_answer *);
	unsigned			 class;
	uint64_t			 trace;
	bool				 continued;
};

static void send_call(struct call_effect *, const struct client_call *);
static const struct fence_lease *read_lease(void *);
static void on_done(const struct client_answer *, void *);
static int64_t fence_ms(const struct call_effect *, const struct client_answer *);

bool
call_effects_open(struct call_effects *c, struct reconciler *r, const struct client_config *config)
{
	struct client_config full = *config;
	char err[TOKEN_ERROR_MAX];

	TAILQ_INIT(&c->open);
	c->r = r;
	c->started_ms = clock_mono_ms();
	full.base = actor_base(r->actor);
	full.actor = r->actor;
	full.read_lease = read_lease;
	full.read_lease_arg = c;
	full.started_ms = c->started_ms;
	c->client = client_new(&full, err, sizeof(err));
	if (c->client == NULL)
		log_error("no token for the provider", KV_S(HOST, config->url), KV_S(WHY, err),
		    KV_S(HINT, "put it into the file that the setting names, then restart the actor"));
	return c->client != NULL;
}

void
call_effects_close(struct call_effects *c)
{
	struct call_effect *e;

	client_free(&c->client);
	while ((e = TAILQ_FIRST(&c->open)) != NULL) {
		TAILQ_REMOVE(&c->open, e, next);
		reconcile_effect_done(c->r, e->effect, call_outcome_name(CALL_UNKNOWN),
		    wire_str_of("the actor stops"), &(struct outcome_action){ .result = WORK_DONE });
		free(e);
	}
}

void
call_effect_send(struct call_effects *c, struct inflight_effect *f, const struct work *w,
    const struct client_call *call, call_answered *answered)
{
	struct call_effect *const e = obj_alloc(sizeof(*e));

	e->all = c;
	e->effect = f;
	e->key = w->key;
	e->trace = w->trace;
	e->answered = answered;
	TAILQ_INSERT_TAIL(&c->open, e, next);
	send_call(e, call);
}

void
call_effect_continue(struct call_effects *c, const struct client_call *call)
{
	MUST(c->answered != NULL && !c->answered->continued);
	c->answered->continued = true;
	send_call(c->answered, call);
}

static void
send_call(struct call_effect *e, const struct client_call *call)
{
	struct client_call full = *call;

	e->class = call->class;
	full.key = e->key;
	full.trace = e->trace;
	full.done = on_done;
	full.arg = e;
	client_send(e->all->client, &full);
}

const struct fence_lease *
call_effects_lease(struct call_effects *c)
{
	struct change found;
	union msg_body value;

	c->lease = (struct fence_lease){ .known = false };
	if (actor_read(c->r->actor, c->r->spec->links[0], ":leader", strlen(":leader"), &found, &value))
		c->lease = (struct fence_lease){ .known = true, .leading = value.leader.leading,
			.clean = value.leader.clean, .since_ms = value.leader.since_ms,
			.until_ms = value.leader.until_ms };
	return &c->lease;
}

static const struct fence_lease *
read_lease(void *arg)
{
	return call_effects_lease(arg);
}

static void
on_done(const struct client_answer *a, void *arg)
{
	struct call_effect *const e = arg;
	struct reconciler *const r = e->all->r;

	e->continued = false;
	e->all->answered = e;
	const bool taken = e->answered(r, e->key, reconcile_effect_write(e->effect), a);
	e->all->answered = NULL;
	if (e->continued)
		return;
	const struct outcome_action action = call_action(&(struct call_facts){ .outcome = a->outcome,
	    .status = a->status, .taken = taken, .token_changed = a->token_changed, .fence = a->fence,
	    .fence_ms = fence_ms(e, a), .retry_after_ms = a->retry_after_ms });

	TAILQ_REMOVE(&e->all->open, e, next);
	reconcile_effect_done(r, e->effect, call_outcome_name(a->outcome), wire_str_of(a->error), &action);
	free(e);
}

/* How long the fence stays closed, where that is known. */
static int64_t
fence_ms(const struct call_effect *e, const struct client_answer *a)
{
	if (a->fence == FENCE_OPEN)
		return 0;
	const struct fence_verdict v = client_fence(e->all->client, e->class, false);
	return v.reason == FENCE_OPEN || v.retry_at_ms == INT64_MAX ? 0 : v.retry_at_ms - clock_mono_ms();
}
