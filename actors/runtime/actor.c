/*
 * actors/runtime/actor.c - the life of an actor: identity from the supervisor, sockets, loop,
 * beats, stop.
 *
 * Order of a start: the records `boot` and `config`, the actor's `prepare`, the system calls that it
 * does not need are given up, records of peers, `go` (lifeline.h); then the sockets are bound, the
 * actor's `start` is called, and `bound` is sent. `synced` is sent when every gating input is complete.
 * Afterwards one loop reads the lifeline, the sockets of the bus and the timers. `stop` or SIGTERM end
 * it: writes that wait are answered, the actor's `stop` is called, everything is closed, exit 0 unless
 * the actor chose another code. End of file on the lifeline means that the supervisor is dead: exit at
 * once, without `stop`.
 */
#include "actor.h"

#include <errno.h>
#include <event2/event.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "actor_private.h"
#include "boot.h"
#include "bus.h"
#include "clock.h"
#include "lifeline.h"
#include "log.h"
#include "obj.h"
#include "random.h"
#include "socket.h"

enum { BOOT_TIMEOUT_MS = 10000, STATS_MS = 1000, PROCESS_EVERY = 10, REPORT_GAP_MS = 1000,
	EXTEND_MAX_MS = 600000 };	/* that a record may name (lifeline.h) */

typedef void record_fn(struct actor *, char *);
static record_fn on_peer, on_level, on_tree, on_query, on_stop, on_go;

static const struct {
	const char	*word;
	record_fn	*fn;
} records[] = {
	{ "peer",  on_peer  },
	{ "go",    on_go    },
	{ "level", on_level },
	{ "tree",  on_tree  },
	{ "query", on_query },
	{ "stop",  on_stop  },
};

static void read_boot(struct actor *);
static size_t next_record(char *);
static int sigterm_fd(void);
static void start(struct actor *);
static void stop(struct actor *);
static void on_lifeline(evutil_socket_t, short, void *);
static void on_signal(evutil_socket_t, short, void *);
static void on_beat(evutil_socket_t, short, void *);
static void on_stats(evutil_socket_t, short, void *);
static void on_tick(evutil_socket_t, short, void *);
static void on_change(const struct change *, void *);
static void on_report(enum role, uint64_t, const char *, void *);
static void on_write(const struct write_in *, void *);
static void on_session_ended(enum role, void *);
static void on_wrote(const struct write_result *, write_done *, void *, void *);
static void every(struct actor *, struct event **, int64_t, event_callback_fn);

int
actor_main(const struct actor_spec *spec, int argc, char **argv)
{
	struct actor *a;

	(void)argc;
	if (fcntl(LIFELINE_FD, F_GETFD) == -1) {
		fprintf(stderr, "%s is an actor of muster and is started by musterd, not by hand\n", argv[0]);
		return EXIT_CONFIG;
	}
	/* libzmq's threads would each get a malloc arena of their own; they hardly allocate. */
	mallopt(M_ARENA_MAX, 1);
	crash_install();
	OBJ_NEW(a, ACTOR_MAGIC);
	a->spec = spec;
	read_boot(a);
	start(a);
	if (!a->ending)		/* dispatch would forget a break that came before it */
		MUST(event_base_dispatch(a->base) != -1);
	const int code = a->exit_code;
	stop(a);
	return code;
}

/* ---- What actors call ---- */

void
actor_status(struct actor *a, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	(void)a;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	lifeline_send(LIFELINE_FD, "status %s", text);
}

void
actor_extend_stop(struct actor *a, int64_t ms)
{
	MUST(a->stop_asked && ms > 0);
	lifeline_send(LIFELINE_FD, "extend %lld", (long long)(ms < EXTEND_MAX_MS ? ms : EXTEND_MAX_MS));
}

void
actor_exit(struct actor *a, int code)
{
	a->exit_code = code;
	a->ending = true;
	event_base_loopbreak(a->base);
}

/* ---- Start and stop ---- */

