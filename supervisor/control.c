/*
 * supervisor/control.c - the control socket.
 *
 * Never: wait for a client. Each has a slot, a small buffer and a deadline; when all slots are
 * taken the next one gets an error. Who may connect is decided by the run directory's mode (0700) and
 * checked again: by uid, and by descent, because actors have the same uid.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "actor_query.h"
#include "json.h"
#include "lifeline.h"
#include "obj.h"
#include "request.h"
#include "tree.h"

enum { CLIENTS = 8, CLIENT_MS = 5000, ANSWER_MAX = LIFELINE_MAX, UNREAD_READS = 16 };
enum { OUTSIDE = 0, UNKNOWN = -1, GENERATIONS = 64 };	/* of a client's parents */

struct client {
	struct watch	 watch;
	int64_t		 deadline_ms;
	char		 request[REQUEST_MAX];
	size_t		 len;
	struct actor_query	*query;	/* that the actors are answering; NULL: none */
	char		*answer;	/* NULL: not there yet */
	size_t		 answer_len, sent;
};

static struct {
	struct tree	*tree;
	struct watch	 listener;
	char		 path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct client	 clients[CLIENTS];
} control = { .listener = { .fd = -1, .epoll_fd = -1 } };

static void on_connect(void *, uint32_t);
static void on_client(void *, uint32_t);
static struct client *free_slot(void);
static bool trusted(int);
static bool descends(pid_t);
static pid_t parent_of(pid_t);
static void read_request(struct client *);
static void answer(struct client *, const char *, size_t);
static bool start_query(struct client *, const struct request *);
static void finish_query(struct client *);
static void send_answer(struct client *);
static void close_client(struct client *);
static void put_result(struct client *, const char *);

/* NULL: done; else why it was not. */
typedef const char *verb(const struct request *);
static verb do_level, do_reload, do_restart, do_stop;

/* The others do more than something: a status, or a query to the actors. */
static verb *const verbs[REQ_MAX] = {
	[REQ_LEVEL] = do_level, [REQ_RELOAD] = do_reload, [REQ_RESTART] = do_restart, [REQ_STOP] = do_stop,
};

bool
control_open(struct tree *t)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	for (size_t i = 0; i < CLIENTS; i++)
		control.clients[i].watch = WATCH_CLOSED;
	control.tree = t;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/control.sock", t->setup.run_dir);
	memcpy(control.path, a.sun_path, sizeof(control.path));
	/* Ours: the lock of the run directory is held. */
	unlink(a.sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd == -1 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) == -1 || listen(fd, 16) == -1) {
		fd_close(&fd);
		return false;
	}
	return watch_open(&control.listener, t->epoll_fd, fd, EPOLLIN, on_connect, NULL);
}

void
control_close(void)
{
	for (struct client *c = control.clients; c < control.clients + CLIENTS; c++) {
		if (c->watch.fd != -1)
			close_client(c);
	}
	if (control.listener.fd != -1)
		unlink(control.path);
	watch_close(&control.listener);
}

void
control_expire(int64_t now_ms)
{
	for (struct client *c = control.clients; c < control.clients + CLIENTS; c++) {
		if (c->watch.fd != -1 && c->query != NULL && actor_query_done(c->query, now_ms))
			finish_query(c);
		if (c->watch.fd != -1 && now_ms >= c->deadline_ms)
			close_client(c);
	}
}

int64_t
control_next_ms(void)
{
	int64_t next_ms = INT64_MAX;

	for (const struct client *c = control.clients; c < control.clients + CLIENTS; c++) {
		if (c->watch.fd != -1)
			next_ms = earlier(next_ms, c->deadline_ms);
		if (c->watch.fd != -1 && c->query != NULL)
			next_ms = earlier(next_ms, actor_query_until_ms(c->query));
	}
	return next_ms;
}

static void
on_connect(void *arg, uint32_t events)
{
	static const char busy[] = "{\"error\":\"too many clients at once; try again\"}\n";
	static const char refused[] =
	    "{\"error\":\"only root and the user of musterd may connect, and no actor\"}\n";
	int fd = accept4(control.listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct client *const c = free_slot();

	(void)arg;
	(void)events;
	if (fd == -1)
		return;
	if (c == NULL || !trusted(fd)) {
		const char *const text = c == NULL ? busy : refused;

		(void)!send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
		fd_close(&fd);
		return;
	}
	*c = (struct client){ .deadline_ms = control.tree->now_ms + CLIENT_MS };
	watch_open(&c->watch, control.tree->epoll_fd, fd, EPOLLIN, on_client, c);
}

static struct client *
free_slot(void)
{
	for (struct client *c = control.clients; c < control.clients + CLIENTS; c++) {
		if (c->watch.fd == -1)
			return c;
	}
	return NULL;
}

/* People, not actors: these run as the same user, and one that was taken over must not stop the rest. */
static bool
trusted(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1)
		return false;
	return (peer.uid == 0 || peer.uid == geteuid()) && !descends(peer.pid);
}

/*
 * From us: then it is an actor, or was started by one, because what loses its parent becomes our child.
 * A client whose ancestors cannot all be read has ended, or hides them.
 */
static bool
descends(pid_t pid)
{
	for (int i = 0; pid > 0 && pid != getpid(); i++)
		pid = i < GENERATIONS ? parent_of(pid) : UNKNOWN;
	return pid != OUTSIDE;
}

