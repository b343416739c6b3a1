/* supervisor/tree.c - stages up, stages down, and the deadlines of everybody. */
#include "tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"
#include "obj.h"
#include "paths.h"
#include "random.h"
#include "sdnotify.h"

enum {
	STATUS_MS = 5000,		/* the status is sent at least this often */
	STATUS_TEXT_MS = 100,	/* and at most this often, when only a status text of an actor is new */
	STUCK_MS = 3000,	/* after the last SIGKILL; then the process hangs in the kernel */
};

static void name_instance(struct tree *);
static bool degraded(const struct tree *);
static void restart_due(struct tree *);
static void open_stages(struct tree *);
static void close_stages(struct tree *);
static void publish_status(struct tree *);
static void kill_all(struct tree *, const char *);
static bool any_process(const struct tree *);

struct config *
tree_config(const struct tree_setup *setup, struct config_errors *errs)
{
	const char *const text = setup->config_text;

	return text != NULL ? config_parse("flags", text, strlen(text), errs)
			    : config_load(paths_config(setup->config_path), errs);
}

struct tree *
tree_new(const struct tree_setup *setup, int epoll_fd, int null_fd, struct config **config,
    struct spec_set **specs)
{
	struct tree *t;

	OBJ_NEW(t, TREE_MAGIC);
	t->setup = *setup;
	t->config = *config;
	*config = NULL;
	OBJ_TAKE(t->specs, specs, SPEC_SET_MAGIC);
	t->epoll_fd = epoll_fd;
	t->now_ms = t->started_ms = clock_mono_ms();
	random_secret(&t->random, sizeof(t->random));
	name_instance(t);
	t->deps = (struct child_deps){
		.run_dir = setup->run_dir, .null_fd = null_fd,
		.confine = t->specs->confine && confine_version() > 0,
		.own_syscalls = t->specs->own_syscalls && confine_syscalls(),
		.change_user = t->specs->change_user, .uid = t->specs->uid, .gid = t->specs->gid,
	};
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		t->children[i] = (struct child){
			.row = &child_table[i], .spec = &t->specs->children[i],
			.name = role_name(child_table[i].role), .tree = t,
			.state = ST_OFF, .level = log_get_level(),
			.lifeline = WATCH_CLOSED, .log.watch = WATCH_CLOSED,
		};
	}
	return t;
}

void
tree_free(struct tree **tp)
{
	struct tree *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TREE_MAGIC);
	TREE_EACH(t, ch) {
		watch_close(&ch->lifeline);
		watch_close(&ch->log.watch);
		peers_wipe(ch);
	}
	spec_free(&t->specs);
	config_free(&t->config);
	OBJ_FREE(t);
}

/* The host for people, the rest against two replicas on one host. A restart of an actor keeps it. */
static void
name_instance(struct tree *t)
{
	char host[64] = "";
	uint64_t random;

	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c != '\0'; c++) {
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *c) == NULL)
			*c = '-';
	}
	random_secret(&random, sizeof(random));
	snprintf(t->instance, sizeof(t->instance), "%s_%016" PRIx64, host, random);
}

struct child *
tree_child(struct tree *t, enum role r)
{
	const enum child_id id = child_find(r);

	return id == CHILD_MAX ? NULL : &t->children[id];
}

void
tree_set_level(struct tree *t, enum role r, enum log_level level)
{
	TREE_EACH(t, ch) {
		if (r != ROLE_ANY && ch->row->role != r)
			continue;
		ch->level = level;
		ch->level_dirty = ch->pid != 0;
	}
}

void
tree_start(struct tree *t)
{
	if (t->specs->confine && !t->deps.confine)
		log_warnx(
		    "this kernel has no Landlock: that each actor opens only its own credential is advisory",
		    KV_S(HINT, "a kernel from 5.13 on with CONFIG_SECURITY_LANDLOCK enforces it"));
	if (t->specs->own_syscalls && !t->deps.own_syscalls)
		log_warnx("this kernel has no seccomp filters: actors can make any system call",
		    KV_S(HINT, "a kernel with CONFIG_SECCOMP_FILTER restricts them"));
	TREE_EACH(t, ch) {
		if (ch->spec->enabled)
			act_feed(ch, EV_ENABLE);
	}
}