static void
read_boot(struct actor *a)
{
	char *record = obj_alloc(LIFELINE_MAX + 1);

	const size_t len = next_record(record);
	const char *wrong = boot_parse(record, &a->boot);
	explicit_bzero(record, len);	/* not all of it: untouched pages cost no memory */
	if (wrong != NULL) {
		fprintf(stderr, "the supervisor's boot record is wrong: %s\n", wrong);
		_exit(EXIT_CONFIG);
	}
	log_open(role_name(a->boot.role), a->boot.format, a->boot.level);
	if (a->spec->name != NULL && strcmp(a->spec->name, role_name(a->boot.role)) != 0)
		fatalx("started under a name that is not mine", KV_S(ACTOR, role_name(a->boot.role)));
	next_record(record);
	if (strncmp(record, "config", strlen("config")) != 0)
		fatalx("the second record is not `config`");
	a->settings = settings_parse(record + strlen("config") + (record[strlen("config")] == ' '));
	free(record);
}

/*
 * Blocked before any thread exists and for good: every thread inherits that, so SIGTERM has no way
 * to end us halfway through a stop, where it comes beside the `stop` record.
 */
static int
sigterm_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	MUST(fd != -1);
	return fd;
}

/* Its length. Blocks: before `go` there is nothing else to do. */
static size_t
next_record(char *record)
{
	struct pollfd pfd = { .fd = LIFELINE_FD, .events = POLLIN };
	const bool ready = poll(&pfd, 1, BOOT_TIMEOUT_MS) == 1;
	const long len = ready ? lifeline_recv(LIFELINE_FD, record, LIFELINE_MAX + 1) : -1;

	if (len <= 0) {
		fprintf(stderr, "no record from the supervisor\n");
		_exit(EXIT_TRANSIENT);
	}
	return (size_t)len;
}

static void
start(struct actor *a)
{
	struct bus_owner owner = {
		.changed = on_change, .report = on_report, .write = on_write, .wrote = on_wrote,
		.session_ended = on_session_ended, .interned = a->spec->interned, .arg = a,
	};

	a->base = event_base_new();
	MUST(a->base != NULL);
	a->sigterm = event_new(a->base, sigterm_fd(), EV_READ, on_signal, a);
	MUST(a->sigterm != NULL && event_add(a->sigterm, NULL) == 0);
	a->self = obj_alloc(a->spec->state_size + 1);
	if (a->spec->prepare != NULL)
		a->spec->prepare(a, a->self);
	if (a->boot.syscalls != 0)
		syscall_refuse(a->boot.syscalls);
	zsys_init();
	random_secret(&a->random, sizeof(a->random));
	msgpack_sbuffer_init(&a->buffer);
	for (size_t i = 0; i < a->spec->nrows; i++) {
		for (unsigned l = 0; l < LINK_MAX; l++)
			owner.wanted[l] |= link_table[l].values & UINT64_C(1) << a->spec->rows[i].message;
	}
	a->tap = tap_open(a->base, a->boot.run_dir, a->boot.role, a->boot.incarnation);
	if (a->tap == NULL)
		fatal("cannot open the tap", KV_S(PATH, a->boot.run_dir));
	a->bus = bus_new(a->base, a->boot.run_dir, a->boot.role, a->boot.incarnation,
	    a->tap, &owner);
	work_open(a);
	every(a, &a->lifeline, 0, on_lifeline);
	on_lifeline(LIFELINE_FD, EV_READ, a);	/* peers and `go` may be there already */
}

static void
on_go(struct actor *a, char *rest)
{
	(void)rest;
	MUST(!a->running);
	a->running = true;
	a->started_us = clock_wall_us();
	if (!bus_bind(a->bus))
		fatal("cannot bind a link", KV_S(PATH, a->boot.run_dir));
	link_store_set_ready(bus_store(a->bus, LINK_STATS));
	if (a->spec->start != NULL)
		a->spec->start(a, a->self);
	if (a->ending)
		return;
	every(a, &a->beat, a->boot.beat_ms, on_beat);
	every(a, &a->stats, STATS_MS, on_stats);
	if (a->spec->tick != NULL)
		every(a, &a->tick, a->spec->tick_ms, on_tick);
	lifeline_send(LIFELINE_FD, "bound");
	log_info("actor is up", KV_I(INCARNATION, a->boot.incarnation));
	a->stats_due_ms = clock_mono_ms() + STATS_MS;
	on_stats(-1, EV_TIMEOUT, a);
	on_beat(-1, EV_TIMEOUT, a);
	actor_send_synced(a);
	bus_touch(a->bus);
}