/* Not started by us: what is beyond our pid namespace, or (with hidepid we cannot see it) another user's. */
static pid_t
parent_of(pid_t pid)
{
	char path[32], text[512];
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fd_read_file(path, text, sizeof(text)) <= 0)
		return kill(pid, 0) == -1 && errno == EPERM ? OUTSIDE : UNKNOWN;
	/* The name before it may hold anything, brackets too. */
	const char *const name_end = strrchr(text, ')');
	return name_end != NULL && sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : UNKNOWN;
}

static void
on_client(void *arg, uint32_t events)
{
	struct client *const c = arg;

	if (c->watch.fd == -1)
		return;
	if (c->query != NULL) {
		if ((events & (EPOLLHUP | EPOLLERR)) != 0)
			close_client(c);	/* it does not wait for the answer */
		return;
	}
	if (c->answer == NULL)
		read_request(c);
	if (c->answer != NULL)
		send_answer(c);
}

/* A request ends with its newline, or when the client stops writing. */
static void
read_request(struct client *c)
{
	const ssize_t n = recv(c->watch.fd, c->request + c->len, sizeof(c->request) - c->len, MSG_DONTWAIT);

	if (n == -1) {
		if (errno != EAGAIN && errno != EINTR)
			close_client(c);
		return;
	}
	c->len += (size_t)n;
	const char *const end = memchr(c->request, '\n', c->len);
	if (end != NULL)
		answer(c, c->request, (size_t)(end - c->request));
	else if (n == 0 && c->len == 0)
		close_client(c);
	else if (n == 0)
		answer(c, c->request, c->len);
	else if (c->len == sizeof(c->request))
		answer(c, NULL, 0);
}

static void
answer(struct client *c, const char *line, size_t len)
{
	struct request r;
	const char *wrong = line == NULL ? "a request is one line of at most 512 bytes"
					 : request_parse(line, len, &r);

	if (wrong == NULL && (r.verb == REQ_EXPLAIN || r.verb == REQ_TRACE)) {
		if (start_query(c, &r))
			return;
		wrong = "too many queries at once; try again";
	}
	c->answer = obj_alloc(ANSWER_MAX + 1);
	if (wrong == NULL && r.verb == REQ_STATUS) {
		c->answer_len = status_json(control.tree, c->answer, ANSWER_MAX);
		wrong = c->answer_len > 0 ? NULL : "the status does not fit its buffer";
	} else if (wrong == NULL) {
		wrong = verbs[r.verb](&r);
	}
	if (c->answer_len == 0)
		put_result(c, wrong);
	c->answer[c->answer_len++] = '\n';
}

/* False: too many are open. Otherwise the client is answered when the actors have answered. */
static bool
start_query(struct client *c, const struct request *r)
{
	c->query =
	    actor_query_start(control.tree, r->verb == REQ_EXPLAIN ? "explain" : "trace", r->object);
	if (c->query == NULL)
		return false;
	c->deadline_ms = control.tree->now_ms + CLIENT_MS;
	watch_events(&c->watch, 0);	/* a hang-up is still reported */
	return true;
}

static void
finish_query(struct client *c)
{
	c->answer = actor_query_json(c->query, &c->answer_len);
	c->answer[c->answer_len++] = '\n';	/* where the NUL was */
	actor_query_free(&c->query);
	send_answer(c);
}

static void
send_answer(struct client *c)
{
	const size_t left = c->answer_len - c->sent;
	const ssize_t n = send(c->watch.fd, c->answer + c->sent, left, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
		watch_events(&c->watch, EPOLLOUT);
		return;
	}
	if (n > 0)
		c->sent += (size_t)n;
	if (n == -1 || c->sent == c->answer_len)
		close_client(c);
	else
		watch_events(&c->watch, EPOLLOUT);
}

/* What was sent and not read is taken away first: otherwise the client sees a reset instead of the end. */
static void
close_client(struct client *c)
{
	char unread[4096];

	for (int i = 0; i < UNREAD_READS && recv(c->watch.fd, unread, sizeof(unread), MSG_DONTWAIT) > 0; i++)
		;
	watch_close(&c->watch);
	actor_query_free(&c->query);
	free(c->answer);
	c->answer = NULL;
}

static const char *
do_level(const struct request *r)
{
	const bool own = r->role == ROLE_ANY || r->role == ROLE_NONE;

	if (!own && tree_child(control.tree, r->role) == NULL)
		return "no such actor";
	if (own)
		log_set_level(r->level);
	tree_set_level(control.tree, r->role, r->level);
	return NULL;
}

static const char *
do_reload(const struct request *r)
{
	(void)r;
	return reload(control.tree);
}

static const char *
do_restart(const struct request *r)
{
	struct child *const ch = tree_child(control.tree, r->role);

	if (ch == NULL || !ch->spec->enabled)
		return "that actor is not enabled";
	if (control.tree->stopping)
		return "stopping: nothing is started any more";
	log_info("actor restarts: requested on the control socket", KV_S(ACTOR, ch->name));
	act_feed(ch, EV_RESTART);
	return NULL;
}

static const char *
do_stop(const struct request *r)
{
	(void)r;
	tree_stop(control.tree, 0, "requested on the control socket");
	return NULL;
}

static void
put_result(struct client *c, const char *wrong)
{
	struct json j = { .buf = c->answer, .size = ANSWER_MAX };

	json_open(&j, NULL, '{');
	if (wrong != NULL)
		json_str(&j, "error", wrong);
	else
		json_bool(&j, "ok", true);
	json_close(&j, '}');
	c->answer_len = json_end(&j);
}
