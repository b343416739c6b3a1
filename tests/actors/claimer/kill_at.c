/*
 * tests/actors/claimer/kill_at.c - ends the claimer that it is linked to by SIGKILL at its n-th effect, for
 * crash sweeps.
 *
 *	echo '7 sent' >RUN_DIR/ACTOR/kill-at
 *
 * The file is read, and removed, at the first effect after it was written, which is number 1. `sent`: the
 * process ends KILL_SENT_MS after the effect began, when a slow server has it and has not answered.
 * `answered`: it ends when the answer is there and before anybody has seen it. An effect is a write or a
 * live read through kube-watcher, or a call of the provider. The functions are redirected at link time
 * (--wrap), so the program itself does not have this.
 */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actors/provider/client.h"
#include "actor.h"
#include "obj.h"
#include "roles.h"

enum { KILL_SENT_MS = 40 };

enum kill_at { KILL_NEVER, KILL_SENT, KILL_ANSWERED };

static struct actor *actor;
static unsigned left;		/* effects until the last one; 0: none is armed */
static bool at_answer;

struct client *__real_client_new(const struct client_config *config, char *err, size_t size);
struct client *__wrap_client_new(const struct client_config *config, char *err, size_t size);
uint64_t __real_client_send(struct client *c, const struct client_call *call);
uint64_t __wrap_client_send(struct client *c, const struct client_call *call);
uint64_t __real_actor_write(
    struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg);
uint64_t __wrap_actor_write(
    struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg);

static enum kill_at next_effect(void);
static void arm(void);
static void kill_later(void);
static void on_timer(evutil_socket_t, short, void *);
static void on_answer(const struct client_answer *, void *);
static write_done on_result;
static _Noreturn void end_process(void);

/* The first call that has the actor, where there is a provider. */
struct client *
__wrap_client_new(const struct client_config *config, char *err, size_t size)
{
	actor = config->actor;
	return __real_client_new(config, err, size);
}

uint64_t
__wrap_client_send(struct client *c, const struct client_call *call)
{
	const enum kill_at k = next_effect();
	struct client_call changed = *call;

	if (k == KILL_ANSWERED)
		changed.done = on_answer;
	if (k == KILL_SENT)
		kill_later();
	return __real_client_send(c, &changed);
}

uint64_t
__wrap_actor_write(struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg)
{
	actor = a;		/* one that calls no provider has it from here */
	const enum kill_at k = next_effect();

	if (k == KILL_SENT)
		kill_later();
	return __real_actor_write(a, l, w, k == KILL_ANSWERED ? on_result : done, arg);
}

static enum kill_at
next_effect(void)
{
	if (left == 0)
		arm();
	if (left == 0 || --left > 0)
		return KILL_NEVER;
	return at_answer ? KILL_ANSWERED : KILL_SENT;
}

static void
arm(void)
{
	char path[512], when[16];
	FILE *file;

	if (actor == NULL)
		return;
	snprintf(path, sizeof(path), "%s/%s/kill-at", actor_run_dir(actor), role_name(actor_role(actor)));
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fscanf(file, "%u %15s", &left, when) != 2)
		left = 0;
	else
		at_answer = strcmp(when, "answered") == 0;
	fclose(file);
	unlink(path);
}

static void
kill_later(void)
{
	const struct timeval delay = { .tv_usec = KILL_SENT_MS * 1000 };

	MUST(event_base_once(actor_base(actor), -1, EV_TIMEOUT, on_timer, NULL, &delay) == 0);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	end_process();
}

static void
on_answer(const struct client_answer *a, void *arg)
{
	(void)a, (void)arg;
	end_process();
}

static void
on_result(struct actor *a, void *self, const struct write_result *r, void *arg)
{
	(void)a, (void)self, (void)r, (void)arg;
	end_process();
}

static void
end_process(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}