static void
stop(struct actor *a)
{
	bus_end_writes(a->bus);
	if (a->running && a->spec->stop != NULL)
		a->spec->stop(a, a->self);
	log_info("actor stops", KV_I(CODE, a->exit_code));
	close(event_get_fd(a->sigterm));
	struct event **const events[] = { &a->lifeline, &a->sigterm, &a->beat, &a->stats, &a->tick };
	for (size_t i = 0; i < NITEMS(events); i++) {
		if (*events[i] != NULL)
			event_free(*events[i]);
	}
	work_close(a);
	bus_free(&a->bus);
	tap_close(&a->tap);
	settings_free(&a->settings);
	msgpack_sbuffer_destroy(&a->buffer);
	event_base_free(a->base);
	free(a->self);
	OBJ_FREE(a);
	zsys_shutdown();
}

/* ---- The lifeline ---- */

static void
on_lifeline(evutil_socket_t fd, short what, void *arg)
{
	static char record[LIFELINE_MAX + 1];
	struct actor *a = arg;

	(void)fd, (void)what;
	for (;;) {
		const long n = lifeline_recv(LIFELINE_FD, record, sizeof(record));

		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			/* The supervisor is dead; whatever we were doing, we may not go on. */
			_exit(EXIT_TRANSIENT);
		char *rest = record + strcspn(record, " ");
		const size_t word = (size_t)(rest - record);
		size_t i = 0;
		while (i < NITEMS(records)
		    && (strlen(records[i].word) != word || memcmp(records[i].word, record, word) != 0))
			i++;
		if (i == NITEMS(records))
			log_warnx("unknown record from the supervisor", KV_SN(MESSAGE, record, word));
		else
			records[i].fn(a, record);
		explicit_bzero(record, (size_t)n);	/* peer records hold tokens */
	}
}

static void
on_peer(struct actor *a, char *record)
{
	struct boot_peer p;
	const char *wrong = boot_parse_peer(record, &p);

	if (wrong != NULL) {
		log_warnx("record ignored", KV_S(REASON, wrong));
		return;
	}
	bus_peer(a->bus, p.role, p.incarnation, &p.expected, &p.presented, p.state);
	secret_wipe(&p.expected);
	secret_wipe(&p.presented);
	if (a->running)
		actor_send_synced(a);
}

static void
on_level(struct actor *a, char *record)
{
	enum log_level level;
	const char *name = record + strlen("level") + (record[strlen("level")] == ' ');

	(void)a;
	if (!log_level_parse(name, &level))
		return;
	log_info("log level changes", KV_S(LEVEL, name));
	log_set_level(level);
}

static void
on_tree(struct actor *a, char *record)
{
	if (a->spec->on_tree != NULL && a->running)
		a->spec->on_tree(a, a->self, record + strlen("tree") + (record[strlen("tree")] == ' '));
}

static void
on_query(struct actor *a, char *record)
{
	explain_answer(a, record);
}

static void
on_stop(struct actor *a, char *record)
{
	(void)record;
	if (a->stop_asked)
		return;		/* the record and the signal arrive both */
	a->stop_asked = true;
	if (a->running && a->spec->ending != NULL)
		a->spec->ending(a, a->self);
	else
		actor_exit(a, a->exit_code);
}

static void
on_signal(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	on_stop(arg, NULL);
}

/* ---- Timers ---- */

/* Written by the loop itself after a turn: an actor that spins is mute, whatever its threads do. */
static void
on_beat(evutil_socket_t fd, short what, void *arg)
{
	struct actor *a = arg;

	(void)fd, (void)what;
	lifeline_send(LIFELINE_FD, "beat %u", work_waiting(a));
}

