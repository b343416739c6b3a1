/*
 * tests/dst/runtime_actor.c - actor.h in the simulation, as far as the product's actor.c has it: identity,
 * settings, status, dispatch; and the writes of an actor, which are effects at which it can be killed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "obj.h"
#include "runtime.h"
#include "runtime_breaks.h"

/* A write between actor_write and its `done`. */
struct open_write {
	struct runtime_actor	*actor;
	write_done		*done;
	void			*arg;
	uint32_t		 tag;		/* of the world */
};

/* Linked with --wrap=actor_write: the program's calls come here first. */
uint64_t __real_actor_write(
    struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg);
uint64_t __wrap_actor_write(
    struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg);

static write_done on_done, on_second_done;
static void on_change(const struct change *, void *);
static void on_report(enum role, uint64_t, const char *, void *);
static void on_write(const struct write_in *, void *);
static void on_session_ended(enum role, void *);
static void on_wrote(const struct write_result *, write_done *, void *, void *);

struct bus_owner
runtime_bus_owner(struct runtime_actor *ra)
{
	return (struct bus_owner){
		.changed = on_change, .report = on_report, .write = on_write, .wrote = on_wrote,
		.session_ended = on_session_ended, .arg = ra,
	};
}

/* ---- Writes ---- */

uint64_t
__wrap_actor_write(struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg)
{
	struct runtime_actor *const ra = runtime_actor_of(a);
	struct open_write *const o = obj_alloc(sizeof(*o));

	*o = (struct open_write){ .actor = ra, .done = done, .arg = arg };
	ra->open_writes++;
	if (!ra->killed) {
		o->tag = ra->runtime->hooks.requested(ra, l, w);
		if (runtime_breaks.write_twice && w->op != OP_GET && w->op != OP_EVENT) {
			ra->runtime->hooks.requested(ra, l, w);
			__real_actor_write(a, l, w, on_second_done, NULL);
		}
		runtime_effect(ra, EFFECT_REQUESTED);
	}
	return __real_actor_write(a, l, w, on_done, o);
}

static void
on_done(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	const struct open_write o = *(struct open_write *)arg;
	struct runtime_actor *const ra = o.actor;

	free(arg);
	ra->open_writes--;
	if (!ra->killed) {
		ra->runtime->hooks.answered(ra, o.tag, r);
		runtime_effect(ra, EFFECT_ANSWERED);
	}
	o.done(a, self, r, o.arg);
}

static void
on_second_done(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	(void)a, (void)self, (void)r, (void)arg;
}

void
runtime_kill_after(struct runtime_actor *ra, enum runtime_effect effect, uint32_t n)
{
	ra->kill_effect = effect;
	ra->kill_at = n;
}

void
runtime_effect(struct runtime_actor *ra, enum runtime_effect effect)
{
	ra->effects[effect]++;
	if (ra->kill_at != 0 && ra->kill_effect == effect && ra->effects[effect] == ra->kill_at)
		runtime_kill(ra);
}

/* ---- Callbacks of the bus, as in actor.c ---- */

static void
on_change(const struct change *c, void *arg)
{
	struct runtime_actor *const ra = arg;
	struct change changed = *c;
	union msg_body body;

	if (runtime_breaks.always_leading && c->type == MSG_LEADER && c->kind != CHANGE_GONE) {
		body = *c->value;
		body.leader.leading = true;
		changed.value = &body;
	}
	if (!ra->killed)
		ra->runtime->hooks.changed(ra, c);
	log_set_trace(c->trace);
	actor_dispatch(&ra->actor, &changed);
	log_set_trace(0);
}

void
actor_dispatch(struct actor *a, const struct change *c)
{
	for (size_t i = 0; i < a->spec->nrows; i++) {
		const struct actor_row *const row = &a->spec->rows[i];

		if (row->message == c->type && (row->from == c->from || row->from == ROLE_ANY))
			row->handler(a, a->self, c);
	}
}

static void
on_report(enum role who, uint64_t incarnation, const char *reason, void *arg)
{
	const struct runtime_actor *const ra = arg;

	(void)incarnation;
	SIM_TRACE(ra->runtime->sim, "%s reports %s: %s", ra->name,
	    who == ROLE_NONE ? "an unknown sender" : role_name(who), reason);
}

static void
on_write(const struct write_in *w, void *arg)
{
	struct runtime_actor *const ra = arg;

	MUST(ra->actor.spec->on_write != NULL);
	ra->actor.spec->on_write(&ra->actor, ra->actor.self, w);
}

static void
on_session_ended(enum role from, void *arg)
{
	struct runtime_actor *const ra = arg;

	if (ra->actor.spec->on_session_ended != NULL)
		ra->actor.spec->on_session_ended(&ra->actor, ra->actor.self, from);
}

static void
on_wrote(const struct write_result *r, write_done *done, void *done_arg, void *arg)
{
	struct runtime_actor *const ra = arg;

	done(&ra->actor, ra->actor.self, r, done_arg);
}

void
actor_send_synced(struct actor *a)
{
	(void)a;	/* nobody waits for it: the world starts every program */
}

/* ---- What actors call ---- */

void
actor_status(struct actor *a, const char *fmt, ...)
{
	struct runtime_actor *const ra = runtime_actor_of(a);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ra->status, sizeof(ra->status), fmt, ap);
	va_end(ap);
}

/* No stop of a history is orderly. */
void
actor_extend_stop(struct actor *a, int64_t ms)
{
	(void)a, (void)ms;
}

void
actor_exit(struct actor *a, int code)
{
	a->exit_code = code;
	a->ending = true;
}

struct runtime_actor *
runtime_actor_of(const struct actor *a)
{
	return (struct runtime_actor *)((uintptr_t)a - offsetof(struct runtime_actor, actor));
}