void
tree_stop(struct tree *t, int exit_code, const char *why)
{
	if (exit_code != 0)
		t->exit_code = exit_code;
	if (t->stopping) {
		if (exit_code == 0)
			kill_all(t, why);
		return;
	}
	log_info("stopping", KV_S(WHY, why), KV_I(LIMIT, t->specs->stop_ms));
	t->stopping = t->changed = true;
	t->stop_by_ms = t->now_ms + t->specs->stop_ms;
	sdnotify("STOPPING=1\nSTATUS=stopping: %s", why);
	TREE_EACH(t, ch) {
		if (!fsm_has_process(ch->state))
			act_feed(ch, EV_STOP);
	}
}

/* A process that survives SIGKILL hangs in the kernel; waiting for it would make us hang too. */
bool
tree_done(const struct tree *t)
{
	if (!t->stopping)
		return false;
	return !any_process(t) || (t->killed_all && t->now_ms >= t->stop_by_ms + STUCK_MS);
}

int
tree_exit_code(const struct tree *t)
{
	if (any_process(t)) {
		log_error("a process survived SIGKILL; leaving it to the kernel");
		return EXIT_FAILURE;
	}
	return t->exit_code;
}

void
tree_judge(struct tree *t)
{
	TREE_EACH(t, ch) {
		if (ch->deadline_ms != 0 && t->now_ms >= ch->deadline_ms) {
			ch->deadline_ms = 0;
			act_feed(ch, EV_DEADLINE);
		}
		if (ch->state == ST_RUNNING
		    && policy_beats_missed(ch->beat_ms, t->specs->beat_ms, t->now_ms)) {
			log_warnx("actor missed its heartbeats; aborting it", KV_S(ACTOR, ch->name),
			    KV_I(PID, ch->pid), KV_I(INCARNATION, ch->incarnation),
			    KV_I(DURATION_MS, t->now_ms - ch->beat_ms));
			act_feed(ch, EV_BEATS_MISSED);
		}
	}
	if (t->stopping && !t->killed_all && t->now_ms >= t->stop_by_ms)
		kill_all(t, "the time for the whole stop is over");
}

void
tree_advance(struct tree *t)
{
	if (t->stopping) {
		close_stages(t);
	} else {
		restart_due(t);
		open_stages(t);
	}
	if (t->changed || t->now_ms - t->status_sent_ms >= (t->text_changed ? STATUS_TEXT_MS : STATUS_MS))
		publish_status(t);
	peers_flush_all(t);
}

int64_t
tree_next_ms(const struct tree *t)
{
	int64_t next_ms = t->status_sent_ms + (t->text_changed ? STATUS_TEXT_MS : STATUS_MS);

	TREE_EACH(t, ch) {
		if (ch->deadline_ms != 0)
			next_ms = earlier(next_ms, ch->deadline_ms);
		if (ch->state == ST_RUNNING)
			next_ms = earlier(next_ms, ch->beat_ms + t->specs->beat_ms * POLICY_MISSED_BEATS + 1);
	}
	if (t->stopping)
		next_ms = earlier(next_ms, t->killed_all ? t->stop_by_ms + STUCK_MS : t->stop_by_ms);
	return next_ms;
}

void
tree_rearm(struct tree *t, int64_t late_ms)
{
	TREE_EACH(t, ch) {
		if (ch->deadline_ms != 0)
			ch->deadline_ms = policy_rearm(ch->deadline_ms, late_ms, t->now_ms);
		if (ch->beat_ms != 0)
			ch->beat_ms = t->now_ms;
	}
	if (t->stopping)
		t->stop_by_ms = policy_rearm(t->stop_by_ms, late_ms, t->now_ms);
}

