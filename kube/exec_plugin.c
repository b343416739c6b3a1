/* kube/exec_plugin.c - the actor's end: starts the helper, requests runs, takes the results as they come. */
#include "exec_plugin.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_plugin_answer.h"
#include "exec_plugin_private.h"
#include "obj.h"

enum { PLUGIN_MAGIC = 0x504c5547 };

extern char **environ;

struct exec_plugin {
	uint32_t		magic;
	char			*command;	/* for messages */
	pid_t			pid;
	int			fd;
	bool			running, dead;
	struct exec_head	head;
	size_t			head_len;
	struct bytes		body;		/* room for head.len */
	size_t			body_len;
};

static char **make_argv(const struct kubeconfig_exec *);
static char **make_envp(const struct kubeconfig *);
static bool is_set_in(char *const *, const char *);
static bool same_name(const char *, const char *);
static bool receive(struct exec_plugin *, void *, size_t, size_t *);

struct exec_plugin *
exec_plugin_start(const struct kubeconfig *k, int64_t timeout_ms, char *err, size_t size)
{
	const pid_t parent = getpid();
	struct exec_plugin *p;
	int fds[2];

	if (k->exec == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1) {
		snprintf(err, size, "%s: %s", k->where,
		    k->exec == NULL ? "it has no exec plugin" : strerror(errno));
		return NULL;
	}
	OBJ_NEW(p, PLUGIN_MAGIC);
	p->fd = fds[0];
	p->command = obj_strdup(k->exec->command);
	p->pid = fork();
	if (p->pid == 0)	/* what it needs of k it has for good */
		exec_helper(&(struct exec_run){
			.command = k->exec->command, .hint = k->exec->install_hint,
			.argv = make_argv(k->exec), .envp = make_envp(k),
			.timeout_ms = timeout_ms > 0 ? timeout_ms : EXEC_PLUGIN_TIMEOUT_MS,
		}, fds[1], parent);
	close(fds[1]);
	if (p->pid > 0)
		return p;
	snprintf(err, size, "%s: cannot start the helper of its exec plugin: %s", k->where, strerror(errno));
	exec_plugin_free(&p);
	return NULL;
}

void
exec_plugin_free(struct exec_plugin **pp)
{
	struct exec_plugin *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, PLUGIN_MAGIC);
	close(p->fd);
	if (p->pid > 0) {
		/* Its end of file would do, but only when it reads; a plugin dies with it (PDEATHSIG). */
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) == -1 && errno == EINTR)
			;
	}
	bytes_wipe(&p->body);
	free(p->command);
	OBJ_FREE(p);
}

int
exec_plugin_fd(const struct exec_plugin *p)
{
	OBJ_CHECK(p, PLUGIN_MAGIC);
	return p->fd;
}

bool
exec_plugin_request(struct exec_plugin *p)
{
	const char order = EXEC_RUN;

	OBJ_CHECK(p, PLUGIN_MAGIC);
	if (p->running || p->dead)
		return false;
	p->running = send(p->fd, &order, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
	p->dead = !p->running;
	return p->running;
}

enum exec_plugin_event
exec_plugin_read(struct exec_plugin *p, struct bytes *out, char *err, size_t size)
{
	OBJ_CHECK(p, PLUGIN_MAGIC);
	if (!p->dead && receive(p, &p->head, sizeof(p->head), &p->head_len) && p->body.data == NULL) {
		MUST(p->head.len <= EXEC_PLUGIN_OUTPUT_MAX);
		p->body = (struct bytes){ obj_alloc(p->head.len + 1), p->head.len };
	}
	if (p->body.data == NULL || !receive(p, p->body.data, p->body.len, &p->body_len)) {
		if (p->dead)
			snprintf(err, size, "plugin %s: its helper process is gone", p->command);
		return p->dead ? EXEC_PLUGIN_DEAD : EXEC_PLUGIN_NOTHING;
	}
	const bool failed = p->head.failed;
	if (failed)
		snprintf(err, size, "plugin %s: %s", p->command, p->body.data);
	else
		bytes_take(out, &p->body);
	bytes_wipe(&p->body);
	p->head_len = p->body_len = 0;
	p->running = false;
	return failed ? EXEC_PLUGIN_FAILED : EXEC_PLUGIN_ANSWER;
}

static char **
make_argv(const struct kubeconfig_exec *e)
{
	size_t count = 0;

	while (e->args[count] != NULL)
		count++;
	char **const argv = obj_alloc((count + 2) * sizeof(*argv));
	argv[0] = e->command;
	memcpy(argv + 1, e->args, count * sizeof(*argv));
	return argv;
}

/* Ours, overridden by those of the kubeconfig, and what is passed to the plugin. */
static char **
make_envp(const struct kubeconfig *k)
{
	static const char info_name[] = "KUBERNETES_EXEC_INFO=";
	char *const *const own = k->exec->env;
	size_t count = 0, n = 0;

	for (char **e = environ; *e != NULL; e++)
		count++;
	for (char *const *e = own; *e != NULL; e++)
		count++;
	char **const envp = obj_alloc((count + 2) * sizeof(*envp));
	for (char **e = environ; *e != NULL; e++) {
		if (!is_set_in(own, *e) && !same_name(*e, info_name))
			envp[n++] = *e;
	}
	for (char *const *e = own; *e != NULL; e++) {
		if (!is_set_in(e + 1, *e) && !same_name(*e, info_name))
			envp[n++] = *e;
	}
	char *const info = exec_info(k);
	MUST(asprintf(&envp[n], "%s%s", info_name, info) != -1);
	free(info);
	return envp;
}

static bool
is_set_in(char *const *list, const char *variable)
{
	for (; *list != NULL; list++) {
		if (same_name(*list, variable))
			return true;
	}
	return false;
}

static bool
same_name(const char *a, const char *b)
{
	const size_t len = strcspn(a, "=");

	return len == strcspn(b, "=") && strncmp(a, b, len) == 0;
}

/* True once all of it is there. End of file is the helper's death: it never closes while it lives. */
static bool
receive(struct exec_plugin *p, void *to, size_t len, size_t *got)
{
	while (*got < len) {
		const ssize_t n = recv(p->fd, (char *)to + *got, len - *got, MSG_DONTWAIT);

		if (n > 0) {
			*got += (size_t)n;
			continue;
		}
		if (n == -1 && errno == EINTR)
			continue;
		p->dead = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
		return false;
	}
	return true;
}
