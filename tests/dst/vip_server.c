/*
 * tests/dst/vip_server.c - the listener of the hooks, without sockets: hook.c of vip-claimer runs as it is,
 * and the functions of server/ that it calls are replaced at link time (--wrap).
 *
 * A request is a struct vipw_topology; its handler runs inside the process.
 */
#include <event2/http.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "obj.h"
#include "server/http_listener.h"
#include "server/listen.h"
#include "server/tls_server.h"
#include "world_vip.h"

struct http_listener {
	struct http_listener_spec	 spec;
	unsigned			 tree;
};

struct tls_server {
	bool	open;
};

int __wrap_listen_open(const char *address, const char **why, bool *config);
void __wrap_listen_address(int fd, char *buf, size_t size);
bool __wrap_listen_write_address(
    const char *folder, const char *file, const char *bound, char path[LISTEN_PATH_MAX]);
struct tls_server *__wrap_tls_server_new(const struct tls_server_files *files, char *err, size_t size);
void __wrap_tls_server_free(struct tls_server **tp);
struct http_listener *__wrap_http_listener_new(
    struct event_base *base, int fd, const struct http_listener_spec *spec);
void __wrap_http_listener_free(struct http_listener **lp);
void __wrap_http_listener_reply(
    struct http_listener *l, struct evhttp_request *req, const struct http_answer *a);
const char *__wrap_http_listener_path(const struct evhttp_request *req);
const char *__wrap_http_listener_body(struct evhttp_request *req, size_t *len);
enum evhttp_cmd_type __wrap_evhttp_request_get_command(const struct evhttp_request *req);

static struct vipw *present;

void
vipw_server_use(struct vipw *w)
{
	present = w;
}

bool
vipw_server_call(struct vipw *w, unsigned tree, struct vipw_topology *t)
{
	struct http_listener *const l = w->listeners[tree];

	if (l == NULL)
		return false;
	json_decref(t->answer);
	t->answer = NULL;
	l->spec.handler((struct evhttp_request *)t, l->spec.arg);
	MUST(t->code != 0);
	return true;
}

int
__wrap_listen_open(const char *address, const char **why, bool *config)
{
	(void)address, (void)why, (void)config;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void
__wrap_listen_address(int fd, char *buf, size_t size)
{
	(void)fd;
	snprintf(buf, size, "127.0.0.1:9443");
}

bool
__wrap_listen_write_address(
    const char *folder, const char *file, const char *bound, char path[LISTEN_PATH_MAX])
{
	(void)folder, (void)file, (void)bound;
	path[0] = '\0';
	return true;
}

struct tls_server *
__wrap_tls_server_new(const struct tls_server_files *files, char *err, size_t size)
{
	MUST(present != NULL && strcmp(files->cert, "/tls/tls.crt") == 0);
	if (present->no_certificate) {
		snprintf(err, size, "%s: no such file", files->cert);
		return NULL;
	}
	struct tls_server *const t = obj_alloc(sizeof(*t));
	t->open = true;
	return t;
}

void
__wrap_tls_server_free(struct tls_server **tp)
{
	free(*tp);
	*tp = NULL;
}

struct http_listener *
__wrap_http_listener_new(struct event_base *base, int fd, const struct http_listener_spec *spec)
{
	struct http_listener *const l = obj_alloc(sizeof(*l));

	close(fd);
	*l = (struct http_listener){ .spec = *spec, .tree = runtime_loop_owner(base)->tree };
	MUST(present->listeners[l->tree] == NULL && spec->tls->open);
	present->listeners[l->tree] = l;
	return l;
}

void
__wrap_http_listener_free(struct http_listener **lp)
{
	if (*lp != NULL && present != NULL)
		present->listeners[(*lp)->tree] = NULL;
	free(*lp);
	*lp = NULL;
}

void
__wrap_http_listener_reply(struct http_listener *l, struct evhttp_request *req, const struct http_answer *a)
{
	struct vipw_topology *const t = (struct vipw_topology *)req;

	(void)l;
	MUST(t->answer == NULL && a->release == NULL);
	t->code = a->code;
	t->answer = json_loadb(a->body, a->len, 0, NULL);
	if (t->answer == NULL)
		sim_fail(present->h.sim, "the answer %d of %s is not JSON: %.*s", a->code, t->path,
		    (int)a->len, a->body);
}

const char *
__wrap_http_listener_path(const struct evhttp_request *req)
{
	return ((const struct vipw_topology *)req)->path;
}

const char *
__wrap_http_listener_body(struct evhttp_request *req, size_t *len)
{
	const struct vipw_topology *const t = (const struct vipw_topology *)req;

	*len = strlen(t->body);
	return t->body;
}

enum evhttp_cmd_type
__wrap_evhttp_request_get_command(const struct evhttp_request *req)
{
	(void)req;
	return EVHTTP_REQ_POST;
}