static void
on_stats(evutil_socket_t fd, short what, void *arg)
{
	struct actor *a = arg;
	const int64_t now_ms = clock_mono_ms();

	(void)fd, (void)what;
	if (now_ms > a->stats_due_ms)
		stat_observe(stat_get(STAT_LOOP_LAG, ""), (double)(now_ms - a->stats_due_ms) / 1000);
	a->stats_due_ms = now_ms + STATS_MS;
	if (a->stats_turns++ % PROCESS_EVERY == 0)
		process_stats();
	log_flush();
	bus_stats(a->bus);
	work_stats(a);
	stats_publish(a);
	actor_send_synced(a);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct actor *a = arg;

	(void)fd, (void)what;
	a->spec->tick(a, a->self, clock_mono_ms());
}

/* interval 0: the lifeline, ready to read. */
static void
every(struct actor *a, struct event **ev, int64_t interval_ms, event_callback_fn fn)
{
	const struct timeval tv = { .tv_sec = interval_ms / 1000, .tv_usec = interval_ms % 1000 * 1000 };

	*ev = event_new(a->base, interval_ms == 0 ? LIFELINE_FD : -1,
	    EV_PERSIST | (interval_ms == 0 ? EV_READ : 0), fn, a);
	MUST(*ev != NULL && event_add(*ev, interval_ms == 0 ? NULL : &tv) == 0);
}

/* ---- Callbacks of the bus ---- */

static void
on_change(const struct change *c, void *arg)
{
	struct actor *a = arg;

	log_set_trace(c->trace);
	actor_dispatch(a, c);
	log_set_trace(0);
	if (c->kind == CHANGE_SYNCED)
		actor_send_synced(a);
}

void
actor_dispatch(struct actor *a, const struct change *c)
{
	for (size_t i = 0; i < a->spec->nrows; i++) {
		const struct actor_row *row = &a->spec->rows[i];

		if (row->message == c->type && (row->from == c->from || row->from == ROLE_ANY))
			row->handler(a, a->self, c);
	}
}

static void
on_report(enum role who, uint64_t incarnation, const char *reason, void *arg)
{
	struct actor *a = arg;
	const int64_t now_ms = clock_mono_ms();

	/*
	 * A flood of frames from unknown senders is one report, and must not hide a peer that
	 * turned bad. The counter has them all.
	 */
	if (who == ROLE_NONE && now_ms - a->reported_ms < REPORT_GAP_MS)
		return;
	if (who == ROLE_NONE)
		a->reported_ms = now_ms;
	log_warnx("a peer sent what it may not", KV_S(PEER, who == ROLE_NONE ? "-" : role_name(who)),
	    KV_I(INCARNATION, incarnation), KV_S(REASON, reason));
	lifeline_send(LIFELINE_FD, "report %s %lu %s", who == ROLE_NONE ? "-" : role_name(who),
	    (unsigned long)incarnation, reason);
}

static void
on_write(const struct write_in *w, void *arg)
{
	struct actor *a = arg;

	MUST(a->spec->on_write != NULL);
	log_set_trace(w->trace);
	a->spec->on_write(a, a->self, w);
	log_set_trace(0);
}

static void
on_session_ended(enum role from, void *arg)
{
	struct actor *a = arg;

	if (a->spec->on_session_ended != NULL)
		a->spec->on_session_ended(a, a->self, from);
}

static void
on_wrote(const struct write_result *r, write_done *done, void *done_arg, void *arg)
{
	struct actor *a = arg;

	done(a, a->self, r, done_arg);
}

/*
 * Synced: every gating input is complete and everything we publish is. Sent once per change, and
 * again until the lifeline takes it.
 */
void
actor_send_synced(struct actor *a)
{
	bool synced = bus_synced(a->bus);

	for (unsigned l = 0; l < LINK_MAX && synced; l++) {
		const struct link_store *v = bus_store(a->bus, (enum link)l);

		synced = v == NULL || link_store_ready(v);
	}
	if (synced == a->synced)
		return;
	if (lifeline_send(LIFELINE_FD, synced ? "synced" : "unsynced"))
		a->synced = synced;
}
