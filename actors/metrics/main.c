/*
 * actors/metrics/main.c - serves the metrics of all actors, and the health of the tree.
 *
 * It has no state of its own: series come over the stats links, the status of the tree from the
 * supervisor. While an actor restarts its last series stay, so a scrape always answers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "actor.h"
#include "body.h"
#include "clock.h"
#include "log.h"
#include "obj.h"
#include "port.h"
#include "route.h"
#include "series.h"
#include "server/listen.h"
#include "server/tls_server.h"
#include "tree_status.h"

enum { ADDRESS_MAX = 64, PATH_ROOM = 4096, CAUSE_MAX = 512 };

enum { PORT_METRICS, PORT_HEALTH, PORT_MAX };

static const struct port_row {
	const char	*setting, *file;
	bool		 metrics;	/* /metrics is served there; the rest on both */
	bool		 tls;		/* where there is a certificate; the kubelet's probes stay plain */
} ports[PORT_MAX] = {
	[PORT_METRICS] = { "metrics-bind-address", "metrics.addr", true, true },
	[PORT_HEALTH]  = { "health-probe-bind-address", "health.addr", false, false },
};

struct metrics {
	struct series_table	*series;
	struct tree_status		*tree;		/* the last one that could be read; NULL: none */
	int64_t			 tree_ms;
	int64_t			 started_ms;
	uint64_t		 status_rejected, series_rejected, scrapes;
	struct bodies		*bodies;
	struct tls_server	*tls;		/* NULL: /metrics is served over plain HTTP */
	struct server {
		struct metrics		*metrics;
		struct port		*port;
		bool			 with_metrics;
	}			 servers[PORT_MAX];
};

static void on_stat(struct actor *, void *, const struct change *);
static void start(struct actor *, void *);
static void on_tree(struct actor *, void *, const char *);
static void stop(struct actor *, void *);

static const struct actor_row rows[] = {
	/* message   only from  handler */
	{ MSG_STAT,  ROLE_ANY,  on_stat },
};

static const struct actor_spec spec = {
	.name = "metrics", .state_size = sizeof(struct metrics),
	.start = start, .on_tree = on_tree, .stop = stop,
	.rows = rows, .nrows = NITEMS(rows),
};

static port_answer answer;
static size_t series_budget(void);
static struct tls_server *open_certificate(const struct actor *);
static struct port *open_port(struct actor *, struct server *, const struct port_row *, char *);
static bool is_off(const char *);
static void write_address_file(const struct actor *, const char *, const char *);
static void remove_address_file(const struct actor *, const char *);
static void path_of(const struct actor *, const char *, char *);

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static void
start(struct actor *a, void *self)
{
	struct metrics *m = self;
	char bound[PORT_MAX][ADDRESS_MAX];

	m->series = series_new(series_budget());
	m->bodies = bodies_new();
	m->started_ms = clock_mono_ms();
	m->tls = open_certificate(a);
	for (int i = 0; i < PORT_MAX; i++) {
		m->servers[i] = (struct server){ .metrics = m, .with_metrics = ports[i].metrics };
		m->servers[i].port = open_port(a, &m->servers[i], &ports[i], bound[i]);
	}
	if (m->servers[PORT_METRICS].port == NULL && m->servers[PORT_HEALTH].port == NULL)
		actor_status(a, "nothing is served: both addresses are off");
	else
		actor_status(a, "metrics on %s, health on %s", bound[PORT_METRICS], bound[PORT_HEALTH]);
}

static void
stop(struct actor *a, void *self)
{
	struct metrics *m = self;

	(void)a;
	for (int i = 0; i < PORT_MAX; i++)
		port_free(&m->servers[i].port);
	tls_server_free(&m->tls);
	bodies_free(&m->bodies);
	series_free(&m->series);
	tree_status_free(&m->tree);
}

static void
on_stat(struct actor *a, void *self, const struct change *c)
{
	struct metrics *m = self;
	const char *from = role_name(c->from);

	(void)a;
	if (c->kind == CHANGE_GONE) {
		series_drop(m->series, from, c->key);
		return;
	}
	const char *why = series_set(m->series, from, c->key, &c->value->stat);
	if (why != NULL) {
		m->series_rejected++;
		log_warnx("series rejected", KV_S(PEER, from), KV_SN(KEY, c->key.p, c->key.len),
		    KV_S(WHY, why));
	}
}

static void
on_tree(struct actor *a, void *self, const char *json)
{
	struct metrics *m = self;
	char why[160];

	(void)a;
	struct tree_status *new = tree_status_parse(json, strlen(json), why, sizeof(why));
	if (new == NULL) {
		m->status_rejected++;
		log_warnx("supervisor status rejected, the previous one is kept", KV_S(WHY, why));
		return;
	}
	tree_status_free(&m->tree);
	m->tree = new;
	m->tree_ms = clock_mono_ms();
}

