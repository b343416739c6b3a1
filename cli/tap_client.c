/*
 * cli/tap_client.c - one SUB socket for the taps of all actors. It cannot delay them: an actor drops records
 * rather than wait.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "clock.h"
#include "filter.h"
#include "interrupt.h"
#include "obj.h"

enum { PARTS = 3, REFRESH_MS = 2000 };

struct tap_client {
	uint32_t	 magic;
#define TAP_CLIENT_MAGIC	0x4c495645u
	const char	*run_dir;
	struct filter	 filter;
	void		*context, *socket;
	uint64_t	 connected;	/* roles */
	int64_t		 refresh_at_ms;
	bool		 unanswered;	/* the last request to musterd failed */
	zmq_msg_t	 parts[PARTS];
};

static bool find_actors(struct tap_client *, char *);
static void connect_to(struct tap_client *, enum role);
static void subscribe(const char *, void *);
static bool receive(struct tap_client *, struct capture_raw *);
static struct byte_view bytes_of(zmq_msg_t *);
static bool wait_for(struct tap_client *);

struct tap_client *
tap_client_open(const char *run_dir, const struct filter *f, char why[CONTROL_WHY_MAX])
{
	const int64_t largest = FRAME_MAX_BYTES;
	const int no_linger = 0;
	struct tap_client *l;

	OBJ_NEW(l, TAP_CLIENT_MAGIC);
	l->run_dir = run_dir;
	l->filter = *f;
	for (int i = 0; i < PARTS; i++)
		zmq_msg_init(&l->parts[i]);
	l->context = zmq_ctx_new();
	MUST(l->context != NULL);
	l->socket = zmq_socket(l->context, ZMQ_SUB);
	MUST(l->socket != NULL);
	zmq_setsockopt(l->socket, ZMQ_LINGER, &no_linger, sizeof(no_linger));
	zmq_setsockopt(l->socket, ZMQ_MAXMSGSIZE, &largest, sizeof(largest));
	if (!find_actors(l, why))
		tap_client_close(&l);
	return l;
}

void
tap_client_close(struct tap_client **lp)
{
	struct tap_client *l;

	if (*lp == NULL)
		return;
	OBJ_TAKE(l, lp, TAP_CLIENT_MAGIC);
	for (int i = 0; i < PARTS; i++)
		zmq_msg_close(&l->parts[i]);
	zmq_close(l->socket);
	zmq_ctx_term(l->context);
	OBJ_FREE(l);
}

bool
tap_client_next(struct tap_client *l, struct capture_raw *raw)
{
	OBJ_CHECK(l, TAP_CLIENT_MAGIC);
	while (!interrupt_caught()) {
		if (clock_mono_ms() >= l->refresh_at_ms) {
			char why[CONTROL_WHY_MAX];
			const bool answered = find_actors(l, why);

			if (!answered && !l->unanswered)
				fprintf(stderr, "muster tap: %s\nwaiting for it\n", why);
			l->unanswered = !answered;
		}
		if (receive(l, raw))
			return true;
		if (fflush(stdout) != 0 || !wait_for(l))
			return false;
	}
	return false;
}

/* Connects to every enabled actor of musterd's status that is not connected yet. */
static bool
find_actors(struct tap_client *l, char *why)
{
	l->refresh_at_ms = clock_mono_ms() + REFRESH_MS;
	struct tree_status *r = control_status(l->run_dir, NULL, why);
	if (r == NULL)
		return false;
	for (size_t i = 0; i < r->nactors; i++) {
		const enum role role = role_find(r->actors[i].name, strlen(r->actors[i].name));

		if (role != ROLE_NONE && r->actors[i].enabled && (l->connected >> role & 1) == 0)
			connect_to(l, role);
	}
	tree_status_free(&r);
	return true;
}

/* A socket that is not there yet, or comes back under a new process, is tried again by libzmq. */
static void
connect_to(struct tap_client *l, enum role role)
{
	char path[LINK_PATH_MAX + 1], address[LINK_PATH_MAX + 8];

	l->connected |= UINT64_C(1) << role;
	if (l->filter.actor != ROLE_ANY && l->filter.actor != role)
		return;
	if (!tap_path(path, sizeof(path), l->run_dir, role))
		return;
	snprintf(address, sizeof(address), "ipc://%s", path);
	filter_topics(&l->filter, role, subscribe, l->socket);
	if (zmq_connect(l->socket, address) == -1)
		fprintf(stderr, "muster tap: cannot connect to %s: %s\n", address, zmq_strerror(zmq_errno()));
}

static void
subscribe(const char *prefix, void *socket)
{
	MUST(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, prefix, strlen(prefix)) == 0);
}

/* A whole record, if one is waiting; records with more or fewer parts show as damaged. */
static bool
receive(struct tap_client *l, struct capture_raw *raw)
{
	int part = 0, more = 1;

	for (int i = 0; i < PARTS; i++) {
		zmq_msg_close(&l->parts[i]);
		zmq_msg_init(&l->parts[i]);
	}
	for (; more; part++) {
		zmq_msg_t *m = &l->parts[part < PARTS ? part : PARTS - 1];

		if (zmq_msg_recv(m, l->socket, ZMQ_DONTWAIT) == -1)
			return false;
		more = zmq_msg_more(m);
	}
	*raw = (struct capture_raw){ .topic = bytes_of(&l->parts[0]) };
	if (part == PARTS) {
		raw->meta = bytes_of(&l->parts[1]);
		raw->frame = bytes_of(&l->parts[2]);
	}
	return true;
}

static struct byte_view
bytes_of(zmq_msg_t *m)
{
	return (struct byte_view){ zmq_msg_data(m), zmq_msg_size(m) };
}

/* False: the output has no reader. */
static bool
wait_for(struct tap_client *l)
{
	zmq_pollitem_t items[] = {
		{ .socket = l->socket, .events = ZMQ_POLLIN },
		{ .fd = STDOUT_FILENO, .events = ZMQ_POLLERR },
	};
	const int64_t left_ms = l->refresh_at_ms - clock_mono_ms();

	zmq_poll(items, 2, left_ms > 0 ? (long)left_ms : 0);
	return (items[1].revents & ZMQ_POLLERR) == 0;
}