int64_t
tree_later_ms(const struct tree *t, int stop_stage)
{
	int64_t sum_ms = 0;

	for (int stage = stop_stage + 1; stage <= STOP_STAGE_MAX; stage++) {
		int64_t longest_ms = 0;

		TREE_EACH(t, ch) {
			if (ch->row->stop_stage == stage && fsm_has_process(ch->state)
			    && ch->row->stop_ms > longest_ms)
				longest_ms = ch->row->stop_ms;
		}
		sum_ms += longest_ms;
	}
	return sum_ms;
}

const char *
tree_state_name(const struct tree *t)
{
	if (t->stopping)
		return "stopping";
	if (!t->announced)
		return "starting";
	return degraded(t) ? "degraded" : "running";
}

static bool
degraded(const struct tree *t)
{
	TREE_EACH(t, ch) {
		if (!ch->spec->enabled || (ch->state == ST_STOPPED && ch->row->restart != RESTART_PERMANENT))
			continue;
		if (ch->state != ST_RUNNING || policy_unsynced(ch->synced, ch->bound_ms, t->now_ms))
			return true;
	}
	return false;
}

/* Those whose consumers changed: after the consumers that were removed, whose last writes they carry. */
static void
restart_due(struct tree *t)
{
	TREE_EACH(t, ch) {
		bool ready = ch->restart_due;

		TREE_EACH(t, other)
			ready = ready && (other->spec->enabled || other->pid == 0 || !peers_reads(other, ch));
		if (ready)
			act_feed(ch, EV_RESTART);
	}
}

/* A stage opens when everything below it has settled: bound, or (unless core) failed at least once. */
static void
open_stages(struct tree *t)
{
	int gate = INT32_MAX;

	TREE_EACH(t, ch) {
		if (ch->spec->enabled && !ch->settled && ch->row->stage < gate)
			gate = ch->row->stage;
	}
	TREE_EACH(t, ch) {
		if (ch->state == ST_WAITING && ch->row->stage <= gate)
			act_feed(ch, EV_OPEN);
	}
	if (!t->announced && gate == INT32_MAX) {
		t->announced = t->changed = true;
		log_info("every stage is up", KV_I(DURATION_MS, t->now_ms - t->started_ms));
		sdnotify("READY=1");
	}
}

/*
 * The lowest stop stage with a process left is the one whose turn it is; those above go on working
 * meanwhile.
 */
static void
close_stages(struct tree *t)
{
	int stage = INT32_MAX;

	TREE_EACH(t, ch) {
		if (fsm_has_process(ch->state) && ch->row->stop_stage < stage)
			stage = ch->row->stop_stage;
	}
	if (stage == INT32_MAX || stage == t->stop_stage)
		return;
	t->stop_stage = stage;
	log_info("stopping a stage", KV_I(STAGE, stage));
	TREE_EACH(t, ch) {
		if (ch->row->stop_stage == stage)
			act_feed(ch, EV_STOP);
	}
}

static void
kill_all(struct tree *t, const char *why)
{
	if (t->killed_all)
		return;
	log_warnx("killing what is left", KV_S(WHY, why));
	t->killed_all = true;
	t->stop_by_ms = t->now_ms;
	TREE_EACH(t, ch)
		act_feed(ch, EV_KILL_ALL);
}

static void
publish_status(struct tree *t)
{
	unsigned running = 0, enabled = 0;

	TREE_EACH(t, ch) {
		enabled += ch->spec->enabled;
		running += ch->state == ST_RUNNING;
		ch->tree_dirty = ch->row->receives_tree;
	}
	/* READY again each time: a datagram is lost when systemd's queue is full. */
	if (!t->stopping)
		sdnotify("%sSTATUS=%s: %u of %u actors running, %llu deaths", t->announced ? "READY=1\n" : "",
		    tree_state_name(t), running, enabled, (unsigned long long)t->tally.total);
	t->changed = t->text_changed = false;
	t->status_sent_ms = t->now_ms;
}

static bool
any_process(const struct tree *t)
{
	TREE_EACH(t, ch) {
		if (fsm_has_process(ch->state))
			return true;
	}
	return false;
}