static void
answer(void *arg, const char *path, const char *query, struct answer *out)
{
	const struct server *server = arg;
	struct metrics *m = server->metrics;
	const int64_t now_ms = clock_mono_ms();
	struct route_facts facts = {
		.series = m->series,
		.metrics = server->with_metrics,
		.own = {
			.tree = m->tree,
			.tree_age_ms = m->tree != NULL ? now_ms - m->tree_ms : 0,
			.status_rejected = m->status_rejected,
			.series_rejected = m->series_rejected,
			.series = series_count(m->series),
			.scrapes = m->scrapes,
		},
		.alive_ms = now_ms - m->started_ms,
		.wall_ms = clock_wall_ms(),
	};

	route_answer(&facts, path, query, out);
	if (route_is_metrics(&facts, path)) {
		out->shared = bodies_get(m->bodies, route_metrics, &facts, now_ms);
		m->scrapes++;
	}
}

/*
 * Half of the memory that this process may use is for the series, as series.h counts them; the rest is
 * for the runtime, connections and small replies. The limit grows with max-nodes (supervisor/actors.h).
 */
static size_t
series_budget(void)
{
	struct rlimit limit;

	MUST(getrlimit(RLIMIT_DATA, &limit) == 0);
	return limit.rlim_cur == RLIM_INFINITY ? SERIES_BUDGET_DEFAULT : limit.rlim_cur / 2;
}

/*
 * NULL: the setting is empty. A folder in which cert-manager has put nothing yet is read again after a
 * restart of this process.
 */
static struct tls_server *
open_certificate(const struct actor *a)
{
	const char *const dir = actor_setting(a, "tls-dir");
	char cert[PATH_ROOM], key[PATH_ROOM], cause[CAUSE_MAX];

	if (dir[0] == '\0')
		return NULL;
	snprintf(cert, sizeof(cert), "%s/%s", dir, actor_setting(a, "tls-cert-name"));
	snprintf(key, sizeof(key), "%s/%s", dir, actor_setting(a, "tls-key-name"));
	struct tls_server *const tls =
	    tls_server_new(&(struct tls_server_files){ .cert = cert, .key = key }, cause, sizeof(cause));
	if (tls == NULL)
		log_die(EXIT_TRANSIENT, 0, "cannot serve metrics over TLS",
		    LOG_KVS(KV_S(KEY, "tls-dir"), KV_S(CAUSE, cause),
		    KV_S(HINT, "put a certificate and its key there, as a TLS Secret has them")));
	return tls;
}

/* NULL: its address is off. */
static struct port *
open_port(struct actor *a, struct server *server, const struct port_row *port, char *bound)
{
	const char *address = actor_setting(a, port->setting);
	const char *why;
	bool config;

	if (is_off(address)) {
		snprintf(bound, ADDRESS_MAX, "no address");
		log_info("not served: its address is off", KV_S(KEY, port->setting));
		remove_address_file(a, port->file);
		return NULL;
	}
	const int fd = listen_open(address, &why, &config);
	if (fd == -1) {
		log_die(config ? EXIT_CONFIG : EXIT_TRANSIENT, 0, "cannot serve",
		    LOG_KVS(KV_S(KEY, port->setting), KV_S(ADDRESS, address), KV_S(CAUSE, why),
		    KV_S(HINT, "give an address of this machine and a port that no other program has")));
	}
	listen_address(fd, bound, ADDRESS_MAX);
	struct tls_server *const tls = port->tls ? server->metrics->tls : NULL;
	log_info(tls != NULL ? "serving over TLS" : "serving", KV_S(KEY, port->setting),
	    KV_S(ADDRESS, bound));
	write_address_file(a, port->file, bound);
	return port_new(actor_base(a), fd, tls, answer, server);
}

/* VALUE_ADDR_OFF of config/value.h. */
static bool
is_off(const char *address)
{
	return strcmp(address, "0") == 0 || strcmp(address, "off") == 0;
}

static void
write_address_file(const struct actor *a, const char *file, const char *bound)
{
	char folder[PATH_ROOM], path[LISTEN_PATH_MAX];

	path_of(a, "", folder);
	if (!listen_write_address(folder, file, bound, path))
		log_warn("cannot write the address", KV_S(PATH, path));
}

/* An earlier incarnation may have written one. */
static void
remove_address_file(const struct actor *a, const char *file)
{
	char path[PATH_ROOM];

	path_of(a, file, path);
	if (unlink(path) == -1 && errno != ENOENT)
		log_warn("cannot remove an address that is no longer served", KV_S(PATH, path));
}

static void
path_of(const struct actor *a, const char *file, char *path)
{
	snprintf(path, PATH_ROOM, "%s/%s/%s", actor_run_dir(a), spec.name, file);
}
